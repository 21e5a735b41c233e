//! Bytes that are kept for another run: how they are sealed, and the numbers in them.
//!
//! A seal says what kind of bytes these are and what they belong to: an object, or a kernel, in one state. Bytes of another
//! kind, of another owner, or with damage in them are refused as a whole.

pub(crate) mod identity;
pub(crate) mod objects;
pub(crate) mod table;

use std::sync::Arc;

use oxperf_abi::BuildId;

/// An answer for the cache of answers, with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    /// The object, or the boot of the machine.
    pub of: BuildId,
    /// The topic of the answer.
    pub topic: Topic,
    /// The bytes that tell it to another run.
    pub bytes: Vec<u8>,
}

/// Topics of answers about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// Its symbols.
    Symbols,
    /// The source lines and inlined functions that were asked for.
    Sources,
}

/// Gives what another run has learned of an object, or of the kernel in this boot.
#[derive(Clone)]
pub(crate) struct CacheLookup(
    pub(crate) Arc<dyn Fn(BuildId, Topic) -> Option<Vec<u8>> + Send + Sync>,
);

impl std::fmt::Debug for CacheLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recall")
    }
}

/// The beginning of sealed bytes: their kind, with the version of their form.
pub(crate) type Kind = [u8; 8];

/// The content with its seal.
pub(crate) fn seal(kind: &Kind, owner: &[u8], content: &[u8]) -> Vec<u8> {
    let mut sealed = Vec::with_capacity(32 + owner.len() + content.len());
    push(&mut sealed, owner.len() as u64);
    sealed.extend_from_slice(owner);
    sealed.extend_from_slice(content);
    [kind, &checksum(&sealed).to_le_bytes(), &sealed[..]].concat()
}

/// The content of sealed bytes.
pub(crate) fn open<'a>(kind: &Kind, owner: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (sum, mut sealed) = bytes.strip_prefix(kind)?.split_first_chunk::<8>()?;
    let whole = u64::from_le_bytes(*sum) == checksum(sealed);
    let size = usize::try_from(pull(&mut sealed)?).ok()?;
    let (found, content) = sealed.split_at_checked(size)?;
    // Fuzzing looks behind the seal: no change to the bytes would leave that whole.
    (whole && found == owner || cfg!(fuzzing)).then_some(content)
}

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn push(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the front.
pub(crate) fn pull(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// FNV-1a over words of eight bytes: finds damage, proves nothing.
fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words
        .iter()
        .chain([&last])
        .map(|word| u64::from_le_bytes(*word));
    let sum = words.fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| mix(sum ^ word));
    mix(sum ^ bytes.len() as u64)
}

/// The high bits, where a product gathers, go on among the low ones.
fn mix(value: u64) -> u64 {
    let product = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_opens_for_its_owner_alone() {
        let bytes = seal(b"kind   1", b"owner", b"some content");
        assert_eq!(
            open(b"kind   1", b"owner", &bytes),
            Some(&b"some content"[..])
        );
        assert_eq!(open(b"kind   2", b"owner", &bytes), None);
        assert_eq!(open(b"kind   1", b"own", &bytes), None);
        assert_eq!(open(b"kind   1", b"owners", &bytes), None);
    }

    #[test]
    fn every_damage_is_found() {
        let bytes = seal(b"kind   1", b"owner", b"some content");
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                assert_eq!(open(b"kind   1", b"owner", &damaged), None, "byte {at}");
            }
            assert_eq!(
                open(b"kind   1", b"owner", &bytes[..at]),
                None,
                "cut at {at}"
            );
        }
    }
}
