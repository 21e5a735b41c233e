//! The control groups in which events are counted: `-G` and `--for-each-cgroup`.

use std::fmt::Write;

use oxperf_capture::{CgroupTree, CountedCgroup, EventRequest};
use regex_lite::Regex;

use super::options::CgroupChoice;
use super::problem::StatProblem;
use crate::cmd::record::behind::{BehindProblem, assign, open};
use crate::output::print_error;

/// Signs by which a list of names is one of patterns.
const PATTERN_SIGNS: [char; 13] = [
    '{', '}', '[', ']', '(', ')', '|', '*', '+', '?', '^', '$', '\\',
];

/// The events in their groups. `number_before` is the number of events that so many of the texts give.
///
/// # Errors
/// A group does not exist, or there is no event for it.
pub(super) fn apply(
    choice: &CgroupChoice,
    tree: Option<&CgroupTree>,
    requests: Vec<EventRequest>,
    number_before: impl Fn(usize) -> usize,
) -> Result<Vec<EventRequest>, StatProblem> {
    match choice {
        CgroupChoice::None => Ok(requests),
        CgroupChoice::ForEach(list) => for_each(list, tree, &requests),
        CgroupChoice::OfEvents(lists) => {
            let mut events = requests;
            let mut next = 0;
            for list in lists {
                let defined = number_before(list.events_before);
                let given = assign(&list.text, tree, &mut events[..defined], &mut next);
                given.map_err(StatProblem::of_behind)?;
            }
            Ok(events)
        }
    }
}

/// All events once for each group.
fn for_each(
    list: &str,
    tree: Option<&CgroupTree>,
    requests: &[EventRequest],
) -> Result<Vec<EventRequest>, StatProblem> {
    if requests.is_empty() {
        return Err(StatProblem::no_events_for_cgroups());
    }
    let mut messages = String::new();
    let mut events = Vec::new();
    for name in names(list, tree)? {
        match open(tree, &name) {
            Ok(group) => push_in(&group, requests, &mut events),
            Err(folder) => {
                // Writing to a String cannot fail.
                let _ = writeln!(messages, "{}", BehindProblem::NoCgroup(folder));
            }
        }
    }
    if events.is_empty() {
        return Err(StatProblem::no_cgroup_matched(&messages, list));
    }
    if !messages.is_empty() {
        print_error(messages.trim_end());
    }
    Ok(events)
}

fn push_in(group: &CountedCgroup, requests: &[EventRequest], events: &mut Vec<EventRequest>) {
    let before = events.len();
    events.extend(requests.iter().map(|request| EventRequest {
        leader: request.leader.map(|leader| leader + before),
        cgroup: Some(group.clone()),
        ..request.clone()
    }));
}

/// The names that a list means, each once; several patterns find all that any of them finds.
fn names(list: &str, tree: Option<&CgroupTree>) -> Result<Vec<String>, StatProblem> {
    let mut names = Vec::new();
    if !list.contains(PATTERN_SIGNS) {
        for name in list.split(',') {
            let name = match name.strip_prefix('/').unwrap_or(name) {
                "" => "/",
                name => name,
            };
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        return Ok(names);
    }
    let mut patterns = Vec::new();
    for pattern in list.split(',') {
        let regex = Regex::new(&basic_regex(pattern));
        patterns.push(regex.map_err(|error| StatProblem::no_pattern(pattern, &error.to_string()))?);
    }
    let all = tree.map(CgroupTree::names).unwrap_or_default().into_iter();
    let is_meant = |name: &String| patterns.iter().any(|pattern| pattern.is_match(name));
    Ok(all.filter(is_meant).collect())
}

/// A basic regular expression of POSIX with GNU's additions in the notation of this program's library: what has a meaning
/// behind a backslash there has it without one here.
fn basic_regex(pattern: &str) -> String {
    const SWAPPED: &str = "(){}+?|";
    let mut text = String::new();
    let mut letters = pattern.chars();
    let mut in_set = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if !in_set => match letters.next() {
                Some(next) if SWAPPED.contains(next) => text.push(next),
                Some(next) => text.extend(['\\', next]),
                None => text.push_str("\\\\"),
            },
            letter if SWAPPED.contains(letter) && !in_set => text.extend(['\\', letter]),
            letter => {
                in_set = (in_set || letter == '[') && letter != ']';
                text.push(letter);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use oxperf_abi::SoftwareId;

    use super::*;

    fn tree() -> CgroupTree {
        // Every system has this folder with these in it.
        CgroupTree::of_mounts("x /proc cgroup2 rw 0 0").unwrap()
    }

    fn events() -> Vec<EventRequest> {
        let event = |leader| EventRequest {
            leader,
            ..EventRequest::software(SoftwareId::CpuClock, "a")
        };
        vec![event(None), event(Some(0)), event(None)]
    }

    fn groups(events: &[EventRequest]) -> Vec<&str> {
        let groups = events.iter().map(|event| event.cgroup.as_ref());
        groups
            .map(|group| group.map_or("", CountedCgroup::name))
            .collect()
    }

    #[test]
    fn each_group_has_all_events() {
        let events = for_each("sys,/tty,sys,nosuch", Some(&tree()), &events()).unwrap();
        assert_eq!(groups(&events), ["sys", "sys", "sys", "tty", "tty", "tty"]);
        let leaders: Vec<_> = events.iter().map(|event| event.leader).collect();
        assert_eq!(leaders, [None, Some(0), None, None, Some(3), None]);
        assert!(for_each("nosuch", Some(&tree()), &events).is_err());
        assert!(for_each("sys", None, &events).is_err());
    }

    #[test]
    fn patterns_are_basic_ones() {
        assert_eq!(basic_regex(r"a\|b(c)[?(]*\(d\)\+"), r"a|b\(c\)[?(]*(d)+");
        assert_eq!(names("/", None).unwrap(), ["/"]);
        let found = names("^sys$,^sys/fs$", Some(&tree())).unwrap();
        assert_eq!(found, ["sys", "sys/fs"]);
        assert!(names("a[", Some(&tree())).is_err());
    }
}
