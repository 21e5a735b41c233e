//! The attribute of each event that is counted: no samples, and times that say how long it counted.

use oxperf_abi::{AttrFlags, EventAttr, ReadFormat, SampleType};

use crate::event::EventRequest;
use crate::options::TargetOptions;

/// The attributes of `requests`, in their order.
pub(super) fn attrs(target: &TargetOptions, requests: &[EventRequest]) -> Vec<EventAttr> {
    let mut is_grouped = vec![false; requests.len()];
    for (index, request) in requests.iter().enumerate() {
        let Some(leader) = request.leader else {
            continue;
        };
        is_grouped[index] = true;
        if let Some(leads) = is_grouped.get_mut(leader) {
            *leads = true;
        }
    }
    let requests = requests.iter().zip(is_grouped);
    let attr = |(request, is_grouped)| attr_of(target, request, is_grouped);
    requests.map(attr).collect()
}

fn attr_of(target: &TargetOptions, request: &EventRequest, is_grouped: bool) -> EventAttr {
    let mut attr = request.attr;
    attr.sample_type = SampleType::IDENTIFIER;
    attr.read_format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    // A group is read at once, with its leader.
    attr.read_format.set(ReadFormat::GROUP, is_grouped);
    attr.read_format.set(ReadFormat::ID, is_grouped);
    let leads = request.leader.is_none();
    target.privilege.apply(&mut attr.flags);
    attr.flags.set(AttrFlags::DISABLED, leads);
    attr.flags
        .set(AttrFlags::ENABLE_ON_EXEC, leads && target.starts_on_exec());
    let inherits = request.inherit.unwrap_or(target.inherit);
    attr.flags.set(AttrFlags::INHERIT, inherits);
    attr
}
