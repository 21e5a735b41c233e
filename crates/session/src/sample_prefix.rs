//! The prefixes of large samples: all that is kept of them where nobody looks at the rest.
//!
//! The fields of a prefix are next to the record's header, and the rest, a copy of the stack most of all, fills pages that
//! the kernel would have to map for a look at each header.

use oxperf_abi::{RecordType, SampleType};
use oxperf_data::{BufferedBytes, Damage, Framed, RawRecord, Records};
use oxperf_wire::{Endian, RecordHeader, SampleLayout, open_chain};

use crate::group_read::reads_counters;
use crate::{EventTable, SessionEvent};

/// Samples of so many bytes are large: to leave out the rest of a smaller one gains nothing.
const LARGE: usize = 1 << 10;

/// Cuts large samples to the fields that say who, when and where.
pub(crate) struct SamplePrefixes {
    events: EventTable,
    endian: Endian,
}

impl SamplePrefixes {
    pub(crate) fn new(events: &EventTable, endian: Endian) -> SamplePrefixes {
        SamplePrefixes {
            events: events.clone(),
            endian,
        }
    }

    /// `true` when samples are large by what was asked for: copies of stacks.
    pub(crate) fn pay(&self) -> bool {
        let copies_stacks = |event: &SessionEvent| {
            event.attr.sample_type.contains(SampleType::STACK_USER)
                && event.attr.sample_stack_user as usize >= LARGE
        };
        self.events.events().iter().any(copies_stacks)
    }

    /// Hands the records to `take`, samples without what is left out of them.
    pub(crate) fn of<'a, T>(
        &self,
        records: Records<'a>,
        take: impl FnOnce(&mut dyn Iterator<Item = Result<Framed<BufferedBytes<'a>>, Damage>>) -> T,
    ) -> T {
        records.condensed(|record| self.prefix_size(record), take)
    }

    /// Bytes of a record's body that are kept: the prefix of a large sample that decodes, but all of one whose delivery
    /// takes more than its prefix, and of every other record.
    fn prefix_size(&self, record: &RawRecord<'_>) -> usize {
        let body = record.body;
        if record.header.kind != RecordType::SAMPLE || body.len() < LARGE {
            return body.len();
        }
        let owner = self.events.owner_of_sample(body, self.endian);
        let event = owner
            .map(|owner| &self.events.events()[owner.0])
            .filter(|event| !reads_counters(event));
        let prefix = event.and_then(|event| prefix_of(body, &event.layout, self.endian));
        prefix.unwrap_or(body.len())
    }
}

/// `true` when all that is there of a sample is its prefix.
#[inline]
pub(crate) fn is_prefix(record: &RawRecord<'_>) -> bool {
    RecordHeader::SIZE + record.body.len() < record.header.size as usize
}

fn prefix_of(body: &[u8], layout: &SampleLayout, endian: Endian) -> Option<usize> {
    let sample = layout.decode_sample(body, endian).ok()?;
    let waits_for_callers = sample
        .callchain
        .is_some_and(|chain| open_chain(chain).is_some());
    Some(layout.head_size()).filter(|size| *size < body.len() && !waits_for_callers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{EventAttr, FileOffset, Misc, ReadFormat};
    use oxperf_data::{FeatureSet, Reader, Writer, WriterEvent};
    use oxperf_wire::Encoder;

    const ENDIAN: Endian = Endian::Little;

    /// For a recording of one event that samples so.
    fn prefixes(sample_type: SampleType) -> SamplePrefixes {
        let attr = EventAttr {
            sample_type,
            read_format: ReadFormat::ID,
            ..EventAttr::default()
        };
        let event = WriterEvent {
            attr,
            name: "cycles".into(),
            ids: Vec::new(),
        };
        let file = Writer::begin(Vec::new(), &[event])
            .unwrap()
            .finish(&FeatureSet::new())
            .unwrap();
        SamplePrefixes::new(&EventTable::new(&Reader::open(&file).unwrap()), ENDIAN)
    }

    fn record(body: &[u8]) -> RawRecord<'_> {
        let size = (RecordHeader::SIZE + body.len()) as u32;
        let header = RecordHeader {
            kind: RecordType::SAMPLE,
            misc: Misc(2),
            size,
        };
        RawRecord {
            offset: FileOffset(0),
            header,
            body,
            payload: &[],
        }
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
    fn prefixes_of_large_samples_are_kept() {
        let chained = prefixes(SampleType::IP | SampleType::CALLCHAIN | SampleType::STACK_USER);
        let large = sample(&[1, 2], 4096, 0);
        assert_eq!(chained.prefix_size(&record(&large)), 8);
        assert!(
            is_prefix(&RawRecord {
                body: &large[..8],
                ..record(&large)
            }) && !is_prefix(&record(&large))
        );
        let deferred = -640_i64 as u64;
        for whole in [
            sample(&[1], 64, 0),
            sample(&[1], 4096, 8),
            sample(&[1, deferred, 5], 4096, 0),
        ] {
            assert_eq!(chained.prefix_size(&record(&whole)), whole.len());
        }
        let counting = prefixes(
            SampleType::IP | SampleType::CALLCHAIN | SampleType::STACK_USER | SampleType::READ,
        );
        assert_eq!(counting.prefix_size(&record(&[0; 4096])), 4096);
    }
}
