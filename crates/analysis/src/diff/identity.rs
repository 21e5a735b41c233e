//! Which rows of different profiles are about the same.
//!
//! Every text of every profile gets one number; a row is the numbers of its keys, joined one after the other.

use rustc_hash::FxHashMap;

use super::Side;
use crate::hist::{Row, SortKey};
use oxperf_profile::{Detail, Profile};

/// What a key says of a row: a text's number, a number, or nothing; nothing for keys that compare no recordings.
type Value = Option<i64>;

/// The numbers of all texts, and of all rows that were met.
pub(super) struct Identities {
    keys: Vec<SortKey>,
    texts: Texts,
    /// A row so far and what the next key says.
    joined: FxHashMap<(usize, Value), usize>,
    /// The numbers of the joined that are whole rows.
    rows: FxHashMap<usize, usize>,
}

impl Identities {
    pub(super) fn new(sides: &[Side<'_>], keys: &[SortKey]) -> Identities {
        let texts = Texts::new(sides);
        Identities {
            keys: keys.to_vec(),
            texts,
            joined: FxHashMap::default(),
            rows: FxHashMap::default(),
        }
    }

    /// The number of a row; the next one for a row that was not met before.
    pub(super) fn of(&mut self, side: usize, profile: &Profile, row: &Row) -> usize {
        let mut sofar = 0;
        for &key in &self.keys {
            let value = self.texts.value(side, profile, key, row);
            let next = self.joined.len() + 1;
            sofar = *self.joined.entry((sofar, value)).or_insert(next);
        }
        let next = self.rows.len();
        *self.rows.entry(sofar).or_insert(next)
    }

    /// How values sort.
    pub(super) fn ranks(&self) -> Ranks<'_> {
        let mut order: Vec<usize> = (0..self.texts.known.len()).collect();
        order.sort_unstable_by(|&a, &b| self.texts.known[a].cmp(&self.texts.known[b]));
        let mut ranks = vec![0; order.len()];
        order
            .iter()
            .zip(0..)
            .for_each(|(&text, rank)| ranks[text] = rank);
        Ranks {
            texts: &self.texts,
            ranks,
        }
    }
}

/// How values sort: texts by their letters, numbers as they are, nothing last.
pub(super) struct Ranks<'a> {
    texts: &'a Texts,
    ranks: Vec<i64>,
}

impl Ranks<'_> {
    pub(super) fn of(&self, side: usize, profile: &Profile, key: SortKey, row: &Row) -> i64 {
        match self.texts.value(side, profile, key, row) {
            None => i64::MAX,
            Some(text) if is_text(key) => {
                self.ranks.get(text as usize).copied().unwrap_or(i64::MAX)
            }
            Some(number) => number,
        }
    }
}

const fn is_text(key: SortKey) -> bool {
    !matches!(key, SortKey::Thread | SortKey::Process | SortKey::Number(_))
}

/// The texts of all sides, each once.
struct Texts {
    known: Vec<String>,
    sides: Vec<SideTexts>,
}

/// The numbers of one side's texts.
struct SideTexts {
    comms: Vec<u32>,
    dsos: Vec<u32>,
    symbols: Vec<u32>,
    sources: Vec<u32>,
    details: Vec<u32>,
}

impl Texts {
    fn new(sides: &[Side<'_>]) -> Texts {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut known = Vec::new();
        let mut number = |text| {
            *numbers.entry(text).or_insert_with(|| {
                known.push(String::from(text));
                known.len() as u32 - 1
            })
        };
        let sides = sides.iter().map(|Side { profile, .. }| SideTexts {
            comms: profile.comms.iter().map(|text| number(text)).collect(),
            dsos: profile.dsos.iter().map(|dso| number(&dso.short)).collect(),
            symbols: profile
                .symbols
                .iter()
                .map(|symbol| number(&symbol.name))
                .collect(),
            sources: profile.sources.iter().map(|text| number(text)).collect(),
            details: profile
                .details
                .texts
                .iter()
                .map(|text| number(&text.text))
                .collect(),
        });
        let sides = sides.collect();
        Texts { sides, known }
    }

    fn value(&self, side: usize, profile: &Profile, key: SortKey, row: &Row) -> Value {
        let texts = &self.sides[side];
        let text = |list: &[u32], index: usize| list.get(index).copied().map(i64::from);
        let frame = profile.frames.get(row.frame.index());
        let thread = profile.threads.get(row.thread.index());
        match key {
            SortKey::Comm => text(&texts.comms, row.comm.index()),
            SortKey::Dso => text(&texts.dsos, frame?.dso?.index()),
            SortKey::Symbol => text(&texts.symbols, frame?.symbol?.index()),
            SortKey::SourceLine => text(&texts.sources, frame?.source?.line.index()),
            SortKey::SourceFile => text(&texts.sources, frame?.source?.file.index()),
            SortKey::Trace => {
                let number = profile.details.value(row.detail, Detail::Trace)?;
                text(&texts.details, usize::try_from(number).ok()?)
            }
            SortKey::Thread => thread.map(|thread| thread.tid.0.into()),
            SortKey::Process => thread.map(|thread| thread.pid.0.into()),
            SortKey::Number(key) => {
                let number = profile.details.value(row.detail, Detail::Number(key));
                Some(number.map_or(-1, u64::cast_signed))
            }
            _ => None,
        }
    }
}

/// Of rows of one side that are about the same the least is shown.
pub(super) fn found<'a>(side: &Side<'a>, row: usize) -> (Option<&'a str>, i64) {
    let Some(row) = side.table.and_then(|table| table.row(row)) else {
        return (None, 0);
    };
    let frame = side.profile.frames.get(row.frame.index());
    let dso = frame.and_then(|frame| side.profile.dsos.get(frame.dso?.index()));
    let symbol = frame.and_then(|frame| side.profile.symbols.get(frame.symbol?.index()));
    let address = symbol.map_or(row.address, |symbol| symbol.start);
    (dso.map(|dso| dso.short.as_str()), address.cast_signed())
}
