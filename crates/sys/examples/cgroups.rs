//! A counter of a cgroup counts its tasks on one CPU, whoever they are.

use oxperf_abi::SoftwareId;
use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel, cpus};
use std::error::Error;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{self, Command};

/// A cgroup that goes away with this value.
struct Cgroup(PathBuf);

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let cgroup = Cgroup::new()?;
    let folder = File::open(&cgroup.0)?;
    let clock = || CounterSpec::software(SoftwareId::CpuClock);
    let everywhere = clock().open(&RealKernel, EventTask::Cgroup(folder.as_fd()));
    assert!(
        matches!(everywhere, Err(OpenError::Invalid)),
        "{everywhere:?}"
    );

    let counters = cpus::online()?
        .into_iter()
        .map(|cpu| {
            let task = EventTask::Cgroup(folder.as_fd());
            clock().on_cpu(cpu).open(&RealKernel, task)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let sum = || {
        counters
            .iter()
            .map(|counter| counter.value())
            .sum::<Result<u64, _>>()
    };
    assert_eq!(sum()?, 0, "nobody is in there");
    let script = "echo $$ > $0/cgroup.procs && i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let status = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(&cgroup.0)
        .status()?;
    assert!(status.success());
    assert!(sum()? > 0);

    let file = File::open("/dev/null")?;
    let not_one = clock()
        .on_cpu(cpus::online()?[0])
        .open(&RealKernel, EventTask::Cgroup(file.as_fd()));
    assert!(
        matches!(not_one, Err(OpenError::BadDescriptor)),
        "{not_one:?}"
    );
    Ok(())
}

impl Cgroup {
    /// Makes one, which root may.
    fn new() -> Result<Cgroup, Box<dyn Error>> {
        let mounts = fs::read_to_string("/proc/self/mounts")?;
        let mount = mounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            (fields.get(2) == Some(&"cgroup2")).then(|| fields[1].to_owned())
        });
        let mount = mount.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::NotFound))?;
        let path = PathBuf::from(mount).join(format!("oxperf-example-{}", process::id()));
        fs::create_dir(&path)?;
        Ok(Cgroup(path))
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // One that is left is empty.
        let _ = fs::remove_dir(&self.0);
    }
}
