//! A counter of a CPU counts everybody there, which needs rights; one of a task can be kept to a CPU. Everybody everywhere
//! is no counter, but one for each CPU.

use oxperf_abi::SoftwareId;
use oxperf_sys::{CounterSpec, EventTask, OpenError, RealKernel, cpus};
use std::error::Error;
use std::thread;
use std::time::Duration;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let clock = || CounterSpec::software(SoftwareId::CpuClock);
    let everywhere = clock().open(&RealKernel, EventTask::Any);
    assert!(
        matches!(
            everywhere,
            Err(OpenError::Invalid | OpenError::AccessDenied)
        ),
        "{everywhere:?}"
    );

    let online = cpus::online()?;
    let mut own = Vec::new();
    for &cpu in &online {
        let task_clock = CounterSpec::task_clock().user_only().on_cpu(cpu);
        own.push(task_clock.open(&RealKernel, EventTask::Caller)?);
    }
    // The system's events are opened last: without rights the example ends here.
    let counters = online
        .iter()
        .map(|&cpu| clock().on_cpu(cpu).open(&RealKernel, EventTask::Any))
        .collect::<Result<Vec<_>, _>>()?;
    thread::sleep(Duration::from_millis(5));
    for counter in &counters {
        assert!(
            counter.value()? > 4_000_000,
            "a CPU's clock goes on whoever runs"
        );
    }
    let ran: u64 = own
        .iter()
        .map(|counter| counter.value())
        .sum::<Result<u64, _>>()?;
    assert!(ran > 0, "this thread ran on one of the CPUs");
    Ok(())
}
