//! `brstack`, `brstacksym`, `brstackoff`: the last branches of a sample, by address, by name or by offset.

use oxperf_abi::{BranchEntry, CpuMode};
use oxperf_present::script::FieldSet;
use oxperf_present::text::branch_text::{kind_name, prediction, speculation_name};
use oxperf_present::text::number::{push_hex, push_number};
use oxperf_present::text::sanitize;

use super::TextField;
use crate::dso_offset::push_dso_offset;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[
        FieldSet::BRSTACK,
        FieldSet::BRSTACKSYM,
        FieldSet::BRSTACKOFF,
    ],
    write,
};

/// Appends the last branches, newest first; by their addresses if these are asked for, too.
fn write(text: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    let (fields, out) = (view.fields(), out.buffer());
    let Some(stack) = view.sample().branch_stack else {
        return;
    };
    let by_address = fields.contains(FieldSet::BRSTACK);
    let by_symbol = !by_address && fields.contains(FieldSet::BRSTACKSYM);
    for entry in stack.entries() {
        if !by_symbol {
            out.push(b' ');
        }
        for (end, address) in [entry.from, entry.to].into_iter().enumerate() {
            if end == 1 {
                out.push(b'/');
            }
            if by_symbol {
                write_symbol(text, view, address, out);
            } else {
                let shown = if by_address {
                    address
                } else {
                    offset_of(text, view, address)
                };
                out.extend_from_slice(b"0x");
                push_hex(out, shown, 1);
            }
            if fields.contains(FieldSet::DSO) {
                write_object(view, address, out);
            }
        }
        write_flags(&entry, out);
    }
}

fn write_symbol(
    text: &mut TextContext<'_>,
    view: &SampleView<'_>,
    address: u64,
    out: &mut Vec<u8>,
) {
    let (machine, thread) = (view.machine, view.event.thread);
    let mode = machine.guess_mode(thread, address);
    let located = text.addresses.locate(machine, thread, mode, address);
    let named = located.and_then(|(_, located)| {
        let name = text.lookup(machine).name(&located)?;
        Some((name, located.address))
    });
    match named {
        Some((name, at)) => {
            out.extend_from_slice(sanitize(name.text).as_bytes());
            out.extend_from_slice(b"+0x");
            push_hex(out, at.wrapping_sub(name.start), 1);
        }
        None => out.extend_from_slice(b"[unknown]"),
    }
}

/// The offset in the file that is mapped there, and of the kernel in its mapping. As perf does it, an address stays
/// as it is where hardware trace led there, and in a program that cannot be moved where its symbols are known.
fn offset_of(text: &TextContext<'_>, view: &SampleView<'_>, address: u64) -> u64 {
    if view.traced().is_some() {
        return address;
    }
    let (machine, thread) = (view.machine, view.event.thread);
    let mode = machine.guess_mode(thread, address);
    let Some(located) = machine.locate(thread, mode, address) else {
        return address;
    };
    let map = machine.maps().get(located.map.0 as usize);
    if mode == CpuMode::Kernel {
        // Old recorders had the kernel begin at 0.
        let recorded = map.map(|map| map.start).filter(|start| *start > 0);
        let reference = || machine.objects().kernel_reference();
        let begins = recorded.or_else(|| reference().map(|found| found.address));
        return address.wrapping_sub(begins.unwrap_or(0));
    }
    let shows_names = view.fields().contains(FieldSet::SYM);
    let object_address = || {
        text.names
            .object_address(machine.objects(), &located.into())
    };
    if shows_names && object_address() == address {
        address
    } else {
        located.address
    }
}

fn write_object(view: &SampleView<'_>, address: u64, out: &mut Vec<u8>) {
    let context = view.context();
    let located = context.locate(context.guess_mode(address), address);
    let objects = view.machine.objects();
    let name = located.map(|located| sanitize(&objects.dso(located.dso).shown));
    out.extend_from_slice(b" (");
    out.extend_from_slice(name.as_deref().unwrap_or("[unknown]").as_bytes());
    out.push(b')');
    if let Some(located) = located {
        push_dso_offset(view.fields(), located, objects, out);
    }
}

/// Appends the prediction, transaction and abort of a branch, the cycles since the one before, and its kind.
fn write_flags(entry: &BranchEntry, out: &mut Vec<u8>) {
    let letter = |bit, set| if entry.is(bit) { set } else { b'-' };
    out.push(b'/');
    out.extend_from_slice(prediction(entry).as_bytes());
    let (transaction, abort) = (
        letter(BranchEntry::IN_TRANSACTION, b'X'),
        letter(BranchEntry::ABORT, b'A'),
    );
    out.extend_from_slice(&[b'/', transaction, b'/', abort, b'/']);
    push_number(out, entry.cycles().into(), 1, b' ');
    for word in [kind_name(entry), speculation_name(entry).unwrap_or("-")] {
        out.push(b'/');
        out.extend_from_slice(word.as_bytes());
    }
    out.push(b' ');
}
