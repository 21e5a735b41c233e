//! The events of a recording as a profile begins with them: names, groups, call chains.

use oxperf_abi::{AttrFlags, SampleType};
use oxperf_data::Reader;
use oxperf_data::features::{GroupDesc, GroupEntry, NrCpus, PmuMappings};
use oxperf_profile::{EventGroup, EventProfile};
use oxperf_session::EventTable;

/// The number of CPUs, if the recording says when threads began and ceased to run: then latencies are known.
pub fn latency_cpus(reader: &Reader<'_>, events: &EventTable) -> Option<u32> {
    let switches = events
        .events()
        .iter()
        .any(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
    let cpus = reader.features().get::<NrCpus>().ok().flatten();
    switches.then(|| cpus.map_or(1, |cpus| cpus.available))
}

/// The events without samples yet, in groups as the recorder had them.
pub fn event_profiles(reader: &Reader<'_>, events: &EventTable) -> Vec<EventProfile> {
    let mut groups = groups(reader, events.events().len());
    leave_trace_out(reader, events, &mut groups);
    let events = events.events().iter().zip(groups.drain(..));
    let profile = events.map(|(event, group)| EventProfile {
        name: event.name.clone(),
        group,
        has_callchains: event.attr.sample_type.contains(SampleType::CALLCHAIN),
        ..EventProfile::default()
    });
    profile.collect()
}

/// An event that makes hardware trace leads no group: it has no samples. The next one leads instead; alone it is none.
fn leave_trace_out(reader: &Reader<'_>, events: &EventTable, groups: &mut [Option<EventGroup>]) {
    let pmus = reader.features().get::<PmuMappings>().ok().flatten();
    let traced: Vec<_> = pmus
        .iter()
        .flat_map(|pmus| &pmus.0)
        .filter(|pmu| pmu.name == "intel_pt")
        .map(|pmu| pmu.kind)
        .collect();
    for index in 0..groups.len() {
        let leads = groups[index]
            .as_ref()
            .is_some_and(|group| group.leader == index);
        if !leads
            || !events
                .events()
                .get(index)
                .is_some_and(|event| traced.contains(&event.attr.kind))
        {
            continue;
        }
        groups[index] = None;
        let is_member =
            |group: &Option<EventGroup>| group.as_ref().is_some_and(|group| group.leader == index);
        let members: Vec<usize> = (index + 1..groups.len())
            .filter(|at| is_member(&groups[*at]))
            .collect();
        for at in &members {
            match (&mut groups[*at], members.len()) {
                (Some(group), 2..) => group.leader = members[0],
                (slot, _) => *slot = None,
            }
        }
    }
}

/// The group of each event, as the recorder described them.
fn groups(reader: &Reader<'_>, count: usize) -> Vec<Option<EventGroup>> {
    let mut groups = vec![None; count];
    let described = reader.features().get::<GroupDesc>().ok().flatten();
    for group in described.iter().flat_map(|described| &described.0) {
        let leader = group.leader as usize;
        let name = Some(group.name.clone())
            .filter(|name| !name.is_empty() && name != GroupEntry::ANONYMOUS);
        let members = leader
            .checked_add(group.members as usize)
            .and_then(|end| groups.get_mut(leader..end));
        members.into_iter().flatten().for_each(|slot| {
            *slot = Some(EventGroup {
                leader,
                name: name.clone(),
                joined: false,
            })
        });
    }
    groups
}
