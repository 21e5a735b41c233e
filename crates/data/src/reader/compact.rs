//! Records of which the beginnings are kept alone: read ahead of whoever takes them, on another thread.
//!
//! Most bytes of a recording with copies of stacks are looked at by nobody who only counts. To have their pages mapped
//! takes longer than to count: so another thread does it, and what is left lies closely packed.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::Builder;

use oxperf_abi::FileOffset;
use oxperf_wire::RecordHeader;

use super::{BufferedBytes, Framed, RawRecord, Records};
use crate::Damage;

/// Bytes of the file that are read at a time.
const STRETCH: u64 = 1 << 20;
/// Stretches that may wait for whoever takes the records.
const MOST_WAITING: usize = 4;

impl<'a> Records<'a> {
    /// Hands the records to `take`, each with as many bytes of its body as `keep` says; its header is as it was, and what
    /// follows outside of its size is left out. Who takes the records need not take all.
    pub fn condensed<T>(
        self,
        keep: impl Fn(&RawRecord<'_>) -> usize + Sync,
        take: impl FnOnce(&mut dyn Iterator<Item = Result<Framed<BufferedBytes<'a>>, Damage>>) -> T,
    ) -> T {
        let keep = &keep;
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(MOST_WAITING);
            let ahead = self.clone();
            match Builder::new().spawn_scoped(scope, move || ahead.condense(keep, &sender)) {
                Ok(_) => take(&mut items(receiver)),
                // Without a thread that reads ahead, they are read when they are taken.
                Err(_) => take(&mut self.map(|item| item.map(|raw| beginning(raw, keep(&raw))))),
            }
        })
    }

    /// Reads to the end, or until nobody takes what it sends.
    fn condense(mut self, keep: &impl Fn(&RawRecord<'_>) -> usize, sender: &SyncSender<Condensed>) {
        loop {
            let until = FileOffset(self.offset().0.saturating_add(STRETCH));
            let mut stretch = Condensed::default();
            while self.offset() < until {
                let Some(item) = self.next() else { break };
                stretch.add(item, keep);
            }
            if stretch.records.is_empty() || sender.send(stretch).is_err() {
                return;
            }
        }
    }
}

/// A record with the first bytes of its body, and without what follows outside of its size.
fn beginning(raw: RawRecord<'_>, kept: usize) -> Framed<BufferedBytes<'_>> {
    Framed::from(RawRecord {
        body: raw.body.get(..kept).unwrap_or(raw.body),
        payload: &[],
        ..raw
    })
}

/// A stretch of records.
#[derive(Debug, Default)]
struct Condensed {
    records: Vec<Result<Place, Damage>>,
    /// The parts of the bodies that are kept, one behind the other.
    bytes: Vec<u8>,
}

/// A record, and where what is kept of its body stands.
#[derive(Debug)]
struct Place {
    offset: FileOffset,
    header: RecordHeader,
    kept: Range<usize>,
}

impl Condensed {
    fn add(&mut self, item: Result<RawRecord<'_>, Damage>, keep: impl Fn(&RawRecord<'_>) -> usize) {
        self.records.push(item.map(|raw| {
            let start = self.bytes.len();
            self.bytes
                .extend_from_slice(raw.body.get(..keep(&raw)).unwrap_or(raw.body));
            Place {
                offset: raw.offset,
                header: raw.header,
                kept: start..self.bytes.len(),
            }
        }));
    }
}

/// The records of all stretches that come.
fn items<'a>(
    stretches: Receiver<Condensed>,
) -> impl Iterator<Item = Result<Framed<BufferedBytes<'a>>, Damage>> {
    stretches.into_iter().flat_map(|stretch| {
        let bytes = Arc::new(stretch.bytes);
        stretch.records.into_iter().map(move |item| {
            let Place {
                offset,
                header,
                kept,
            } = item?;
            Ok(Framed {
                offset,
                header,
                body: BufferedBytes::part_of(&bytes, kept),
                payload: BufferedBytes::borrowed(&[]),
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::framing::Framing;
    use super::super::sanity::SanityCheck;
    use super::*;
    use crate::Section;
    use oxperf_wire::Endian;

    /// Large and small records, with something broken in between.
    fn recording() -> Vec<u8> {
        let mut bytes = Vec::new();
        for count in 0..9000_u64 {
            let size = if count % 7 == 0 {
                48
            } else {
                2400 + count % 5 * 8
            };
            bytes.extend(u64::to_le_bytes(9 | size << 48));
            (1..size / 8).for_each(|word| bytes.extend(u64::to_le_bytes(count << 32 | word)));
        }
        bytes[5_000_000..5_004_000].fill(0xff);
        bytes
    }

    #[test]
    fn beginnings_come_in_the_order_of_the_file() {
        let bytes = recording();
        let section = Section {
            offset: 0,
            size: bytes.len() as u64,
        };
        let image = Records::new(
            &bytes,
            section,
            SanityCheck::new(Framing {
                endian: Endian::Little,
            }),
        );
        let keep = |raw: &RawRecord<'_>| {
            if raw.body.len() > 1000 {
                24
            } else {
                raw.body.len()
            }
        };
        let told = |raw: RawRecord<'_>| (raw.offset, raw.header, raw.body[..keep(&raw)].to_vec());
        let expected: Vec<_> = image.clone().map(|item| item.map(told)).collect();
        assert!(expected.iter().any(Result::is_err));
        let found: Vec<_> = image.clone().condensed(keep, |items| {
            let items = items.map(|item| {
                item.map(|record| (record.offset, record.header, record.body.as_ref().to_vec()))
            });
            items.collect()
        });
        assert!(found == expected);
        let first = image.condensed(keep, |items| {
            items.next().map(|item| item.map(|record| record.offset))
        });
        assert_eq!(first, Some(Ok(FileOffset(0))));
    }
}
