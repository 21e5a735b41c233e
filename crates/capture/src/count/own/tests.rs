//! Counters that no kernel has, over made-up times.

use std::time::Duration;

use oxperf_abi::Tid;
use oxperf_sys::Sysfs;

use super::sources::{ProcessorMode, TimeOwner};
use super::*;
use crate::options::TargetOptions;

fn sources() -> OwnSources {
    OwnSources::new(&TargetOptions::default(), &Sysfs::default())
}

fn counter(source: OwnSource) -> OwnCounter {
    OwnCounter::new(CounterPlace { event: 0, site: 0 }, source)
}

fn at(start: Instant, milliseconds: u64, usage: Option<CpuUsage>) -> RunMoment {
    RunMoment {
        now: start + Duration::from_millis(milliseconds),
        usage,
    }
}

fn value(counter: &OwnCounter, moment: RunMoment) -> Option<(u64, u64)> {
    let reading = counter.read(&sources(), moment)?;
    Some((reading.value, reading.enabled))
}

#[test]
fn the_duration_is_that_between_start_and_stop() {
    let (start, sources) = (Instant::now(), sources());
    let duration = counter(OwnSource::Duration);
    assert_eq!(value(&duration, at(start, 5, None)), Some((0, 1)));
    duration.start(&sources, at(start, 10, None));
    duration.start(&sources, at(start, 12, None));
    assert_eq!(value(&duration, at(start, 30, None)), Some((20_000_000, 2)));
    duration.stop(&sources, at(start, 35, None));
    assert_eq!(value(&duration, at(start, 90, None)), Some((25_000_000, 3)));
    duration.start(&sources, at(start, 100, None));
    assert_eq!(
        value(&duration, at(start, 101, None)),
        Some((26_000_000, 4))
    );
}

#[test]
fn a_fact_is_told_once_more_with_each_reading() {
    let start = Instant::now();
    let fact = counter(OwnSource::Fact(Some(4)));
    assert_eq!(value(&fact, at(start, 0, None)), Some((4, 1)));
    assert_eq!(value(&fact, at(start, 9, None)), Some((8, 2)));
    assert_eq!(
        value(&counter(OwnSource::Fact(None)), at(start, 0, None)),
        None
    );
}

#[test]
fn the_time_of_a_workload_that_ended_is_what_the_kernel_says_of_it() {
    let (start, sources) = (Instant::now(), sources());
    // Nobody has this number.
    let owner = TimeOwner::Workload(Tid(i32::MAX));
    let time = counter(OwnSource::Time(ProcessorMode::User, owner));
    time.start(&sources, at(start, 0, None));
    assert_eq!(value(&time, at(start, 1, None)), None);
    let usage = CpuUsage {
        user: Duration::from_millis(3),
        system: Duration::from_millis(4),
    };
    assert_eq!(
        value(&time, at(start, 2, Some(usage))),
        Some((3_000_000, 1))
    );
}
