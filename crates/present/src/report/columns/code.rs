//! Cells about code and tasks: symbols, distances from their beginning, threads and processes.

use std::io::Write;

use oxperf_analysis::hist::{Row, SortKey};

use super::ID_WIDTH;
use super::cells::{pad, push_cut, push_nameless};
use super::names::NameTexts;
use crate::text::padding::Zeroed;

/// Appends a row's symbol, or its address where it has none; blanks up to `width` follow.
pub(super) fn symbol(names: &NameTexts<'_>, buffer: &mut Vec<u8>, row: &Row, width: usize) {
    let start = buffer.len();
    names.push_origin(buffer, row.frame, row.address);
    buffer.extend_from_slice(&[b'[', row.level.letter() as u8, b']', b' ']);
    match names.symbol_name(row.frame) {
        Some(name) => {
            buffer.extend_from_slice(name.as_bytes());
            // As in perf the column is not made wider for it.
            buffer.extend_from_slice(if names.is_inlined(row.frame) {
                b" (inlined)"
            } else {
                b""
            });
        }
        None => push_nameless(buffer, row.address),
    }
    pad(buffer, start, width);
}

/// Appends the symbol and how far behind its beginning the address is. As in perf the column is not filled up.
pub(super) fn symbol_offset(names: &NameTexts<'_>, buffer: &mut Vec<u8>, row: &Row, width: usize) {
    buffer.extend_from_slice(&[b'[', row.level.letter() as u8, b']', b' ']);
    let frame = names.profile.frames.get(row.frame.index());
    let symbol = frame.and_then(|frame| names.profile.symbols.get(frame.symbol?.index()));
    let digits = width.saturating_sub("[k] ".len());
    // Writing to a vector cannot fail.
    let _ = match (names.symbol_name(row.frame), frame.zip(symbol)) {
        (Some(name), Some((frame, symbol))) => {
            write!(
                buffer,
                "{name}+{:#x}",
                frame.dso_address.wrapping_sub(symbol.start)
            )
        }
        // As C does it, zero goes without 0x.
        _ if row.address == 0 => write!(buffer, "{}", Zeroed(0, digits)),
        _ => write!(
            buffer,
            "0x{}",
            Zeroed(format_args!("{:x}", row.address), digits)
        ),
    };
}

/// Appends a thread's or process's id and its name at the end of the recording.
pub(super) fn task(
    names: &NameTexts<'_>,
    buffer: &mut Vec<u8>,
    key: SortKey,
    row: &Row,
    width: usize,
) {
    let thread = names.profile.threads.get(row.thread.index());
    let id = thread.map_or(-1, |thread| {
        if key == SortKey::Thread {
            thread.tid.0
        } else {
            thread.pid.0
        }
    });
    let named = if key == SortKey::Process {
        names.leaders.get(&id).copied()
    } else {
        None
    };
    let name = named
        .or(thread.map(|thread| thread.comm))
        .map_or("", |comm| names.comm(comm));
    // Writing to a vector cannot fail.
    let _ = write!(buffer, "{id:7}:");
    push_cut(buffer, name, width.saturating_sub(ID_WIDTH));
}
