//! What `-vv` tells of the events that are opened, in a form that two programs have in common.

use std::collections::BTreeMap;

/// What perf's parser tells of each step.
const PARSER: [&str; 3] = [
    "Attempt to add: ",
    "..after resolving event: ",
    "hwmon_pmu: ",
];
const CALL: &str = "sys_perf_event_open: pid ";

/// The text without the steps of the parser and the sizes of attributes, which are no longer than what is set needs; of raw
/// codes without the names that events of the same code have; with tasks numbered by their order, and leaders of groups by
/// how long ago they were opened.
pub(in crate::sweep) fn comparable(text: &str) -> String {
    let mut numbers = Numbers::default();
    let mut comparable = String::new();
    for line in text.split_inclusive('\n') {
        let is_left_out =
            PARSER.iter().any(|begin| line.starts_with(begin)) || line.starts_with("  size   ");
        if is_left_out {
            continue;
        }
        comparable += &numbers.line(line);
    }
    comparable
}

/// The numbers of tasks and descriptors so far.
#[derive(Default)]
struct Numbers {
    tasks: BTreeMap<String, usize>,
    /// The call that gave each descriptor.
    descriptors: BTreeMap<String, usize>,
    calls: usize,
}

impl Numbers {
    fn line(&mut self, line: &str) -> String {
        if let Some((begin, _)) = line.split_once(" (").filter(|(begin, _)| is_code(begin)) {
            return format!("{begin}\n");
        }
        let Some(rest) = line.strip_prefix(CALL) else {
            return line.to_owned();
        };
        let mut words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
        numbered(words.first_mut(), &mut self.tasks);
        self.calls += 1;
        if let Some(group) = word_behind("group_fd", &mut words)
            && let Some(opened) = self.descriptors.get(group)
        {
            *group = format!("{} calls before", self.calls - opened);
        }
        if let Some(answer) = word_behind("=", &mut words) {
            self.descriptors
                .insert(std::mem::replace(answer, "ok".to_owned()), self.calls);
        }
        format!("{CALL}{}\n", words.join(" "))
    }
}

/// Returns whether a line's beginning has the configuration of a raw event.
fn is_code(line: &str) -> bool {
    line.strip_prefix("  config ")
        .is_some_and(|rest| rest.trim().starts_with("0x"))
}

fn word_behind<'a>(mark: &str, words: &'a mut [String]) -> Option<&'a mut String> {
    let place = words.iter().position(|word| word == mark)?;
    words.get_mut(place + 1)
}

fn numbered(word: Option<&mut String>, numbers: &mut BTreeMap<String, usize>) {
    if let Some(word) = word.filter(|word| *word != "-1") {
        let next = numbers.len() + 1;
        *word = format!("#{}", numbers.entry(word.clone()).or_insert(next));
    }
}

#[cfg(test)]
mod tests {
    use super::comparable;

    #[test]
    fn descriptors_are_numbered_and_steps_left_out() {
        let text = "Attempt to add: cpu/cycles/\n  size                             144\n  \
                    config                           0xc0 (inst_retired.any)\n  \
                    config                           0 (PERF_COUNT_HW_CPU_CYCLES)\n\
                    sys_perf_event_open: pid 71  cpu -1  group_fd -1  flags 0x8 = 5\n\
                    sys_perf_event_open: pid 71  cpu -1  group_fd 5  flags 0x8 = 7\n";
        let expected = "  config                           0xc0\n  \
                        config                           0 (PERF_COUNT_HW_CPU_CYCLES)\n\
                        sys_perf_event_open: pid #1 cpu -1 group_fd -1 flags 0x8 = ok\n\
                        sys_perf_event_open: pid #1 cpu -1 group_fd 1 calls before flags 0x8 = ok\n";
        assert_eq!(comparable(text), expected);
    }
}
