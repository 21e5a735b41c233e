//! Members of a group are switched alone; the leader switches all, and with the group's flag any member does.

use oxperf_sys::{Control, ControlScope, CounterGroup, CounterSpec, EventTask, RealKernel};
use std::error::Error;
use std::hint::black_box;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let leader = CounterSpec::task_clock().user_only();
    let mut group = CounterGroup::open(&RealKernel, EventTask::Caller, &leader)?;
    let member = group.add(&leader)?;
    let grown = || -> Result<[bool; 2], Box<dyn Error>> {
        let before = group.read()?;
        (0..100_000u32).for_each(|step| {
            black_box(step);
        });
        let since = group.read()?.since(&before);
        Ok([0, member].map(|event| since.values[event].value > 0))
    };
    let one = &group.members()[0];
    assert_eq!(grown()?, [true, true]);
    one.disable()?;
    assert_eq!(grown()?, [true, false], "it alone stopped");
    group.leader().disable()?;
    one.enable()?;
    assert_eq!(grown()?, [false, false], "the leader is off");
    one.control(Control::Enable(ControlScope::Group))?;
    assert_eq!(grown()?, [true, true], "the whole group, by its member");
    one.control(Control::Disable(ControlScope::Group))?;
    assert_eq!(grown()?, [false, false]);
    one.control(Control::Reset(ControlScope::Group))?;
    assert!(group.read()?.values.iter().all(|value| value.value == 0));
    Ok(())
}
