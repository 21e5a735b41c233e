//! True if some bytes can be a record of the recording at hand.
//!
//! Two tests. The quick one looks at a header and is passed by every record that a recorder writes, also by kinds
//! that are not known yet. The thorough one is for bytes after a damaged stretch: it looks at what each kind of
//! record must hold, and weighs as evidence that all of that is there.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use oxperf_abi::{EventId, RecordType};
use oxperf_wire::{RecordHeader, SampleLayout};

use super::EventEntry;
use super::framing::Framing;

/// The facts that are known about the records of a recording.
#[derive(Clone, Debug)]
pub(super) struct SanityCheck {
    pub(super) framing: Framing,
    /// Most bytes that a record may take with what follows outside of its size.
    pub(super) largest: u64,
    events: Option<Arc<Events>>,
}

/// The shapes of the records of each event.
#[derive(Debug)]
struct Events {
    layouts: Vec<SampleLayout>,
    by_id: HashMap<EventId, usize>,
}

/// The weight of one record as evidence. Garbage passes for one record now and then, hardly for several in a row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Evidence(u32);

impl Evidence {
    /// Its kind, its flags and its size are possible.
    const POSSIBLE: Evidence = Evidence(1);
    /// It also names an event of the recording.
    const NAMES_EVENT: Evidence = Evidence(2);
    /// Eight bytes that stand nowhere else.
    const MARK: Evidence = Evidence(3);
    /// Enough to go on where records are expected to begin.
    pub(super) const ENOUGH: Evidence = Evidence(4);
    /// Enough to go on at any other place.
    pub(super) const ENOUGH_OUT_OF_STEP: Evidence = Evidence(8);

    /// Returns whether it is enough where no further evidence follows, when `enough` is what is asked for
    /// elsewhere.
    pub(super) fn is_something(self, enough: Evidence) -> bool {
        self.0 >= enough.0 / Self::ENOUGH.0
    }

    pub(super) fn with(self, more: Evidence) -> Evidence {
        Evidence(self.0.saturating_add(more.0))
    }
}

impl SanityCheck {
    /// Records of any recording.
    pub(super) fn new(framing: Framing) -> SanityCheck {
        SanityCheck {
            framing,
            largest: u64::MAX,
            events: None,
        }
    }

    /// Records of these events, which must be all that the recording has.
    pub(super) fn with_events(self, entries: &[EventEntry]) -> SanityCheck {
        if entries.is_empty() {
            return self;
        }
        let ids = entries.iter().enumerate();
        let by_id = ids
            .flat_map(|(index, entry)| entry.ids.iter().map(move |id| (*id, index)))
            .collect();
        let layouts = entries
            .iter()
            .map(|entry| SampleLayout::new(&entry.stored.attr))
            .collect();
        SanityCheck {
            events: Some(Arc::new(Events { layouts, by_id })),
            ..self
        }
    }

    /// Records of no more than `largest` bytes.
    pub(super) fn at_most(self, largest: u64) -> SanityCheck {
        SanityCheck { largest, ..self }
    }

    /// The quick test: a kind that recorders use or may use one day, and a size that they give to one.
    #[inline]
    pub(super) fn sane(header: RecordHeader) -> bool {
        const LAST_KIND_TO_COME: u32 = 127;
        let whole_words = header.size.is_multiple_of(8) || header.kind == RecordType::COMPRESSED;
        header.kind.0.wrapping_sub(1) < LAST_KIND_TO_COME && header.size >= 8 && whole_words
    }

    /// The part of the thorough test that needs the header alone.
    pub(super) fn possible(header: RecordHeader) -> bool {
        let Some(sizes) = body_sizes(header.kind) else {
            return false;
        };
        let Some(body) = header.size.checked_sub(Framing::HEADER as u32) else {
            return false;
        };
        let whole_words = header.size.is_multiple_of(8) || any_size(header.kind);
        let flags = header.misc.0 & 7 < 6 && (header.misc.0 == 0 || !is_mark(header.kind));
        sizes.contains(&body) && whole_words && flags
    }

    /// The thorough test; `None` when this cannot be a record.
    pub(super) fn evidence(&self, header: RecordHeader, body: &[u8]) -> Option<Evidence> {
        if !Self::possible(header) {
            return None;
        }
        match header.kind {
            kind if is_mark(kind) => Some(Evidence::MARK),
            RecordType::AUXTRACE => self.trace(body),
            RecordType::SAMPLE => self.sample(body),
            kind if kind.is_user() => Some(Evidence::POSSIBLE),
            _ => self.kernel_record(body),
        }
    }

    /// The head of an AUX trace: the size of what follows, and a word that nobody uses.
    fn trace(&self, body: &[u8]) -> Option<Evidence> {
        let size = self.framing.number(body, 8);
        let unused = self.framing.number(body.get(36..40)?, 4);
        (size.is_multiple_of(8) && unused == 0).then_some(Evidence::ENOUGH)
    }

    /// A sample decodes as one of the event that it names.
    fn sample(&self, body: &[u8]) -> Option<Evidence> {
        let Some(events) = &self.events else {
            return Some(Evidence::POSSIBLE);
        };
        let first = events.layouts.first()?;
        let word = first.sample_id_word();
        let id = word.map(|word| {
            body.get(word * 8..)
                .map_or(0, |rest| self.framing.number(rest, 8))
        });
        let (layout, evidence) = match id.filter(|_| !events.by_id.is_empty()) {
            Some(id) => (
                events.layouts.get(*events.by_id.get(&EventId(id))?)?,
                Evidence::NAMES_EVENT,
            ),
            None => (first, Evidence::POSSIBLE),
        };
        layout.decode_sample(body, self.framing.endian).ok()?;
        Some(evidence)
    }

    /// Another record of the kernel ends with who, when and where; tools leave that zero in those that they make up.
    fn kernel_record(&self, body: &[u8]) -> Option<Evidence> {
        let Some(events) = &self.events else {
            return Some(Evidence::POSSIBLE);
        };
        let first = events.layouts.first().filter(|first| first.sample_id_all());
        let Some(layout) = first else {
            return Some(Evidence::POSSIBLE);
        };
        if body.len() < layout.trailer_size() {
            return None;
        }
        match layout
            .sample_id(body, self.framing.endian)
            .id
            .filter(|_| !events.by_id.is_empty())
        {
            None | Some(EventId(0)) => Some(Evidence::POSSIBLE),
            Some(id) => events
                .by_id
                .contains_key(&id)
                .then_some(Evidence::NAMES_EVENT),
        }
    }
}

/// Kinds without a body.
fn is_mark(kind: RecordType) -> bool {
    matches!(kind, RecordType::FINISHED_ROUND | RecordType::FINISHED_INIT)
}

/// Kinds that need not come in whole words.
fn any_size(kind: RecordType) -> bool {
    let of_any_size = [
        RecordType::COMPRESSED,
        RecordType::HEADER_TRACING_DATA,
        RecordType::HEADER_FEATURE,
    ];
    of_any_size.contains(&kind) || kind.0 > LAST_WITH_16_BITS
}

/// Types above this are simpleperf's.
const LAST_WITH_16_BITS: u32 = 32768;
/// The last one that simpleperf has by now, and some to come.
const LAST_OF_SIMPLEPERF: u32 = LAST_WITH_16_BITS + 64;
/// Larger records than this simpleperf does not write.
const LARGEST_OF_SIMPLEPERF: u32 = 64 << 20;
/// The longest body where a size has 16 bits.
const ANY: u32 = u16::MAX as u32;

/// Fewest and most bytes of a body of a known kind.
fn body_sizes(kind: RecordType) -> Option<RangeInclusive<u32>> {
    let of_table = oxperf_wire::body_sizes(kind);
    of_table.or_else(|| match kind {
        RecordType::COMPRESSED => Some(1..=ANY),
        kind if (LAST_WITH_16_BITS + 1..=LAST_OF_SIMPLEPERF).contains(&kind.0) => {
            Some(0..=LARGEST_OF_SIMPLEPERF)
        }
        kind => kind.name().map(|_| 8..=ANY),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{AttrFlags, EventAttr, Misc, SampleType};
    use oxperf_wire::{Endian, StoredAttr};

    fn header(kind: u32, misc: u16, size: u32) -> RecordHeader {
        RecordHeader {
            kind: RecordType(kind),
            misc: Misc(misc),
            size,
        }
    }

    /// Two events with ids 5 and 6: samples of id, address; trailers of an id.
    fn plausible() -> SanityCheck {
        let attr = EventAttr {
            sample_type: SampleType::IDENTIFIER | SampleType::IP,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..EventAttr::default()
        };
        let entry = |id| EventEntry {
            stored: StoredAttr {
                attr,
                size: 136,
                extra: Vec::new(),
            },
            ids: vec![EventId(id)],
            name: None,
        };
        SanityCheck::new(Framing {
            endian: Endian::Little,
        })
        .with_events(&[entry(5), entry(6)])
    }

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn the_quick_test_is_for_every_recorder() {
        let sane = |kind, size| SanityCheck::sane(header(kind, 0, size));
        assert!(sane(9, 40) && sane(68, 8) && sane(100, 16) && sane(81, 1001));
        assert!(
            !sane(0, 8) && !sane(9, 0) && !sane(9, 41) && !sane(128, 16) && !sane(0x6f6f_6f6f, 16)
        );
    }

    #[test]
    fn each_kind_has_its_sizes_and_flags() {
        let possible = |kind, misc, size| SanityCheck::possible(header(kind, misc, size));
        assert!(
            possible(68, 0, 8)
                && possible(80, 0, 84)
                && possible(4, 0, 32)
                && possible(1, 0x2002, 56)
                && possible(32770, 0, 70_001)
        );
        assert!(
            !possible(68, 0, 16)
                && !possible(68, 1, 8)
                && !possible(4, 0, 24)
                && !possible(4, 0, 104)
        );
        assert!(!possible(9, 7, 16) && !possible(100, 0, 16) && !possible(32768 + 99, 0, 16));
    }

    #[test]
    fn samples_and_trailers_name_events_of_the_recording() {
        let plausible = plausible();
        let sample = |id| plausible.evidence(header(9, 2, 24), &words(&[id, 0x1000]));
        assert_eq!((sample(6), sample(7)), (Some(Evidence::NAMES_EVENT), None));
        let exit = |id| plausible.evidence(header(4, 0, 40), &words(&[1, 1, 9, id]));
        assert_eq!(
            (exit(5), exit(0), exit(7)),
            (Some(Evidence::NAMES_EVENT), Some(Evidence::POSSIBLE), None)
        );
        assert_eq!(plausible.evidence(header(9, 2, 16), &words(&[5])), None);
    }

    #[test]
    fn the_head_of_a_trace_tells_enough() {
        let plausible = plausible();
        let trace =
            |size, unused| plausible.evidence(header(71, 0, 48), &words(&[size, 0, 0, 0, unused]));
        assert_eq!(
            (trace(4096, 0), trace(4097, 0)),
            (Some(Evidence::ENOUGH), None)
        );
        assert_eq!(trace(4096, 1 << 32), None);
    }
}
