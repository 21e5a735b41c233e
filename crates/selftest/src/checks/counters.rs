//! Counts of software and hardware events.

use std::hint::black_box;

use oxperf_abi::{AttrFlags, EventType, HardwareId, ReadFormat, SampleType, SoftwareId};
use oxperf_sys::{EventTask, Kernel, OpenRequest, RealKernel, cpus};

use crate::events::{self, busy, count, open, records, software, switch, user_only};
use crate::trial::ensure;
use crate::{Shortfall, Trial};

/// Iterations of the loop that hardware counters are tried with.
const ITERATIONS: u64 = 1_000_000;

fn work() {
    let mut left = ITERATIONS;
    while left > 0 {
        left = black_box(left) - 1;
    }
}

fn hardware(trial: &mut Trial<'_>, id: HardwareId, least: u64) -> Result<(), Shortfall> {
    let counted = count(&user_only(EventType::HARDWARE, id as u64), work)?;
    trial.note(format_args!("{}: {counted}", id.names()[0]));
    ensure(
        counted >= least,
        format!(
            "{} counts {counted} where at least {least} happened",
            id.names()[0]
        ),
    )
}

/// Cycles of a loop.
pub(crate) fn cycles(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    hardware(trial, HardwareId::CpuCycles, ITERATIONS / 10)
}

/// Instructions of a loop.
pub(crate) fn instructions(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    hardware(trial, HardwareId::Instructions, ITERATIONS)
}

/// Branches of a loop.
pub(crate) fn branches(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    hardware(trial, HardwareId::BranchInstructions, ITERATIONS)
}

/// Mispredicted branches: the counter can be had.
pub(crate) fn branch_misses(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    hardware(trial, HardwareId::BranchMisses, 0)
}

/// Accesses of the last cache: the counter can be had.
pub(crate) fn cache_references(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    hardware(trial, HardwareId::CacheReferences, 0)
}

/// Misses of the last cache: the counter can be had.
pub(crate) fn cache_misses(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    hardware(trial, HardwareId::CacheMisses, 0)
}

/// Loads of the first-level data cache.
pub(crate) fn l1_loads(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let counted = count(&user_only(EventType::HW_CACHE, 0), work)?;
    trial.note(format_args!("L1-dcache-loads: {counted}"));
    ensure(
        counted >= ITERATIONS / 10,
        format!("L1-dcache-loads counts {counted} in {ITERATIONS} iterations"),
    )
}

fn clock(trial: &mut Trial<'_>, id: SoftwareId) -> Result<(), Shortfall> {
    let counted = count(&software(id), || busy(20))?;
    trial.note(format_args!("{}: {counted} ns in 20 ms", id.names()[0]));
    ensure(counted > 0, format!("{} counts nothing", id.names()[0]))
}

/// The clock of a task counts.
pub(crate) fn task_clock(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    clock(trial, SoftwareId::TaskClock)
}

/// The clock of a CPU counts.
pub(crate) fn cpu_clock(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    clock(trial, SoftwareId::CpuClock)
}

/// The first write to a page of fresh memory is a fault.
pub(crate) fn page_faults(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    // More than any allocator takes from memory that it has touched before.
    const PAGES: usize = 10_000;
    let faults = count(&software(SoftwareId::PageFaults), || {
        let mut memory = vec![0u8; PAGES * 4096];
        memory.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
        black_box(&memory);
    })?;
    trial.note(format_args!("{faults} faults of {PAGES} pages"));
    ensure(faults > 0, "new pages make no faults")
}

/// A wait is a switch.
pub(crate) fn context_switches(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::ContextSwitches);
    // The kernel switches, so user mode alone has none.
    attr.flags = AttrFlags::DISABLED;
    let switches = count(&attr, || {
        for _ in 0..3 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    })?;
    trial.note(format_args!("{switches} switches in 3 waits"));
    ensure(switches >= 3, format!("{switches} switches in 3 waits"))
}

/// A move from one CPU to another counts.
pub(crate) fn migrations(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let allowed = cpus::affinity().map_err(Shortfall::failure)?;
    let [first, second, ..] = allowed[..] else {
        return Err(Shortfall::skip("one CPU"));
    };
    let mut attr = software(SoftwareId::CpuMigrations);
    attr.flags = AttrFlags::DISABLED;
    let moved = count(&attr, || {
        for cpu in [first, second, first] {
            let _ = cpus::set_affinity(&[cpu]);
        }
    });
    cpus::set_affinity(&allowed).map_err(Shortfall::failure)?;
    let moved = moved?;
    trial.note(format_args!("{moved} moves"));
    ensure(moved >= 2, format!("{moved} moves where 2 happened"))
}

/// An event that is opened while it is off has no time, one that is on has.
pub(crate) fn event_times(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let mut attr = software(SoftwareId::TaskClock);
    attr.read_format = format;
    let event = open(&attr)?;
    let before = RealKernel.read(&event).map_err(Shortfall::failure)?;
    ensure(
        before.enabled == Some(0),
        "an event that is off has been enabled for some time",
    )?;
    switch(&event, true)?;
    busy(5);
    switch(&event, false)?;
    let after = RealKernel.read(&event).map_err(Shortfall::failure)?;
    trial.note(format_args!(
        "enabled {:?} ns, running {:?} ns",
        after.enabled, after.running
    ));
    ensure(
        after.enabled > Some(0) && after.running == after.enabled,
        "a software event did not run while it was enabled",
    )
}

/// Samples of clocks hold periods that belong to the time that passed.
pub(crate) fn clock_periods(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    for id in [SoftwareId::CpuClock, SoftwareId::TaskClock] {
        let mut attr = software(id);
        attr.sample_period = 500_000;
        attr.sample_type = SampleType::PERIOD;
        let records = records(&attr, || busy(50))?;
        let periods: Vec<u64> = records
            .iter()
            .filter(|record| record.kind == oxperf_abi::RecordType::SAMPLE)
            .filter_map(|record| Some(u64::from_ne_bytes(*record.body.first_chunk()?)))
            .collect();
        trial.note(format_args!("{}: {} samples", id.names()[0], periods.len()));
        ensure(
            !periods.is_empty(),
            format!("{}: no sample in 50 ms", id.names()[0]),
        )?;
        ensure(
            periods.iter().all(|period| *period == 500_000),
            format!(
                "{}: periods are not those that were asked for",
                id.names()[0]
            ),
        )?;
    }
    Ok(())
}

/// Software events count as a group, read at once.
pub(crate) fn groups(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let format = ReadFormat::GROUP | ReadFormat::ID;
    let with_format = |id| {
        let mut attr = software(id);
        attr.read_format = format;
        attr
    };
    let leader = open(&with_format(SoftwareId::TaskClock))?;
    let mut member = with_format(SoftwareId::CpuClock);
    member.flags.set(AttrFlags::DISABLED, false);
    let request = OpenRequest {
        group: Some(&leader),
        ..OpenRequest::new(&member, EventTask::Caller)
    };
    let member = RealKernel.open(&request).map_err(events::refused)?;
    switch(&leader, true)?;
    busy(5);
    switch(&leader, false)?;
    let read = RealKernel.read(&leader).map_err(Shortfall::failure)?;
    let ids: Vec<_> = read.values.iter().map(|value| value.id).collect();
    trial.note(format_args!("{:?}", read.values));
    ensure(
        ids == [RealKernel.id(&leader).ok(), RealKernel.id(&member).ok()],
        "the group's values are not the leader's and the member's",
    )?;
    ensure(
        read.values.iter().all(|value| value.value > 0),
        "a member of the group counted nothing",
    )
}

/// A cgroup can be counted.
pub(crate) fn cgroups(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    use std::os::fd::AsFd;
    let folder = ["/sys/fs/cgroup/perf_event", "/sys/fs/cgroup"]
        .into_iter()
        .find_map(|path| std::fs::File::open(path).ok())
        .ok_or_else(|| Shortfall::skip("no cgroup file system"))?;
    let online = cpus::online().map_err(Shortfall::failure)?;
    let attr = software(SoftwareId::CpuClock);
    for cpu in online {
        let request = OpenRequest {
            cpu: Some(cpu),
            ..OpenRequest::new(&attr, EventTask::Cgroup(folder.as_fd()))
        };
        RealKernel.open(&request).map_err(|error| match error {
            oxperf_sys::OpenError::Invalid | oxperf_sys::OpenError::Other(_) => {
                Shortfall::skip(format!("no cgroups for events: {error}"))
            }
            other => events::refused(other),
        })?;
        trial.note(format_args!("cpu {cpu}: the root's events can be counted"));
    }
    Ok(())
}
