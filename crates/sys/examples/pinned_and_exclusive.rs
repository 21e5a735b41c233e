//! A pinned counter always has its place on the PMU, or fails and reads nothing until it is enabled again. An exclusive one
//! has the PMU for itself. Both can be leaders of groups alone.

use oxperf_abi::{EventType, HardwareId, SoftwareId};
use oxperf_sys::{
    CounterGroup, CounterSpec, EventTask, FakeKernel, FakePmu, OpenError, ReadError, RealKernel,
};
use std::error::Error;
use std::time::Duration;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    on_this_machine()?;
    let kernel = FakeKernel::new()
        .with_pmu(FakePmu::core(2))
        .with_rates(|event| (event.attr.kind == EventType::HARDWARE).then_some(1000));
    let open = |spec: CounterSpec| spec.open(&kernel, EventTask::Caller);
    let cycles = || CounterSpec::hardware(HardwareId::CpuCycles);
    let second = Duration::from_secs(1);

    let pinned = [open(cycles().pinned())?, open(cycles().pinned())?];
    let late = open(cycles().pinned())?;
    let flexible = open(cycles())?;
    kernel.advance(second);
    assert_eq!(pinned[0].value()?, 1000);
    assert!(matches!(late.read(), Err(ReadError::NotCounting)));
    assert_eq!(flexible.value()?, 0, "no counter is left for it");

    pinned[0].disable()?;
    late.enable()?;
    kernel.advance(second);
    assert_eq!(late.value()?, 1000, "enabled again, it found a place");

    pinned[1].disable()?;
    late.disable()?;
    let alone = open(cycles().exclusive())?;
    kernel.advance(second);
    assert_eq!(alone.value()? + flexible.value()?, 1000, "they take turns");
    Ok(())
}

/// Software events need no place; the rule about members is the same.
fn on_this_machine() -> Result<(), Box<dyn Error>> {
    let mut group = CounterGroup::open(
        &RealKernel,
        EventTask::Caller,
        &CounterSpec::task_clock().user_only().pinned(),
    )?;
    group.read()?;
    let member = CounterSpec::software(SoftwareId::Dummy).user_only();
    assert!(matches!(
        group.add(&member.clone().pinned()),
        Err(OpenError::Invalid)
    ));
    assert!(matches!(
        group.add(&member.exclusive()),
        Err(OpenError::Invalid)
    ));
    Ok(())
}
