//! The places of this machine's CPUs, as counts are added up by them.

use oxperf_analysis::counts::{CacheInstance, ClusterNumber, CpuPlace, CpuPlaces};
use oxperf_capture::host_files::{HostCpu, HostFiles};
use oxperf_sys::Sysfs;

/// The places of all CPUs of the machine that `sysfs` describes.
pub(super) fn of_machine(sysfs: &Sysfs) -> CpuPlaces {
    let cpus = HostFiles::this(sysfs).cpus();
    CpuPlaces::new(cpus.into_iter().map(|cpu| (cpu.cpu, place(&cpu))).collect())
}

fn place(cpu: &HostCpu) -> CpuPlace {
    let cache = |&(level, id): &(u32, u32)| CacheInstance { level, id };
    CpuPlace {
        socket: cpu.socket,
        die: cpu.die,
        cluster: cpu
            .cluster
            .map_or(ClusterNumber::Unknown, ClusterNumber::Known),
        core: cpu.core,
        node: cpu.node,
        caches: cpu.caches.iter().map(cache).collect(),
    }
}
