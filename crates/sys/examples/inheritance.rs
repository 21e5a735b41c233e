//! An inherited counter also counts the threads that its task starts from then on.

use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel};
use std::error::Error;
use std::hint::black_box;
use std::thread;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let open = |spec: CounterSpec| spec.user_only().open(&RealKernel, EventTask::Caller);
    let inherited = open(CounterSpec::task_clock().inherited())?;
    let own = open(CounterSpec::task_clock())?;
    let its_own = thread::spawn(|| -> Result<u64, OpenError> {
        let clock = CounterSpec::task_clock().user_only();
        let clock = clock.open(&RealKernel, EventTask::Caller)?;
        (0..1_000_000u32).for_each(|step| {
            black_box(step);
        });
        Ok(clock.value().unwrap_or(0))
    });
    let of_thread = its_own.join().map_err(|_| "the thread panicked")??;
    let (with_thread, without) = (inherited.value()?, own.value()?);
    assert!(of_thread > 0);
    assert!(
        with_thread >= without + of_thread,
        "{with_thread} ns with the thread's {of_thread} ns, {without} ns without"
    );
    Ok(())
}
