//! A recorded call chain, its markers turned into modes.

use oxperf_abi::{CallchainContext, CpuMode};
use oxperf_wire::{BranchStack, Sample, Words};

/// A chain with a marker that says nothing known: its addresses belong nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ChainFault {
    /// The marker.
    pub(crate) marker: u64,
}

/// Calls `visit` for each address of a sample's call chain, innermost first, with its mode. A sample without a chain
/// has no address.
///
/// # Errors
/// The chain holds a marker that is not known; the addresses before it have been visited.
#[inline]
pub(crate) fn walk_chain(
    sample: &Sample<'_>,
    visit: impl FnMut(CpuMode, u64),
) -> Result<(), ChainFault> {
    sample
        .callchain
        .map_or(Ok(()), |words| walk_words(words, visit))
}

/// The calls that the CPU kept, where these stand for the callers of user code: the first words of the chain tell that
/// the kernel was entered from there.
#[inline]
pub(crate) fn kept_calls<'a>(sample: &Sample<'a>, first_words: usize) -> Option<BranchStack<'a>> {
    let calls = sample.branch_stack.filter(|stack| stack.call_stack)?;
    let user = |word: u64| CallchainContext::from_word(word) == Some(CallchainContext::User);
    sample
        .callchain?
        .iter()
        .take(first_words)
        .any(user)
        .then_some(calls)
}

/// As [`walk_chain`], with the callers of user code from the CPU, and beyond those from `beyond`, outermost first.
///
/// # Errors
/// As of [`walk_chain`].
pub(crate) fn walk_calls(
    mode: CpuMode,
    sample: &Sample<'_>,
    calls: &BranchStack<'_>,
    beyond: &[u64],
    mut visit: impl FnMut(CpuMode, u64),
) -> Result<(), ChainFault> {
    // The sample's own address is better than the first one of the chain, which may lie an instruction behind.
    let own = sample.ip.filter(|_| mode == CpuMode::User);
    let mut in_user = false;
    walk_chain(sample, |mode, address| match (mode, in_user) {
        (CpuMode::User, true) => {}
        (CpuMode::User, false) => {
            in_user = true;
            visit(CpuMode::User, own.unwrap_or(address));
            let callers = calls
                .entries()
                .map(|call| call.from)
                .chain(beyond.iter().rev().copied());
            callers.for_each(|address| visit(CpuMode::User, address));
        }
        _ => visit(mode, address),
    })
}

#[inline]
fn walk_words(words: Words<'_>, mut visit: impl FnMut(CpuMode, u64)) -> Result<(), ChainFault> {
    let mut mode = CpuMode::User;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match CallchainContext::from_word(word) {
            None => visit(mode, word),
            Some(CallchainContext::Hypervisor) => mode = CpuMode::Hypervisor,
            Some(CallchainContext::Kernel) => mode = CpuMode::Kernel,
            Some(CallchainContext::User) => mode = CpuMode::User,
            Some(CallchainContext::GuestKernel | CallchainContext::Guest) => {
                mode = CpuMode::GuestKernel
            }
            Some(CallchainContext::GuestUser) => mode = CpuMode::GuestUser,
            // The next word is a cookie; the user part is in another record.
            Some(CallchainContext::UserDeferred) => drop(words.next()),
            Some(CallchainContext::Unknown(marker)) => return Err(ChainFault { marker }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{BranchSampleType, EventAttr, SampleType};
    use oxperf_wire::{Endian, SampleLayout};

    fn walk(words: &[u64]) -> (Vec<(CpuMode, u64)>, bool) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut seen = Vec::new();
        let fault = walk_words(Words::new(&bytes, Endian::Little), |mode, ip| {
            seen.push((mode, ip))
        });
        (seen, fault.is_err())
    }

    #[test]
    fn markers_set_the_mode() {
        let (seen, fault) = walk(&[-128i64 as u64, 1, 2, -512i64 as u64, 3]);
        assert_eq!(
            seen,
            [
                (CpuMode::Kernel, 1),
                (CpuMode::Kernel, 2),
                (CpuMode::User, 3)
            ]
        );
        assert!(!fault);
    }

    #[test]
    fn cookies_are_no_addresses_and_unknown_markers_end_the_chain() {
        assert_eq!(walk(&[5, -640i64 as u64, 77]).0, [(CpuMode::User, 5)]);
        assert_eq!(
            walk(&[5, -7i64 as u64, 6]),
            (vec![(CpuMode::User, 5)], true)
        );
    }

    #[test]
    fn the_cpu_knows_the_callers_of_user_code_better() {
        let attr = EventAttr {
            sample_type: SampleType::IP | SampleType::CALLCHAIN | SampleType::BRANCH_STACK,
            branch_sample_type: BranchSampleType::CALL_STACK,
            ..EventAttr::default()
        };
        let layout = SampleLayout::new(&attr);
        let walk = |mode, words: &[u64]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let sample = layout.decode_sample(&bytes, Endian::Little).unwrap();
            let mut addresses = Vec::new();
            let take = |_, ip| addresses.push(ip);
            match kept_calls(&sample, 127) {
                Some(calls) => walk_calls(mode, &sample, &calls, &[8, 6], take).unwrap(),
                None => walk_chain(&sample, take).unwrap(),
            }
            addresses
        };
        let [kernel, user] = [-128i64, -512].map(|marker| marker as u64);
        let chain = [9, 5, kernel, 1, user, 2, 3, 2, 7, 8, 0, 5, 6, 0];
        assert_eq!(walk(CpuMode::User, &chain), [1, 9, 7, 5, 6, 8]);
        assert_eq!(walk(CpuMode::Kernel, &chain), [1, 2, 7, 5, 6, 8]);
        assert_eq!(walk(CpuMode::Kernel, &[9, 2, kernel, 1, 0]), [1]);
    }
}
