//! A sample's line, and those of its fields that take a line each.

use crate::text::number::{push_decimal, push_prefixed, push_signed, push_word};
use crate::text::put;
use oxperf_abi::Misc;
use oxperf_session::SessionEvent;
use oxperf_wire::{ReadValues, Sample, SampleWeight, UserStack};

use crate::text::number::push_hex;

/// Appends the line from the record's name on.
pub(super) fn head(misc: Misc, sample: &Sample<'_>, event: &SessionEvent, out: &mut Vec<u8>) {
    out.extend_from_slice(b"PERF_RECORD_SAMPLE(IP, 0x");
    push_hex(out, misc.0.into(), 1);
    out.extend_from_slice(b"): ");
    push_signed(out, sample.pid.map_or(-1, |pid| pid.0));
    out.push(b'/');
    push_signed(out, sample.tid.map_or(-1, |tid| tid.0));
    out.extend_from_slice(b": ");
    push_prefixed(out, sample.ip.unwrap_or_default());
    out.extend_from_slice(b" period: ");
    push_decimal(out, sample.period.unwrap_or(event.attr.sample_period));
    out.extend_from_slice(b" addr: ");
    push_prefixed(out, sample.addr.unwrap_or_default());
    out.push(b'\n');
}

/// Appends the rare fields behind chains, branches and registers.
pub(super) fn details(body: &[u8], sample: &Sample<'_>, out: &mut Vec<u8>) {
    if let Some(stack) = &sample.stack_user {
        user_stack(body, stack, out);
    }
    if let Some(weight) = sample.weight {
        write_weight(weight, out);
    }
    if let Some(source) = sample.data_src {
        put!(out, " . data_src: 0x{source:x}\n");
    }
    if let Some(address) = sample.phys_addr {
        put!(out, " .. phys_addr: 0x{address:x}\n");
    }
    for (name, size) in [
        ("data", sample.data_page_size),
        ("code", sample.code_page_size),
    ] {
        if let Some(size) = size {
            put!(out, " .. {name} page size: {}\n", page_size(size));
        }
    }
    if let Some(transaction) = sample.transaction {
        put!(out, "... transaction: {transaction:x}\n");
    }
    if let Some(values) = &sample.read {
        read_values(values, out);
    }
}

/// The offset is that of the word before the bytes, from the record's beginning.
fn user_stack(body: &[u8], stack: &UserStack<'_>, out: &mut Vec<u8>) {
    let offset = stack
        .bytes
        .as_ptr()
        .addr()
        .saturating_sub(body.as_ptr().addr());
    put!(
        out,
        "... ustack: size {}, offset 0x{offset:x}\n",
        stack.dyn_size
    );
}

fn write_weight(weight: SampleWeight, out: &mut Vec<u8>) {
    match weight {
        SampleWeight::Whole(weight) => put!(out, "... weight: {weight}\n"),
        SampleWeight::Parts { var1, var2, var3 } => {
            put!(out, "... weight: {var1},0x{var2:x},0x{var3:x}\n")
        }
    }
}

/// A size in the largest unit that leaves more than 1 of it.
fn page_size(size: u64) -> String {
    if size == 0 {
        return "N/A".to_owned();
    }
    let (mut size, mut unit) = (size, 0);
    while size / 1024 > 1 && unit < 3 {
        size /= 1024;
        unit += 1;
    }
    format!("{size}{}", ["B", "K", "M", "G"][unit])
}

fn read_values(values: &ReadValues<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"... sample_read:\n");
    for (name, time) in [
        ("enabled", values.time_enabled),
        ("running", values.time_running),
    ] {
        if let Some(time) = time {
            put!(out, "...... time {name} {time:016x}\n");
        }
    }
    if values.is_group() {
        put!(out, ".... group nr {}\n", values.values().count());
    }
    for value in values.values() {
        out.extend_from_slice(b"..... id ");
        push_word(out, value.id.map_or(0, |id| id.0));
        out.extend_from_slice(b", value ");
        push_word(out, value.value);
        if let Some(lost) = value.lost {
            out.extend_from_slice(b", lost ");
            push_decimal(out, lost);
        }
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_sizes_keep_more_than_one() {
        let sizes = [
            (0, "N/A"),
            (1, "1B"),
            (1024, "1024B"),
            (4096, "4K"),
            (2 << 20, "2M"),
            (1 << 30, "1024M"),
        ];
        for (size, text) in sizes {
            assert_eq!(page_size(size), text);
        }
    }
}
