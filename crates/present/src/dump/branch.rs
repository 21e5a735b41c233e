//! Branch stacks.

use crate::text::number::{push_decimal, push_word};
use crate::text::put;
use oxperf_abi::BranchEntry;
use oxperf_session::SessionEvent;
use oxperf_wire::{BranchStack, Sample};

use super::chain::{entry, is_call_stack};
use crate::text::branch_text::{kind_name, speculation_name};

/// Appends the branches of a sample.
pub(super) fn write(sample: &Sample<'_>, event: &SessionEvent, out: &mut Vec<u8>) {
    let Some(branches) = &sample.branch_stack else {
        return;
    };
    let count = branches.entries().count();
    if is_call_stack(event) {
        return call_stack(branches, count, out);
    }
    out.extend_from_slice(b"... branch stack: nr:");
    push_decimal(out, count as u64);
    out.push(b'\n');
    branches
        .entries()
        .enumerate()
        .for_each(|(index, branch)| write_branch(index, &branch, out));
}

/// Appends the target of the newest call, then the source of each.
fn call_stack(branches: &BranchStack<'_>, count: usize, out: &mut Vec<u8>) {
    put!(out, "... branch callstack: nr:{}\n", count + 1);
    let newest = branches.entries().next().map(|branch| branch.to);
    let words = newest
        .into_iter()
        .chain(branches.entries().map(|branch| branch.from));
    for (index, word) in words.enumerate() {
        entry(index, word, out);
        out.push(b'\n');
    }
}

fn write_branch(index: usize, branch: &BranchEntry, out: &mut Vec<u8>) {
    let flags = branch.flags;
    let letter = |bit: u32, letter| if flags >> bit & 1 != 0 { letter } else { b' ' };
    entry(index, branch.from, out);
    out.extend_from_slice(b" -> ");
    push_word(out, branch.to);
    out.push(b' ');
    push_decimal(out, flags >> 4 & 0xffff);
    out.extend_from_slice(b" cycles ");
    out.extend_from_slice(&[
        letter(0, b'M'),
        letter(1, b'P'),
        letter(3, b'A'),
        letter(2, b'T'),
        b' ',
    ]);
    put!(
        out,
        "{:x} {} {}\n",
        flags >> 34,
        kind_name(branch),
        speculation_name(branch).unwrap_or_default()
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_stand_in_their_columns() {
        let text = |flags| {
            let mut out = Vec::new();
            write_branch(
                1,
                &BranchEntry {
                    from: 0x10,
                    to: 0x20,
                    flags,
                },
                &mut out,
            );
            String::from_utf8(out)
                .unwrap()
                .split_once(" -> 0000000000000020 ")
                .unwrap()
                .1
                .to_owned()
        };
        assert_eq!(text(2 | 5 << 4), "5 cycles  P   0  \n");
        assert_eq!(
            text(1 | 1 << 20 | 1 << 24),
            "0 cycles M    0 COND SPEC_WRONG_PATH\n"
        );
        assert_eq!(
            text(12 | 3 << 20 | 2 << 24),
            "0 cycles   AT 0 IND NON_SPEC_CORRECT_PATH\n"
        );
        assert_eq!(
            text(15 << 20 | 1 << 26 | 1 << 34),
            "0 cycles      1 FAULT_DATA \n"
        );
    }
}
