//! A request to open an event as text, one value a line, under the names of the kernel's structure.

use super::OpenRequest;
use oxperf_abi::AttrFlags;
use std::fmt::{Display, Write};

/// Flags that stand before `precise_ip` in perf's log of opened events.
const FLAGS_BEFORE_PRECISE: [AttrFlags; 15] = [
    AttrFlags::DISABLED,
    AttrFlags::INHERIT,
    AttrFlags::PINNED,
    AttrFlags::EXCLUSIVE,
    AttrFlags::EXCLUDE_USER,
    AttrFlags::EXCLUDE_KERNEL,
    AttrFlags::EXCLUDE_HV,
    AttrFlags::EXCLUDE_IDLE,
    AttrFlags::MMAP,
    AttrFlags::COMM,
    AttrFlags::FREQ,
    AttrFlags::INHERIT_STAT,
    AttrFlags::ENABLE_ON_EXEC,
    AttrFlags::TASK,
    AttrFlags::WATERMARK,
];

/// Flags that stand behind it.
const FLAGS_AFTER_PRECISE: [AttrFlags; 12] = [
    AttrFlags::MMAP_DATA,
    AttrFlags::SAMPLE_ID_ALL,
    AttrFlags::EXCLUDE_HOST,
    AttrFlags::EXCLUDE_GUEST,
    AttrFlags::EXCLUDE_CALLCHAIN_KERNEL,
    AttrFlags::EXCLUDE_CALLCHAIN_USER,
    AttrFlags::MMAP2,
    AttrFlags::COMM_EXEC,
    AttrFlags::CONTEXT_SWITCH,
    AttrFlags::WRITE_BACKWARD,
    AttrFlags::NAMESPACES,
    AttrFlags::USE_CLOCKID,
];

impl OpenRequest<'_> {
    /// The arguments of the system call and the attribute, as `NAME=VALUE` lines in the order of perf's log of opened
    /// events.
    pub(crate) fn description(&self) -> String {
        let mut text = String::new();
        self.describe_call(&mut text);
        self.describe_sampling(&mut text);
        self.describe_flags(&mut text);
        self.describe_details(&mut text);
        text
    }

    fn describe_call(&self, text: &mut String) {
        let arguments = self.arguments();
        line(text, "group_fd", arguments.group);
        line(text, "cpu", arguments.cpu);
        line(text, "pid", arguments.pid);
        line(text, "flags", arguments.flags);
    }

    fn describe_sampling(&self, text: &mut String) {
        let attr = self.attr;
        line(text, "type", attr.kind.0);
        line(text, "size", self.arguments().attr_size);
        line(text, "config", attr.config);
        line(text, "sample_period", attr.sample_period);
        line(text, "sample_type", attr.sample_type.0);
        line(text, "read_format", attr.read_format.0);
    }

    fn describe_flags(&self, text: &mut String) {
        let flags = self.attr.flags;
        flag_lines(text, flags, &FLAGS_BEFORE_PRECISE);
        line(text, "precise_ip", flags.precise_ip());
        flag_lines(text, flags, &FLAGS_AFTER_PRECISE);
    }

    fn describe_details(&self, text: &mut String) {
        let attr = self.attr;
        line(text, "wakeup_events", attr.wakeup_events);
        line(text, "bp_type", attr.bp_type);
        line(text, "config1", attr.config1);
        line(text, "config2", attr.config2);
        line(text, "branch_sample_type", attr.branch_sample_type.0);
        line(text, "sample_regs_user", attr.sample_regs_user);
        line(text, "sample_stack_user", attr.sample_stack_user);
    }
}

fn flag_lines(text: &mut String, flags: AttrFlags, listed: &[AttrFlags]) {
    for flag in listed {
        let value = u8::from(flags.contains(*flag));
        flag.names().for_each(|name| line(text, name, value));
    }
}

fn line(text: &mut String, name: &str, value: impl Display) {
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{name}={value}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventTask;
    use oxperf_abi::{EventAttr, EventType, Tid};

    #[test]
    fn every_value_has_its_line_in_order() {
        let mut flags = AttrFlags::MMAP | AttrFlags::USE_CLOCKID;
        flags.set_precise_ip(3);
        let attr = EventAttr {
            kind: EventType::RAW,
            config: u64::MAX,
            flags,
            ..EventAttr::default()
        };
        let text = OpenRequest::new(&attr, EventTask::Thread(Tid(7))).description();
        let begin =
            "group_fd=-1\ncpu=-1\npid=7\nflags=8\ntype=4\nsize=64\nconfig=18446744073709551615\n";
        assert!(text.starts_with(begin), "{text}");
        assert_eq!(text.lines().count(), 45);
        for expected in [
            "watermark=0\nprecise_ip=3\nmmap_data=0",
            "exclude_idle=0\nmmap=1\ncomm=0",
            "namespaces=0\nuse_clockid=1\nwakeup_events=0",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }
}
