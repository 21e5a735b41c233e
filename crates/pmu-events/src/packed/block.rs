//! The events of one model to and from the bytes of a block.
//!
//! A block is a list of columns, each in the order of the events, because columns compress better than rows. Names are
//! what is different from the name before; terms and all other texts are places in lists of the distinct ones.

use super::MAX_BLOCK;
use super::bytes::{Cursor, put_number, put_text};
use crate::entry::TableEvent;
use crate::store::{EventRow, Span, StoreBuilder};
use std::collections::{BTreeMap, BTreeSet};

/// An event to be packed; the fields are those of [`TableEvent`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PackedEvent {
    /// [`TableEvent::name`].
    pub name: String,
    /// [`TableEvent::pmu`].
    pub pmu: String,
    /// [`TableEvent::terms`].
    pub terms: String,
    /// [`TableEvent::topic`].
    pub topic: String,
    /// [`TableEvent::deprecated`].
    pub deprecated: bool,
    /// [`TableEvent::per_package`].
    pub per_package: bool,
    /// [`TableEvent::counters`].
    pub counters: Option<String>,
    /// [`TableEvent::precise`].
    pub precise: Option<u8>,
}

impl From<TableEvent<'_>> for PackedEvent {
    fn from(event: TableEvent<'_>) -> PackedEvent {
        PackedEvent {
            name: event.name.to_owned(),
            pmu: event.pmu.to_owned(),
            terms: event.terms.to_owned(),
            topic: event.topic.to_owned(),
            deprecated: event.deprecated,
            per_package: event.per_package,
            counters: event.counters.map(str::to_owned),
            precise: event.precise,
        }
    }
}

/// Bits of the byte of flags. Above them stands the precision and one, or 0 where none is said.
const DEPRECATED: u8 = 1;
const PER_PACKAGE: u8 = 2;
const PRECISE_SHIFT: u32 = 2;

pub(super) fn encode(events: &[PackedEvent]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_number(&mut bytes, events.len());
    put_fronts(&mut bytes, events.iter().map(|event| event.name.as_str()));
    put_column(&mut bytes, events, |event| &event.terms);
    put_column(&mut bytes, events, |event| &event.pmu);
    put_column(&mut bytes, events, |event| &event.topic);
    put_column(&mut bytes, events, |event| {
        event.counters.as_deref().unwrap_or_default()
    });
    bytes.extend(events.iter().map(flags));
    bytes
}

fn flags(event: &PackedEvent) -> u8 {
    let deprecated = if event.deprecated { DEPRECATED } else { 0 };
    let per_package = if event.per_package { PER_PACKAGE } else { 0 };
    let precise = event
        .precise
        .map_or(0, |precise| (precise + 1) << PRECISE_SHIFT);
    deprecated | per_package | precise
}

/// Texts as the length that each shares with the one before, then the rest of each.
fn put_fronts<'t>(bytes: &mut Vec<u8>, texts: impl Iterator<Item = &'t str>) {
    let (mut rests, mut before) = (Vec::new(), "");
    for text in texts {
        let shared = shared_length(before, text);
        put_number(bytes, shared);
        put_text(&mut rests, &text[shared..]);
        before = text;
    }
    bytes.extend(rests);
}

/// The length of the common beginning, in whole characters.
fn shared_length(a: &str, b: &str) -> usize {
    let same = a.char_indices().zip(b.chars());
    let mut different = same.filter(|((_, a), b)| a != b);
    let first = different.next().map(|((at, _), _)| at);
    first.unwrap_or(a.len().min(b.len()))
}

/// The distinct texts of a column in order, then the place of each event's text in two bytes, low bytes first.
fn put_column<'e>(
    bytes: &mut Vec<u8>,
    events: &'e [PackedEvent],
    text: impl Fn(&'e PackedEvent) -> &'e str,
) {
    let distinct: BTreeSet<&str> = events.iter().map(&text).collect();
    put_number(bytes, distinct.len());
    put_fronts(bytes, distinct.iter().copied());
    let places: BTreeMap<&str, usize> = distinct.into_iter().zip(0..).collect();
    let places: Vec<usize> = events.iter().map(|event| places[text(event)]).collect();
    bytes.extend(places.iter().map(|place| *place as u8));
    bytes.extend(places.iter().map(|place| (*place >> 8) as u8));
}

/// Adds the events of a block to a store; `None` for bytes that are no block.
pub(super) fn decode(bytes: &[u8], store: &mut StoreBuilder) -> Option<()> {
    let mut cursor = Cursor::new(bytes);
    let count = cursor.number()?;
    let names = fronts(&mut cursor, count, store)?;
    let terms = column(&mut cursor, count, store)?;
    let pmus = column(&mut cursor, count, store)?;
    let topics = column(&mut cursor, count, store)?;
    let counters = column(&mut cursor, count, store)?;
    let flags = cursor.take(count)?;
    store.expect_rows(count);
    for (index, flags) in flags.iter().enumerate() {
        store.row(EventRow {
            name: *names.get(index)?,
            pmu: pmus.get(index)?,
            terms: terms.get(index)?,
            topic: topics.get(index)?,
            counters: Some(counters.get(index)?).filter(|span| !span.is_empty()),
            precise: (flags >> PRECISE_SHIFT).checked_sub(1),
            deprecated: flags & DEPRECATED != 0,
            per_package: flags & PER_PACKAGE != 0,
            scale_unit: None,
            compat: None,
            brief: None,
            long: None,
        });
    }
    Some(())
}

/// Texts that [`put_fronts`] wrote, taken into the store.
fn fronts(cursor: &mut Cursor<'_>, count: usize, store: &mut StoreBuilder) -> Option<Vec<Span>> {
    let (mut shared, mut repeated) = (Vec::with_capacity(count.min(cursor.left())), 0_usize);
    for _ in 0..count {
        let length = cursor.number()?;
        repeated = repeated.saturating_add(length);
        shared.push(length);
    }
    // Room for all of it, unless the lengths make no sense.
    let room = repeated.min(MAX_BLOCK as usize) + cursor.left();
    let mut texts = Vec::with_capacity(room);
    let mut starts = Vec::with_capacity(shared.len() + 1);
    starts.push(0);
    let mut before = 0;
    for length in &shared {
        let start = texts.len();
        let end = before + length;
        // Checked first: copying does not.
        texts.get(before..end)?;
        texts.extend_from_within(before..end);
        texts.extend_from_slice(cursor.bytes()?);
        starts.push(texts.len());
        before = start;
    }
    // All at once: most texts are short.
    let texts = String::from_utf8(texts).ok()?;
    let are_texts = starts.iter().all(|end| texts.is_char_boundary(*end));
    let whole = store.append_all(texts).filter(|_| are_texts)?;
    let mut spans = Vec::with_capacity(shared.len());
    for ends in starts.windows(2) {
        spans.push(whole.part(ends[0], ends[1])?);
    }
    Some(spans)
}

/// A column: distinct texts and the place of each event's.
struct Column<'a> {
    distinct: Vec<Span>,
    low: &'a [u8],
    high: &'a [u8],
}

impl Column<'_> {
    fn get(&self, index: usize) -> Option<Span> {
        let place = u16::from_le_bytes([*self.low.get(index)?, *self.high.get(index)?]);
        self.distinct.get(usize::from(place)).copied()
    }
}

fn column<'a>(
    cursor: &mut Cursor<'a>,
    count: usize,
    store: &mut StoreBuilder,
) -> Option<Column<'a>> {
    let distinct = cursor.number()?;
    Some(Column {
        distinct: fronts(cursor, distinct, store)?,
        low: cursor.take(count)?,
        high: cursor.take(count)?,
    })
}
