//! Hot streams: the chains of branches that an event's samples came through most, to hold two recordings against each
//! other.
//!
//! A stream is told by the source lines that it leads through, so that it can be found again in another build. Chains
//! stand in a tree for each row (a source line, a function, an object), and a stream is what a branch of that tree adds
//! to the branches before it.
//!
//! perf keeps the names and cycles of those places alone that samples of a row's lowest address came through. Which
//! they are is told here, as it decides what of a stream can be shown.

#[cfg(test)]
mod tests;
mod tree;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::hist::{ByWeight, CallGraphOptions, Presorted, Ranked, Row, Rules, SortKey, Table};
use oxperf_profile::ChainOrder;
use oxperf_profile::{
    DsoId, EventProfile, Frame, FrameId, Profile, SampleGroup, SourceId, SymbolId,
};
use tree::Tree;

/// What the rows of the table that [`hot_streams`] takes are about.
pub const KEYS: [SortKey; 3] = [SortKey::SourceLine, SortKey::Symbol, SortKey::Dso];

/// How many streams of an event are hot.
const MOST: usize = 5;

/// One place of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPlace {
    /// The place.
    pub frame: FrameId,
    /// True if its name is shown, and not its address.
    pub named: bool,
}

/// A chain of branches, from the newest to the oldest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stream {
    /// What it leads through.
    pub places: Vec<StreamPlace>,
    /// Cycles between its places, on average.
    pub cycles: u64,
    /// Of the event's count what came through it.
    pub hits: u64,
}

/// The hot streams of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HotStreams {
    /// The hottest ones, by row.
    pub streams: Vec<Stream>,
    /// The hits of all streams, those that are not hot among them.
    pub all_hits: u64,
}

impl HotStreams {
    /// The share of a stream, in hundredths.
    pub fn percent(&self, stream: &Stream) -> f64 {
        oxperf_profile::percent(stream.hits, self.all_hits)
    }

    /// Takes a stream, in the place of the first of the least hot ones where there is no room.
    fn offer(&mut self, stream: Stream) {
        self.all_hits = self.all_hits.saturating_add(stream.hits);
        if self.streams.len() < MOST {
            self.streams.push(stream);
        } else if let Some(least) = self.streams.iter_mut().min_by_key(|stream| stream.hits)
            && least.hits < stream.hits
        {
            *least = stream;
        }
    }
}

/// Where a place is, as far as streams are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Spot<'a> {
    /// Of code that no object is known of.
    Address(u64),
    /// File and line.
    Line(&'a str),
}

impl<'a> Spot<'a> {
    /// All lines that are not known are one.
    const UNKNOWN: Spot<'static> = Spot::Line("??:0");

    fn of(profile: &'a Profile, frame: &Frame) -> Spot<'a> {
        if frame.dso.is_none() {
            return Spot::Address(frame.address);
        }
        let text = |id: SourceId| profile.sources.get(id.index()).map_or("", |text| text);
        match frame.source {
            Some(source) if !text(source.file).is_empty() => Spot::Line(text(source.line)),
            _ => Spot::UNKNOWN,
        }
    }

    /// The line, where an object is known.
    fn line(self) -> Option<&'a str> {
        match self {
            Spot::Line(line) => Some(line),
            Spot::Address(_) => None,
        }
    }
}

/// The text of the source line of a place, of one in an object.
pub fn line_of<'a>(profile: &'a Profile, place: &StreamPlace) -> Option<&'a str> {
    Spot::of(profile, profile.frames.get(place.frame.index())?).line()
}

/// True if two streams of two recordings lead through the same source lines.
pub fn are_alike(one: (&Profile, &Stream), other: (&Profile, &Stream)) -> bool {
    fn spots<'a>(
        (profile, stream): (&'a Profile, &'a Stream),
    ) -> impl Iterator<Item = Option<Spot<'a>>> {
        let spot =
            |place: &StreamPlace| Some(Spot::of(profile, profile.frames.get(place.frame.index())?));
        stream.places.iter().map(spot)
    }
    spots(one).eq(spots(other))
}

/// What rows are told apart by.
type RowKey = (
    Option<SourceId>,
    Option<SymbolId>,
    Option<DsoId>,
    Option<u64>,
);

fn row_key(frame: &Frame) -> RowKey {
    let address = frame.symbol.is_none().then_some(frame.dso_address);
    (
        frame.source.map(|source| source.line),
        frame.symbol,
        frame.dso,
        address,
    )
}

/// The hot streams of an event whose rows by [`KEYS`] are in `table`.
pub fn hot_streams(profile: &Profile, event: &EventProfile, table: &Table) -> HotStreams {
    let frame = |id: FrameId| profile.frames.get(id.index());
    let key = |row: &Row| frame(row.frame).map(row_key);
    let places: FxHashMap<Option<RowKey>, usize> = (0..)
        .zip(table.rows())
        .map(|(at, row)| (key(row), at))
        .collect();
    let mut rows: Vec<Vec<(u64, &SampleGroup)>> = vec![Vec::new(); table.len()];
    for group in &event.groups {
        let Some(frame) = frame(group.frame) else {
            continue;
        };
        if let Some(&row) = places.get(&Some(row_key(frame))) {
            rows[row].push((frame.dso_address, group));
        }
    }
    rows.iter_mut()
        .for_each(|groups| groups.sort_by_key(|&(address, group)| (address, group.order)));
    let min_hits = (event.period_total as f64 * (CallGraphOptions::MIN_PERCENT / 100.0)) as u64;
    let mut hot = HotStreams::default();
    for row in in_order(profile, &rows) {
        let groups = &rows[row as usize];
        let Some(&(lowest, _)) = groups.first() else {
            continue;
        };
        let mut tree = Tree::new(profile);
        groups
            .iter()
            .for_each(|&(address, group)| tree.add(group, address == lowest));
        tree.streams(min_hits)
            .into_iter()
            .for_each(|stream| hot.offer(stream));
    }
    hot
}

/// The order in which rows are looked at: as in their table, but between rows of equal weight and of one thread those of
/// shorter chains come first. As in perf, the chains at a row's lowest address tell how long they are.
fn in_order(profile: &Profile, rows: &[Vec<(u64, &SampleGroup)>]) -> Vec<u32> {
    let length = |group: &SampleGroup| profile.chains.path_to_root(group.chain).count() as u32;
    let weight = |groups: &Vec<(u64, &SampleGroup)>| {
        groups
            .iter()
            .fold(0, |sum: u64, (_, group)| sum.saturating_add(group.period))
    };
    let ranked = |(groups, at): (&Vec<(u64, &SampleGroup)>, u32)| {
        let lowest = groups.chunk_by(|(one, _), (other, _)| one == other).next();
        let chain = lowest.and_then(|groups| {
            let longest = groups.iter().map(|(_, group)| length(group)).max()?;
            Some((groups.first()?.1.thread, longest))
        });
        Ranked {
            own: 0,
            shown: at.into(),
            chain,
            row: at,
        }
    };
    let ranked: Vec<Ranked> = rows.iter().zip(0..).map(ranked).collect();
    let found = (0..rows.len() as u64).collect();
    let rules = Rules {
        rows: ranked,
        found,
        direction: ChainOrder::Callee,
    };
    Presorted::new(ByWeight::new(rows.par_iter().map(weight)), rules).settle()
}
