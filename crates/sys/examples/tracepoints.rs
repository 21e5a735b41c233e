//! A tracepoint is a place in the kernel's code with a number; a filter looks at its fields.

use oxperf_sys::{Control, CounterSpec, EventTask, RealKernel};
use std::error::Error;
use std::{fs, process, thread};

/// The folder of tracepoints, readable by root alone.
const EVENTS: &str = "/sys/kernel/tracing/events";

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let id = fs::read_to_string(format!("{EVENTS}/sched/sched_process_fork/id"))?;
    let forks = CounterSpec::tracepoint(id.trim().parse()?);
    let open = || forks.open(&RealKernel, EventTask::Caller);
    let (all, own, others) = (open()?, open()?, open()?);
    let pid = process::id();
    let filter = |operator: &str| std::ffi::CString::new(format!("parent_pid {operator} {pid}"));
    own.control(Control::SetFilter(&filter("==")?))?;
    others.control(Control::SetFilter(&filter("!=")?))?;
    let refused = others.control(Control::SetFilter(c"no_such_field == 1"));
    assert!(refused.is_err());
    for _ in 0..3 {
        thread::spawn(|| ())
            .join()
            .map_err(|_| "the thread panicked")?;
    }
    assert_eq!(all.value()?, 3);
    // The parent is the thread that forks; a test's thread is not its process.
    assert_eq!(own.value()? + others.value()?, 3);
    Ok(())
}
