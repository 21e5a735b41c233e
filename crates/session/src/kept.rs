//! What is kept of a record until its turn: of a large sample the head alone, where nobody looks at the rest.
//!
//! The fields of a head are next to the record's header, and the rest, a copy of the stack most of all, fills pages that
//! the kernel has to map anew for whoever comes back to them.

use oxperf_wire::{Endian, SampleLayout, open_chain};

use crate::SessionEvent;
use crate::group_read::reads_counters;

/// Samples of so many bytes are large: to copy the head of a smaller one gains nothing.
const LARGE: usize = 1 << 10;

/// The bytes behind a record's header, as far as they are kept.
#[derive(Debug)]
pub(crate) enum Kept<B> {
    /// All of them.
    Whole(B),
    /// The fields that say who, when and where of a sample that decodes.
    Head(Box<[u8]>),
}

impl<B: AsRef<[u8]>> Kept<B> {
    /// Keeps the head of a sample, but all of one that is not large, that does not decode, or whose delivery takes more
    /// than its head.
    pub(crate) fn of_sample(body: B, event: &SessionEvent, endian: Endian) -> Kept<B> {
        let bytes = body.as_ref();
        if bytes.len() < LARGE || reads_counters(event) {
            return Kept::Whole(body);
        }
        let head = head_of(bytes, &event.layout, endian);
        head.map_or(Kept::Whole(body), Kept::Head)
    }

    pub(crate) fn is_head(&self) -> bool {
        matches!(self, Kept::Head(_))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Kept::Whole(body) => body.as_ref(),
            Kept::Head(head) => head,
        }
    }
}

fn head_of(body: &[u8], layout: &SampleLayout, endian: Endian) -> Option<Box<[u8]>> {
    let sample = layout.decode_sample(body, endian).ok()?;
    let waits_for_callers = sample.callchain.is_some_and(|chain| open_chain(chain).is_some());
    body.get(..layout.head_size()).filter(|_| !waits_for_callers).map(Box::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{EventAttr, ReadFormat, SampleType};
    use oxperf_wire::Encoder;

    const ENDIAN: Endian = Endian::Little;

    fn event(sample_type: SampleType) -> SessionEvent {
        let read_format = ReadFormat::ID;
        let attr = EventAttr { sample_type, read_format, ..EventAttr::default() };
        SessionEvent { attr, layout: SampleLayout::new(&attr), name: String::new() }
    }

    /// An address, a chain and a stack of so many bytes, of which `missing` are not there.
    fn sample(chain: &[u64], size: u64, missing: usize) -> Vec<u8> {
        let mut body = Encoder::new(ENDIAN);
        body.u64(0x1000);
        body.u64(chain.len() as u64);
        chain.iter().for_each(|word| body.u64(*word));
        body.u64(size);
        body.bytes(&vec![7; size as usize]);
        body.u64(size);
        let mut bytes = body.into_bytes();
        bytes.truncate(bytes.len() - missing);
        bytes
    }

    #[test]
    fn heads_of_large_samples_are_kept() {
        let chained = event(SampleType::IP | SampleType::CALLCHAIN | SampleType::STACK_USER);
        let kept = |body: Vec<u8>| Kept::of_sample(body, &chained, ENDIAN);
        let large = kept(sample(&[1, 2], 4096, 0));
        assert_eq!((large.is_head(), large.bytes()), (true, &0x1000_u64.to_le_bytes()[..]));
        let deferred = -640_i64 as u64;
        let whole = [sample(&[1], 64, 0), sample(&[1], 4096, 8), sample(&[1, deferred, 5], 4096, 0)];
        assert!(whole.into_iter().all(|body| !kept(body).is_head()));
        let counting =
            event(SampleType::IP | SampleType::CALLCHAIN | SampleType::STACK_USER | SampleType::READ);
        assert!(!Kept::of_sample(vec![0; 4096], &counting, ENDIAN).is_head());
    }
}
