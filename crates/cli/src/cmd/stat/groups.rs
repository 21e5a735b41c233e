//! Events that cannot be in a group because they are counted on other CPUs than its leader.

use std::fmt::Write;

use oxperf_abi::Cpu;
use oxperf_capture::EventRequest;
use oxperf_capture::plan::counting_cpus;
use oxperf_present::text::sanitize;

use super::options::StatCommand;
use crate::cmd::ranges::ranges;

/// The CPUs of an event; none where it follows tasks to all.
type EventCpus = Option<Vec<Cpu>>;

/// Takes such events out of their groups; gives what is to be said about it.
pub(super) fn leave(
    command: &StatCommand,
    online: &[Cpu],
    requests: &mut [EventRequest],
) -> String {
    let target = &command.options.target;
    let cpus: Vec<EventCpus> = requests
        .iter()
        .map(|request| counting_cpus(target, online, request))
        .collect();
    let mut text = String::new();
    let mut last = None;
    for index in 0..requests.len() {
        let Some(leader) = requests[index].leader else {
            continue;
        };
        if cpus[leader] == cpus[index] {
            continue;
        }
        if last != Some(leader) {
            text += &heading(requests, leader);
            last = Some(leader);
        }
        if command.verbosity > 0 {
            for event in [leader, index] {
                let (name, cpus) = (&requests[event].name, list(&cpus[event]));
                // Writing to a String cannot fail.
                let _ = writeln!(text, "     {}: {cpus}", sanitize(name));
            }
        }
        requests[index].leader = None;
    }
    text
}

fn heading(requests: &[EventRequest], leader: usize) -> String {
    let members = requests.iter().enumerate();
    let members =
        members.filter(|(index, request)| *index == leader || request.leader == Some(leader));
    let names: Vec<&str> = members.map(|(_, request)| request.name.as_str()).collect();
    let name = requests[leader]
        .group_name
        .as_deref()
        .unwrap_or("anon group");
    format!(
        "WARNING: grouped events cpus do not match.\n\
         Events with CPUs not matching the leader will be removed from the group.\n  {} {{ {} }}\n",
        sanitize(name),
        sanitize(&names.join(", "))
    )
}

fn list(cpus: &EventCpus) -> String {
    let numbers = |cpus: &[Cpu]| ranges(cpus.iter().map(|cpu| cpu.0));
    cpus.as_deref().map_or_else(|| "-1".to_owned(), numbers)
}

#[cfg(test)]
mod tests {
    use oxperf_abi::SoftwareId;

    use super::super::arguments::parse_words;
    use super::*;

    #[test]
    fn an_event_of_other_cpus_leaves_its_group() {
        let event = |name: &str, leader, chosen: Option<&[u32]>| EventRequest {
            leader,
            cpus: chosen.map(|cpus| cpus.iter().copied().map(Cpu).collect()),
            ..EventRequest::software(SoftwareId::CpuClock, name)
        };
        let mut requests = [
            event("a", None, None),
            event("b", Some(0), Some(&[1])),
            event("c", Some(0), Some(&[0, 1])),
        ];
        let command = parse_words(&["-v", "-a", "-e", "a"]).unwrap();
        let text = leave(&command, &[Cpu(0), Cpu(1)], &mut requests);
        let leaders: Vec<_> = requests.iter().map(|request| request.leader).collect();
        assert_eq!(leaders, [None, None, Some(0)]);
        let expected = "WARNING: grouped events cpus do not match.\n\
                        Events with CPUs not matching the leader will be removed from the group.\n  \
                        anon group { a, b, c }\n     a: 0-1\n     b: 1\n";
        assert_eq!(text, expected);
        assert_eq!(leave(&command, &[Cpu(0), Cpu(1)], &mut requests), "");
    }
}
