//! What `-vv` shows of events that are opened: a block for each attribute, a line for each call.

use std::fmt::Write;

use oxperf_abi::EventAttr;

use super::attr_text::{EventNames, attr_fields};
use super::sanitize;

/// The columns before a value.
const NAME_WIDTH: usize = 32;
/// The lines above and below a block.
const RULE: &str = "------------------------------------------------------------\n";

/// An attribute of `size` bytes as a block of lines.
pub fn attr_block(attr: &EventAttr, size: u32, names: &dyn EventNames) -> String {
    let mut text = format!("{RULE}perf_event_attr:\n");
    for field in attr_fields(attr, size, names) {
        let value = sanitize(&field.value);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {:NAME_WIDTH$} {value}", field.name);
    }
    text + RULE
}

/// A call that opens an event, by its raw arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenCallText {
    /// The thread; -1 for everybody.
    pub pid: i32,
    /// The CPU; -1 for every CPU.
    pub cpu: i32,
    /// The descriptor of the group's leader; -1 for none.
    pub group: i32,
    /// The flags' bits.
    pub flags: u64,
    /// The new descriptor, or the number of the error.
    pub answer: Result<i32, i32>,
}

/// A call as a line, and a second line for a refusal.
pub fn open_line(call: &OpenCallText) -> String {
    let OpenCallText {
        pid,
        cpu,
        group,
        flags,
        answer,
    } = call;
    let call =
        format!("sys_perf_event_open: pid {pid}  cpu {cpu}  group_fd {group}  flags {flags:#x}");
    match answer {
        Ok(descriptor) => format!("{call} = {descriptor}\n"),
        Err(errno) => format!("{call}\nsys_perf_event_open failed, error {}\n", -errno),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::attr_text::NoEventNames;
    use oxperf_abi::{AttrFlags, EventType, SampleType};

    /// As perf 7.2 prints it.
    #[test]
    fn an_attribute_is_a_block() {
        let attr = EventAttr {
            kind: EventType::SOFTWARE,
            config: 9,
            sample_period: 1000,
            sample_type: SampleType::IP | SampleType::TID,
            flags: AttrFlags::WATERMARK,
            wakeup_events: 1,
            ..EventAttr::default()
        };
        let expected = "\
------------------------------------------------------------
perf_event_attr:
  type                             1 (PERF_TYPE_SOFTWARE)
  size                             144
  config                           0x9 (PERF_COUNT_SW_DUMMY)
  { sample_period, sample_freq }   1000
  sample_type                      IP|TID
  watermark                        1
  { wakeup_events, wakeup_watermark } 1
------------------------------------------------------------
";
        assert_eq!(attr_block(&attr, 144, &NoEventNames), expected);
    }

    #[test]
    fn a_call_is_a_line_with_its_answer() {
        let call = OpenCallText {
            pid: 123,
            cpu: 0,
            group: -1,
            flags: 8,
            answer: Ok(5),
        };
        let line = "sys_perf_event_open: pid 123  cpu 0  group_fd -1  flags 0x8";
        assert_eq!(open_line(&call), format!("{line} = 5\n"));
        let refused = OpenCallText {
            answer: Err(2),
            ..call
        };
        let expected = format!("{line}\nsys_perf_event_open failed, error -2\n");
        assert_eq!(open_line(&refused), expected);
    }
}
