//! The CPU's breakpoint registers count accesses to an address, and can be moved to another one.

use oxperf_sys::{Control, CounterSpec, EventTask, OpenError, RealKernel, WatchedAccess};
use std::error::Error;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    static WATCHED: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];
    let spec = |place: usize, access| {
        let address = (&raw const WATCHED[place]).addr() as u64;
        CounterSpec::breakpoint(access, address, 8).user_only()
    };
    let writes = spec(0, WatchedAccess::Write).open(&RealKernel, EventTask::Caller)?;
    let all = spec(0, WatchedAccess::ReadWrite).open(&RealKernel, EventTask::Caller)?;
    for value in 0..10 {
        WATCHED[0].store(value, Relaxed);
        black_box(WATCHED[0].load(Relaxed));
        WATCHED[1].store(value, Relaxed);
    }
    assert_eq!((writes.value()?, all.value()?), (10, 20));

    // The same event at another address.
    let moved = spec(1, WatchedAccess::Write).attr();
    writes.control(Control::ModifyAttributes(&moved))?;
    WATCHED[1].store(1, Relaxed);
    WATCHED[0].store(1, Relaxed);
    assert_eq!((writes.value()?, all.value()?), (11, 21));

    // There are few such registers: four on x86, two of which are taken.
    let more: Result<Vec<_>, _> = (0..64)
        .map(|_| spec(1, WatchedAccess::Write).open(&RealKernel, EventTask::Caller))
        .collect();
    assert!(matches!(more, Err(OpenError::NoSpace)), "{more:?}");
    Ok(())
}
