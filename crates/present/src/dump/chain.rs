//! Call chains: of frame pointers, and of the CPU's stack of branches.

use crate::text::number::{push_decimal, push_word};
use oxperf_abi::{BranchSampleType, CallchainContext};
use oxperf_session::SessionEvent;
use oxperf_wire::{BranchStack, Sample, Words, open_chain};

use crate::text::number::push_number;

/// Appends both chains of a sample.
pub(super) fn write(sample: &Sample<'_>, event: &SessionEvent, out: &mut Vec<u8>) {
    let Some(chain) = sample.callchain else {
        return;
    };
    if let Some(branches) = sample.branch_stack.filter(|_| is_call_stack(event)) {
        call_stack_chain(&chain, &branches, out);
    }
    words(&chain, out);
    if open_chain(chain).is_some() {
        out.extend_from_slice(b"...... (deferred)\n");
    }
}

/// Appends the words of a chain with the names of its markers.
pub(super) fn words(chain: &Words<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"... FP chain: nr:");
    push_decimal(out, chain.len() as u64);
    out.push(b'\n');
    for (index, word) in chain.iter().enumerate() {
        entry(index, word, out);
        if let Some(name) = context_name(word) {
            out.extend_from_slice(name.as_bytes());
        }
        out.push(b'\n');
    }
}

/// True if the CPU keeps its branches as a stack of calls.
pub(super) fn is_call_stack(event: &SessionEvent) -> bool {
    event
        .attr
        .branch_sample_type
        .contains(BranchSampleType::CALL_STACK)
}

/// Appends `.....  N: ADDRESS`; the line goes on.
pub(super) fn entry(index: usize, word: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"..... ");
    push_number(out, index as u64, 2, b' ');
    out.extend_from_slice(b": ");
    push_word(out, word);
}

/// The chain up to the user part, then the branches in its stead.
fn call_stack_chain(chain: &Words<'_>, branches: &BranchStack<'_>, out: &mut Vec<u8>) {
    let is_user = |word| CallchainContext::from_word(word) == Some(CallchainContext::User);
    let Some(user) = chain.iter().position(is_user) else {
        return;
    };
    let Some(newest) = branches.entries().next() else {
        return;
    };
    let kernel = chain.iter().take(user + 1);
    let words = kernel
        .chain([newest.to])
        .chain(branches.entries().map(|branch| branch.from));
    out.extend_from_slice(b"... LBR call chain: nr:");
    push_decimal(out, (user + 2 + branches.entries().count()) as u64);
    out.push(b'\n');
    for (index, word) in words.enumerate() {
        entry(index, word, out);
        out.push(b'\n');
    }
}

#[inline]
fn context_name(word: u64) -> Option<&'static str> {
    Some(match CallchainContext::from_word(word)? {
        CallchainContext::Hypervisor => " (PERF_CONTEXT_HV)",
        CallchainContext::Kernel => " (PERF_CONTEXT_KERNEL)",
        CallchainContext::User => " (PERF_CONTEXT_USER)",
        CallchainContext::UserDeferred => " (PERF_CONTEXT_USER_DEFERRED)",
        CallchainContext::Guest => " (PERF_CONTEXT_GUEST)",
        CallchainContext::GuestKernel => " (PERF_CONTEXT_GUEST_KERNEL)",
        CallchainContext::GuestUser => " (PERF_CONTEXT_GUEST_USER)",
        CallchainContext::Unknown(_) => return None,
    })
}
