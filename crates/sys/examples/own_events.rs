//! One call of `prctl(2)` stops and starts everything that a thread has opened: members of groups, and events of others.

use oxperf_sys::{CounterGroup, CounterSpec, EventTask, Kernel, OwnEvents, RealKernel, process};
use std::error::Error;
use std::hint::black_box;
use std::thread;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let clock = CounterSpec::task_clock().user_only();
    let mut group = CounterGroup::open(&RealKernel, EventTask::Caller, &clock)?;
    group.add(&clock)?;
    let by_another = open_elsewhere(&clock)?;
    let grown = || -> Result<[bool; 3], Box<dyn Error>> {
        let (before, value) = (group.read()?, by_another.value()?);
        work();
        let since = group.read()?.since(&before);
        let grown = |event: usize| since.values[event].value > 0;
        Ok([grown(0), grown(1), by_another.value()? > value])
    };
    assert_eq!(grown()?, [true; 3]);
    RealKernel.control_own_events(OwnEvents::Disable)?;
    assert_eq!(
        grown()?,
        [false, false, true],
        "another thread opened the third"
    );
    RealKernel.control_own_events(OwnEvents::Enable)?;
    assert_eq!(grown()?, [true; 3]);
    Ok(())
}

/// An event of this thread that another one opened.
fn open_elsewhere(spec: &CounterSpec) -> Result<oxperf_sys::Counter<'static>, Box<dyn Error>> {
    let task = EventTask::Thread(process::current_thread());
    let opened = thread::scope(|scope| scope.spawn(|| spec.open(&RealKernel, task)).join());
    Ok(opened.map_err(|_| "the thread panicked")??)
}

fn work() {
    (0..100_000u32).for_each(|step| {
        black_box(step);
    });
}
