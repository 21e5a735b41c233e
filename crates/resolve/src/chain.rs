//! A recorded call chain, its markers turned into modes.

use oxperf_abi::{CallchainContext, CpuMode};
use oxperf_wire::Words;

/// A chain with a marker that says nothing known: its addresses belong nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ChainFault {
    /// The marker.
    pub marker: u64,
}

/// Calls `visit` for each address, innermost first, with the mode that the last marker set.
///
/// # Errors
/// The chain holds a marker that is not known; the addresses before it have been visited.
#[inline]
pub fn walk_chain(words: Words<'_>, mut visit: impl FnMut(CpuMode, u64)) -> Result<(), ChainFault> {
    let mut mode = CpuMode::User;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match CallchainContext::from_word(word) {
            None => visit(mode, word),
            Some(CallchainContext::Hypervisor) => mode = CpuMode::Hypervisor,
            Some(CallchainContext::Kernel) => mode = CpuMode::Kernel,
            Some(CallchainContext::User) => mode = CpuMode::User,
            Some(CallchainContext::GuestKernel | CallchainContext::Guest) => mode = CpuMode::GuestKernel,
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
    use oxperf_wire::Endian;

    fn walk(words: &[u64]) -> (Vec<(CpuMode, u64)>, bool) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut seen = Vec::new();
        let fault = walk_chain(Words::new(&bytes, Endian::Little), |mode, ip| seen.push((mode, ip)));
        (seen, fault.is_err())
    }

    #[test]
    fn markers_set_the_mode() {
        let (seen, fault) = walk(&[-128i64 as u64, 1, 2, -512i64 as u64, 3]);
        assert_eq!(seen, [(CpuMode::Kernel, 1), (CpuMode::Kernel, 2), (CpuMode::User, 3)]);
        assert!(!fault);
    }

    #[test]
    fn cookies_are_no_addresses_and_unknown_markers_end_the_chain() {
        assert_eq!(walk(&[5, -640i64 as u64, 77]).0, [(CpuMode::User, 5)]);
        assert_eq!(walk(&[5, -7i64 as u64, 6]), (vec![(CpuMode::User, 5)], true));
    }
}
