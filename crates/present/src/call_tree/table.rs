//! The calls of each function in a row.

use std::io::Write;

use oxperf_analysis::calls::totals::FunctionTotal;

use super::{FunctionText, Ipc, push_microseconds};
use crate::text::number::push_number;
use crate::text::sanitize;

/// The head of the table.
pub fn write_head(out: &mut Vec<u8>) {
    let _ = writeln!(
        out,
        "# {:>10} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13} {:>13} {:>6}  function (object)",
        "calls",
        "total us",
        "self us",
        "min us",
        "max us",
        "instructions",
        "self instr.",
        "self cycles",
        "IPC"
    );
}

/// A row; instructions per cycle are those of the function itself.
pub fn write_row(total: &FunctionTotal, text: &FunctionText<'_>, timed: bool, out: &mut Vec<u8>) {
    push_number(out, total.calls, 12, b' ');
    for time in [
        total.total.time,
        total.own.time,
        total.shortest,
        total.longest,
    ] {
        out.push(b' ');
        if timed {
            push_microseconds(time, out)
        } else {
            out.resize(out.len() + 13, b' ')
        }
    }
    for count in [total.total.instructions, total.own.instructions] {
        out.push(b' ');
        push_number(out, count, 13, b' ');
    }
    match total.own.cycles {
        0 => out.resize(out.len() + 14 + 7, b' '),
        cycles => {
            out.push(b' ');
            push_number(out, cycles, 13, b' ');
            let _ = write!(out, " {:>6}", Ipc(total.own));
        }
    }
    let _ = write!(out, "  {} ({})", sanitize(text.name), sanitize(text.object));
    if total.incomplete > 0 {
        let _ = write!(out, "  # {} incomplete", total.incomplete);
    }
    out.push(b'\n');
}
