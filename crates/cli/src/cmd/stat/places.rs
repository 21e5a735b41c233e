//! The places of CPUs, as counts are added up by them: of this machine, or of the one that a recording was made on.

use oxperf_abi::Cpu;
use oxperf_analysis::counts::{CacheInstance, ClusterNumber, CpuPlace, CpuPlaces};
use oxperf_capture::host_files::{HostCpu, HostFiles};
use oxperf_data::Reader;
use oxperf_data::features::{CpuCaches, CpuTopology, NumaTopology};
use oxperf_sys::Sysfs;
use oxperf_sys::cpus::CpuRanges;

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

/// Caches that hold no data are none that counts are added up by.
const OF_CODE: &str = "Instruction";

/// The places of all CPUs of the machine that a recording was made on; `None` where it does not describe the machine.
pub(super) fn of_recording(reader: &Reader<'_>) -> Option<CpuPlaces> {
    let features = reader.features();
    let topology = features.get::<CpuTopology>().ok().flatten()?;
    let nodes = features.get::<NumaTopology>().ok().flatten();
    let caches = features.get::<CpuCaches>().ok().flatten();
    let mut places: Vec<(Cpu, CpuPlace)> = (0..).map(Cpu).zip(cores(&topology)).collect();
    for node in nodes.iter().flat_map(|nodes| &nodes.0) {
        each_of(&node.cpus, &mut places, |place| {
            place.node = Some(node.node)
        });
    }
    for cache in caches.iter().flat_map(|caches| &caches.0) {
        if cache.kind != OF_CODE {
            add_cache(cache.level, &cache.cpus, &mut places);
        }
    }
    Some(CpuPlaces::new(places))
}

/// The cores of all CPUs. Recordings do not say which cluster a core is in: a die is one.
fn cores(topology: &CpuTopology) -> impl Iterator<Item = CpuPlace> {
    topology.cpus.iter().map(|cpu| CpuPlace {
        socket: cpu.socket,
        die: cpu.die.or(Some(0)),
        cluster: ClusterNumber::Known(0),
        core: cpu.core,
        ..CpuPlace::default()
    })
}

fn add_cache(level: u32, list: &str, places: &mut [(Cpu, CpuPlace)]) {
    let cpus = CpuRanges::parse(list).unwrap_or_default();
    let first = places.iter().find(|(cpu, _)| cpus.contains(*cpu));
    let Some(id) = first.map(|(cpu, _)| cpu.0) else {
        return;
    };
    each_of(list, places, |place| {
        place.caches.push(CacheInstance { level, id });
    });
}

/// Changes the places of the CPUs in a list.
fn each_of(list: &str, places: &mut [(Cpu, CpuPlace)], change: impl Fn(&mut CpuPlace)) {
    let cpus = CpuRanges::parse(list).unwrap_or_default();
    for (cpu, place) in places {
        if cpus.contains(*cpu) {
            change(place);
        }
    }
}
