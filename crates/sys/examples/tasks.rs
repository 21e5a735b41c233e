//! A counter belongs to the calling thread, to another one, or to everybody on a CPU; it follows its task from CPU to CPU.

use oxperf_abi::{Pid, Tid};
use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel, Workload, WorkloadSpec};
use std::error::Error;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // A child that waits for its start can be counted from its first instruction on.
    let script = "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done";
    let arguments = ["/bin/sh", "-c", script].map(Into::into);
    let mut child = Workload::spawn(&WorkloadSpec {
        arguments: &arguments,
        environment: &[],
        search_path: None,
        output_to_error: false,
    })?;
    let clock = CounterSpec::task_clock().user_only();
    let of_child = clock
        .clone()
        .enabled_on_exec()
        .open(&RealKernel, thread_of(child.pid()))?;
    assert_eq!(of_child.value()?, 0, "it has executed nothing yet");
    child.start()?;
    assert!(child.wait()?.success());
    assert!(of_child.value()? > 0, "the count outlives its task");

    let gone = clock.open(&RealKernel, thread_of(child.pid()));
    assert!(matches!(gone, Err(OpenError::NoSuchTask)), "{gone:?}");
    Ok(())
}

/// The first thread of a process has its number.
fn thread_of(process: Pid) -> EventTask<'static> {
    EventTask::Thread(Tid(process.0))
}
