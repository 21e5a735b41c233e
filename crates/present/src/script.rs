//! The text of `script`: one head line a sample, then where it was.
//!
//! Values come in, bytes go out into the caller's buffer; every name is taken as already harmless
//! (see [`visible`](crate::text::sanitize)) because names repeat and are rendered once.

mod access;
mod bpf_output;
pub mod fields;
pub mod traced;

use std::io::Write;

use oxperf_abi::{CpuMode, Misc, RecordType};

use crate::text::number::{pad, push_hex, push_number};
pub use access::{Access, AccessColumns};
pub use bpf_output::write_bpf_output;

pub use fields::{EventClass, FieldSet, FieldSpec, FieldSpecError};

/// The head of a sample. A value that is `None` is left out with its column.
#[derive(Clone, Copy, Debug, Default)]
pub struct Head<'a> {
    /// Thread name.
    pub comm: Option<&'a str>,
    /// Process.
    pub pid: Option<i32>,
    /// Thread.
    pub tid: Option<i32>,
    /// CPU.
    pub cpu: Option<Option<u32>>,
    /// The record's kind and flag word.
    pub misc: Option<(RecordType, Misc)>,
    /// Time of day.
    pub time_of_day: Option<&'a str>,
    /// Time, ns.
    pub time: Option<u64>,
    /// Events that the sample stands for.
    pub period: Option<u64>,
    /// Event name.
    pub event: Option<&'a str>,
}

/// The layout of heads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HeadLayout {
    /// A call chain follows: then the thread name is not padded.
    pub with_chain: bool,
    /// Characters of the longest event name.
    pub event_width: usize,
    /// Times with nine decimals rather than six.
    pub nanoseconds: bool,
    /// Names of threads stand in a column of eight characters, and CPUs without brackets.
    pub narrow: bool,
}

/// The names of an address, which stand behind it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SymbolLocation<'a> {
    /// The symbol around it, with the address' distance from its start.
    pub symbol: Option<(&'a str, u64)>,
    /// The object that is mapped there.
    pub dso: Option<&'a str>,
}

/// The width of names of threads where they are narrow.
const NARROW: usize = 8;

impl HeadLayout {
    /// Appends the head of a sample.
    pub fn write(&self, head: &Head<'_>, out: &mut Vec<u8>) {
        self.write_comm(head, out);
        write_ids(head, out);
        match head.cpu {
            Some(None) if self.narrow => out.extend_from_slice(b" -1 "),
            // perf's number where none was recorded.
            Some(None) => out.extend_from_slice(b"[-01] "),
            Some(Some(cpu)) if self.narrow => {
                push_number(out, u64::from(cpu), 3, b' ');
                out.push(b' ');
            }
            Some(Some(cpu)) => {
                out.push(b'[');
                push_number(out, u64::from(cpu), 3, b'0');
                out.extend_from_slice(b"] ");
            }
            None => {}
        }
        if let Some((kind, misc)) = head.misc {
            write_misc(kind, misc, out);
        }
        if let Some(text) = head.time_of_day {
            out.extend_from_slice(text.as_bytes());
            out.push(b' ');
        }
        if let Some(time) = head.time {
            self.write_time(time, out);
        }
        if let Some(period) = head.period {
            push_number(out, period, 10, b' ');
            out.push(b' ');
        }
        if let Some(event) = head.event {
            pad(out, self.event_width.saturating_sub(event.len()));
            out.extend_from_slice(event.as_bytes());
            out.extend_from_slice(b": ");
        }
    }

    fn write_comm(&self, head: &Head<'_>, out: &mut Vec<u8>) {
        let Some(comm) = head.comm else { return };
        if self.narrow {
            let end = comm
                .char_indices()
                .nth(NARROW)
                .map_or(comm.len(), |(at, _)| at);
            pad(out, NARROW.saturating_sub(comm.chars().count()));
            out.extend_from_slice(&comm.as_bytes()[..end]);
            return out.push(b' ');
        }
        if !self.with_chain {
            pad(out, 16usize.saturating_sub(comm.len()));
        }
        out.extend_from_slice(comm.as_bytes());
        out.push(b' ');
    }

    fn write_time(&self, time: u64, out: &mut Vec<u8>) {
        let (seconds, rest) = (time / 1_000_000_000, time % 1_000_000_000);
        push_number(out, seconds, 5, b' ');
        out.push(b'.');
        match self.nanoseconds {
            true => push_number(out, rest, 9, b'0'),
            false => push_number(out, rest / 1000, 6, b'0'),
        }
        out.extend_from_slice(b": ");
    }
}

fn write_ids(head: &Head<'_>, out: &mut Vec<u8>) {
    let _ = match (head.pid, head.tid) {
        (Some(pid), Some(tid)) => write!(out, "{pid:7}/{tid:<7} "),
        (Some(id), None) | (None, Some(id)) if id >= 0 => {
            push_number(out, u64::from(id.unsigned_abs()), 7, b' ');
            out.push(b' ');
            Ok(())
        }
        (Some(id), None) | (None, Some(id)) => write!(out, "{id:7} "),
        (None, None) => Ok(()),
    };
}

/// Flags of every record; where the mode has two bits set, perf shows the letters of its parts, too.
const MODES: [(CpuMode, u8); 5] = [
    (CpuMode::Kernel, b'K'),
    (CpuMode::User, b'U'),
    (CpuMode::Hypervisor, b'H'),
    (CpuMode::GuestKernel, b'G'),
    (CpuMode::GuestUser, b'g'),
];

/// Flags of some kinds of records.
const OF_KINDS: [(&[RecordType], u16, u8); 3] = [
    (
        &[RecordType::MMAP, RecordType::MMAP2],
        Misc::MMAP_DATA,
        b'M',
    ),
    (&[RecordType::COMM], Misc::COMM_EXEC, b'E'),
    (
        &[RecordType::SWITCH, RecordType::SWITCH_CPU_WIDE],
        Misc::SWITCH_OUT,
        b'S',
    ),
];

fn write_misc(kind: RecordType, misc: Misc, out: &mut Vec<u8>) {
    const WIDTH: usize = 6;
    let start = out.len();
    out.extend(
        MODES
            .iter()
            .filter(|(mode, _)| misc.has(*mode as u16))
            .map(|(_, letter)| letter),
    );
    let of_kind = OF_KINDS
        .iter()
        .filter(|(kinds, flag, _)| kinds.contains(&kind) && misc.has(*flag));
    out.extend(of_kind.map(|(.., letter)| letter));
    if out.last() == Some(&b'S') && misc.has(Misc::SWITCH_OUT_PREEMPT) {
        out.push(b'p');
    }
    let written = out.len() - start;
    pad(out, WIDTH.saturating_sub(written).max(1));
}

impl SymbolLocation<'_> {
    /// Appends the parts of a location that `fields` asks for.
    pub fn write(&self, fields: FieldSet, out: &mut Vec<u8>) {
        if fields.contains(FieldSet::SYM) {
            self.write_symbol(fields.contains(FieldSet::SYMOFF), out);
        }
        if fields.contains(FieldSet::DSO) {
            out.extend_from_slice(b" (");
            out.extend_from_slice(self.dso.unwrap_or("[unknown]").as_bytes());
            out.push(b')');
        }
    }

    fn write_symbol(&self, with_offset: bool, out: &mut Vec<u8>) {
        out.push(b' ');
        let Some((name, offset)) = self.symbol else {
            return out.extend_from_slice(b"[unknown]");
        };
        out.extend_from_slice(name.as_bytes());
        if with_offset {
            out.extend_from_slice(b"+0x");
            push_hex(out, offset, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_head_with_everything() {
        let head = Head {
            time_of_day: None,
            comm: Some("perf-exec"),
            tid: Some(3246),
            cpu: Some(Some(1)),
            time: Some(6_083_106_791_999),
            period: Some(1),
            event: Some("cycles"),
            ..Head::default()
        };
        let layout = HeadLayout {
            event_width: 12,
            ..HeadLayout::default()
        };
        let expected = "       perf-exec    3246 [001]  6083.106791:          1       cycles: ";
        assert_eq!(text(|out| layout.write(&head, out)), expected);
        let layout = HeadLayout {
            with_chain: true,
            nanoseconds: true,
            ..HeadLayout::default()
        };
        let expected = "perf-exec    3246 [001]  6083.106791999:          1 cycles: ";
        assert_eq!(text(|out| layout.write(&head, out)), expected);
        let layout = HeadLayout {
            narrow: true,
            ..HeadLayout::default()
        };
        let comm = |comm| {
            text(|out| {
                layout.write_comm(
                    &Head {
                        comm: Some(comm),
                        ..Head::default()
                    },
                    out,
                )
            })
        };
        assert_eq!(
            (comm("perf-exec").as_str(), comm("sh").as_str()),
            ("perf-exe ", "      sh ")
        );
    }

    #[test]
    fn flags_are_letters() {
        let misc = |kind, bits| text(|out| write_misc(kind, Misc(bits), out));
        assert_eq!(misc(RecordType::SAMPLE, 0), "      ");
        assert_eq!(misc(RecordType::SAMPLE, 2), "U     ");
        assert_eq!(misc(RecordType::COMM, Misc::COMM_EXEC), "E     ");
        assert_eq!(misc(RecordType::MMAP2, Misc::MMAP_DATA | 2), "UM    ");
        assert_eq!(
            misc(
                RecordType::SWITCH,
                Misc::SWITCH_OUT | Misc::SWITCH_OUT_PREEMPT
            ),
            "Sp    "
        );
    }

    #[test]
    fn ids_stand_together_or_alone() {
        let both = Head {
            pid: Some(12),
            tid: Some(13),
            ..Head::default()
        };
        assert_eq!(text(|out| write_ids(&both, out)), "     12/13      ");
        let none = Head {
            tid: Some(-1),
            ..Head::default()
        };
        assert_eq!(text(|out| write_ids(&none, out)), "     -1 ");
    }

    #[test]
    fn locations() {
        let all = FieldSet::IP | FieldSet::SYM | FieldSet::SYMOFF | FieldSet::DSO;
        let known = SymbolLocation {
            symbol: Some(("f", 0x341)),
            dso: Some("[k]"),
        };
        assert_eq!(text(|out| known.write(all, out)), " f+0x341 ([k])");
        assert_eq!(
            text(|out| SymbolLocation::default().write(all, out)),
            " [unknown] ([unknown])"
        );
        assert_eq!(text(|out| known.write(FieldSet::SYM, out)), " f");
    }
}
