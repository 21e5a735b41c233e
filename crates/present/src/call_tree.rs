//! Calls in the order in which they were made, one below the other, and their sums by function.
//!
//! A call in which others are shown has two lines, at its beginning and at its end, like a block of C; any other has
//! one. So everything can be written as soon as it is known.

pub mod json;
pub mod table;

use std::io::Write;

use oxperf_analysis::calls::{Amounts, Call, CallEnd, Ended, Entry, Remarks};

use crate::text::number::push_number;
use crate::text::sanitize;

/// The calling thread.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The thread's name.
    pub comm: &'a str,
    /// Its process.
    pub pid: i32,
    /// Its id.
    pub tid: i32,
}

/// The name of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FunctionText<'a> {
    /// Its name; where no symbol is known, its object and its place there.
    pub name: &'a str,
    /// The object that it is in, as a path.
    pub object: &'a str,
}

/// Calls that were shown and how they add up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Calls.
    pub calls: u64,
    /// Those whose beginning the trace does not show.
    pub begin_unseen: u64,
    /// Those whose end it does not show.
    pub end_unseen: u64,
    /// Amounts of their own code.
    pub own: Amounts,
    /// Facts beside them.
    pub remarks: Remarks,
    /// Errors of decoding.
    pub errors: u64,
}

/// Levels that are indented; deeper calls stand below each other with their depth.
const INDENTED: u32 = 48;

/// The head of the list.
pub fn write_head(out: &mut Vec<u8>) {
    let _ = writeln!(
        out,
        "# {:>16} {:>22} {:>13} {:>13} {:>13} {:>13} {:>6}  call",
        "time", "thread", "duration us", "self us", "instructions", "cycles", "IPC"
    );
}

/// A call in which others are shown begins. `depth` is that among the shown calls.
pub fn write_open(call: &Call, depth: u32, caller: &Caller<'_>, name: &str, out: &mut Vec<u8>) {
    write_stamp(call.entered.map(|time| time.0), caller, out);
    out.resize(out.len() + NUMBERS, b' ');
    write_name(depth, name, out);
    out.extend_from_slice(b" {");
    write_entry(call.entry, out);
    out.push(b'\n');
}

/// A call in which none was shown has ended.
pub fn write_leaf(ended: &Ended, depth: u32, caller: &Caller<'_>, name: &str, out: &mut Vec<u8>) {
    write_stamp(ended.call.entered.map(|time| time.0), caller, out);
    write_amounts(ended, out);
    write_name(depth, name, out);
    if ended.calls > 0 {
        let _ = write!(out, " [{} calls]", ended.calls);
    }
    write_entry(ended.call.entry, out);
    write_end(ended.end, out);
    out.push(b'\n');
}

/// A call in which others were shown has ended.
pub fn write_close(ended: &Ended, depth: u32, caller: &Caller<'_>, name: &str, out: &mut Vec<u8>) {
    write_stamp(ended.left.map(|time| time.0), caller, out);
    write_amounts(ended, out);
    write_indent(depth, out);
    out.extend_from_slice(b"} ");
    out.extend_from_slice(sanitize(name).as_bytes());
    write_end(ended.end, out);
    out.push(b'\n');
}

/// Appends the sums of all that was shown, and what is missing.
pub fn write_summary(sum: &Summary, out: &mut Vec<u8>) {
    let _ = write!(
        out,
        "# {} calls, {} instructions",
        sum.calls, sum.own.instructions
    );
    if sum.own.cycles > 0 {
        let _ = write!(out, ", {} cycles", sum.own.cycles);
    }
    out.push(b'\n');
    let counts = [
        (
            sum.begin_unseen,
            "calls had begun before the trace shows them",
        ),
        (
            sum.end_unseen,
            "calls may go on behind what the trace shows",
        ),
        (sum.remarks.gaps, "gaps ended the calls of a thread"),
        (
            sum.remarks.too_deep,
            "calls are too deep and counted as part of their caller",
        ),
        (
            sum.remarks.unplaced,
            "instructions belong to no known function",
        ),
        (sum.errors, "errors of decoding"),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        let _ = writeln!(out, "# {count} {what}");
    }
}

fn write_stamp(time: Option<u64>, caller: &Caller<'_>, out: &mut Vec<u8>) {
    match time {
        Some(time) => {
            push_number(out, time / 1_000_000_000, 8, b' ');
            out.push(b'.');
            push_number(out, time % 1_000_000_000, 9, b'0');
        }
        None => out.resize(out.len() + 18, b' '),
    }
    let start = out.len() + 1;
    let _ = write!(out, " {}/{}", sanitize(caller.comm), caller.tid);
    out.resize(out.len().max(start + 22), b' ');
}

/// Columns of the numbers.
const NUMBERS: usize = 4 * 14 + 7;

fn write_amounts(ended: &Ended, out: &mut Vec<u8>) {
    let timed = ended.call.entered.is_some();
    for time in [ended.total.time, ended.own.time] {
        out.push(b' ');
        if timed {
            push_microseconds(time, out)
        } else {
            out.resize(out.len() + 13, b' ')
        }
    }
    out.push(b' ');
    push_number(out, ended.total.instructions, 13, b' ');
    out.push(b' ');
    match ended.total.cycles {
        0 => out.resize(out.len() + 13 + 7, b' '),
        cycles => {
            push_number(out, cycles, 13, b' ');
            let _ = write!(out, " {:>6}", Ipc(ended.total));
        }
    }
}

/// `1234.567`, in 13 columns.
fn push_microseconds(ns: u64, out: &mut Vec<u8>) {
    push_number(out, ns / 1000, 9, b' ');
    out.push(b'.');
    push_number(out, ns % 1000, 3, b'0');
}

/// Instructions per cycle in hundredths, cut; nothing where no cycles were counted.
struct Ipc(Amounts);

impl std::fmt::Display for Ipc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self
            .0
            .instructions
            .saturating_mul(100)
            .checked_div(self.0.cycles)
        {
            Some(ipc) => f.pad(&format!("{}.{:02}", ipc / 100, ipc % 100)),
            None => f.pad(""),
        }
    }
}

fn write_indent(depth: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(b"  ");
    out.resize(out.len() + 2 * depth.min(INDENTED) as usize, b' ');
    if depth > INDENTED {
        let _ = write!(out, "[{depth}] ");
    }
}

fn write_name(depth: u32, name: &str, out: &mut Vec<u8>) {
    write_indent(depth, out);
    out.extend_from_slice(sanitize(name).as_bytes());
}

fn write_entry(entry: Entry, out: &mut Vec<u8>) {
    out.extend_from_slice(match entry {
        Entry::Called => b"".as_slice(),
        Entry::Jumped => b"  # jumped to",
        Entry::Interrupted => b"  # interrupts",
        Entry::Unseen => b"  # begin unseen",
    });
}

fn write_end(end: CallEnd, out: &mut Vec<u8>) {
    out.extend_from_slice(match end {
        CallEnd::Returned => b"".as_slice(),
        CallEnd::Jumped => b"  # jumped on",
        CallEnd::Unwound => b"  # unwound",
        CallEnd::Replaced => b"  # exec",
        CallEnd::Exited => b"  # exit",
        CallEnd::Lost => b"  # end lost",
        CallEnd::Open => b"  # end unseen",
    });
}

#[cfg(test)]
mod tests;
