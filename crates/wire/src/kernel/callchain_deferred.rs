//! The user part of call chains that samples left open.

use oxperf_abi::CallchainContext;

use crate::{Cursor, Encoder, WireError, Words};

/// User addresses for the samples whose chain ends with the same cookie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CallchainDeferred<'a> {
    /// The cookie of the open chains.
    pub cookie: u64,
    /// Addresses, innermost first, with marker words.
    pub chain: Words<'a>,
}

impl<'a> CallchainDeferred<'a> {
    /// Decodes the body.
    pub fn decode(cursor: &mut Cursor<'a>) -> Result<CallchainDeferred<'a>, WireError> {
        let (cookie, count) = (cursor.u64()?, cursor.u64()?);
        Ok(CallchainDeferred {
            cookie,
            chain: Words::new(cursor.items(count, 8)?, cursor.endian()),
        })
    }

    /// Appends the body.
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.cookie);
        encoder.u64(self.chain.len() as u64);
        self.chain.iter().for_each(|word| encoder.u64(word));
    }
}

/// The cookie of a sample's chain whose user part is in a record of its own: the word behind the marker that ends it.
#[inline]
pub fn open_chain(chain: Words<'_>) -> Option<u64> {
    let marker = chain.get(chain.len().checked_sub(2)?)?;
    let is_open = CallchainContext::from_word(marker) == Some(CallchainContext::UserDeferred);
    chain.get(chain.len() - 1).filter(|_| is_open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;
    use crate::kernel::round_trip;

    #[test]
    fn round_trips() {
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0];
        let record = CallchainDeferred {
            cookie: 3,
            chain: Words::new(&bytes, Endian::Little),
        };
        round_trip(&record, CallchainDeferred::encode, |cursor| {
            CallchainDeferred::decode(cursor).map(|read| assert_eq!(read, record))
        });
    }
}
