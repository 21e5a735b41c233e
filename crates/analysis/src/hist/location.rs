//! Locations: what is left of a frame when only the keys count.
//!
//! Two frames with one location fall into one row. A sample's own address and an address of its call chain are
//! placed differently where no symbol is known: rows show the former in the object's addresses and the latter as
//! recorded, so one frame has two locations then.

use rustc_hash::FxHashMap;

use super::key::SortKey;
use super::rank::ranks;
use crate::profile::{DsoId, Frame, FrameId, Profile, SourceId, Symbol};

/// A place in the table of locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocationId(pub(crate) u32);

/// How a location sorts and what it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    /// A frame that lies there.
    pub(crate) frame: FrameId,
    /// The address to show where no symbol is known.
    pub(crate) address: u64,
    /// Rank of the object's short name; no object comes last.
    pub(crate) dso_rank: u32,
    /// Rank of the symbol's name; `None`, which comes last, without a symbol.
    pub(crate) name_rank: Option<u32>,
    /// The symbol's range, or the address alone.
    pub(crate) range: Range,
    /// Ranks of the texts of the source line and file.
    pub(crate) source_ranks: [u32; 2],
    /// The texts themselves.
    pub(crate) source: [Option<SourceId>; 2],
    /// The size of the symbol, if a key asks for it; 0 without one.
    pub(crate) symbol_size: u64,
    /// The address itself, if a key asks for it.
    pub(crate) at: Option<u64>,
}

/// The part of an identity that addresses give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Range {
    /// No key asks for it.
    Any,
    /// A symbol's first address and the one behind it, in the object whose name has the rank; behind them, for a function
    /// that was inlined there, the rank of its name, from 1.
    Symbol(u32, u64, u64, u32),
    /// A bare address, compared as a signed number: kernel addresses come first.
    Address(i64),
}

#[derive(PartialEq, Eq, Hash)]
struct Identity {
    /// The rank of the object's name, if a key asks for it.
    dso_rank: Option<u32>,
    range: Range,
    /// The source line and file, as far as keys ask for them.
    source: [Option<SourceId>; 2],
    symbol_size: u64,
    at: Option<u64>,
}

/// The locations of all frames.
#[derive(Debug)]
pub(crate) struct Locations {
    table: Vec<Location>,
    own: Vec<Option<LocationId>>,
    called: Vec<Option<LocationId>>,
}

impl Locations {
    /// Places every frame that samples ran in as far as `keys` ask, and those of call chains if they count.
    pub(crate) fn new(profile: &Profile, keys: &[SortKey], chains: bool) -> Locations {
        let mut placing = Placing::new(profile, keys);
        // Places by symbol cost nothing: there are few.
        let mut ran: Vec<bool> = profile.frames.iter().map(|frame| frame.symbol.is_some()).collect();
        for group in profile.events.iter().flat_map(|event| &event.groups) {
            if let Some(ran) = ran.get_mut(group.counted_at(&profile.branches).index()) {
                *ran = true;
            }
        }
        // Of branches rows show the recorded addresses.
        let by_branch = !profile.branches.is_empty();
        let shown = if by_branch { Shown::Recorded } else { Shown::InObject };
        let own = placing.all(shown, |id| ran[id.index()]);
        let called = if chains { placing.all(Shown::Recorded, |_| true) } else { Vec::new() };
        Locations { table: placing.table, own, called }
    }

    /// Where a sample's own address lies.
    #[inline]
    pub(crate) fn own(&self, frame: FrameId) -> Option<LocationId> {
        self.own.get(frame.index()).copied().flatten()
    }

    /// Where an address of a call chain lies.
    #[inline]
    pub(crate) fn called(&self, frame: FrameId) -> Option<LocationId> {
        self.called.get(frame.index()).copied().flatten()
    }

    /// The location itself.
    #[inline]
    pub(crate) fn get(&self, id: LocationId) -> &Location {
        &self.table[id.0 as usize]
    }

    /// All locations.
    pub(crate) fn all(&self) -> &[Location] {
        &self.table
    }

    /// Number of locations.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }
}

struct Placing<'a> {
    profile: &'a Profile,
    by_dso: bool,
    by_symbol: bool,
    /// By source line, by source file.
    by_source: [bool; 2],
    by_size: bool,
    /// By the address, as recorded or within its symbol.
    by_address: [bool; 2],
    source_ranks: Vec<u32>,
    dso_ranks: Vec<u32>,
    name_ranks: Vec<u32>,
    known: FxHashMap<Identity, LocationId>,
    /// Where keys tell all addresses apart that profiles do: the location of each frame without a symbol that was the
    /// first at its recorded address.
    bare: Option<Vec<Option<LocationId>>>,
    table: Vec<Location>,
}

/// Which address of a frame rows show where no symbol is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Recorded,
    InObject,
}

impl<'a> Placing<'a> {
    fn new(profile: &'a Profile, keys: &[SortKey]) -> Self {
        let by_symbol =
            [SortKey::Symbol, SortKey::NoIpc, SortKey::SymbolOffset].iter().any(|key| keys.contains(key));
        let names: &[Symbol] = if by_symbol { &profile.symbols } else { &[] };
        let (by_dso, by_source) = (
            keys.contains(&SortKey::Dso),
            [SortKey::SourceLine, SortKey::SourceFile].map(|key| keys.contains(&key)),
        );
        let by_address = [SortKey::Address, SortKey::SymbolOffset].map(|key| keys.contains(&key));
        let dso_ranks = ranks(profile.dsos.iter().map(|dso| dso.short.as_str()));
        let told_apart = by_symbol && by_dso && by_source == [false; 2] && by_address == [false; 2];
        Placing {
            profile,
            by_dso,
            by_symbol,
            by_source,
            by_size: keys.contains(&SortKey::SymbolSize),
            by_address,
            source_ranks: ranks(profile.sources.iter().map(String::as_str)),
            bare: (told_apart && are_distinct(&dso_ranks)).then(|| vec![None; profile.frames.len()]),
            dso_ranks,
            name_ranks: ranks(names.iter().map(|symbol| symbol.name.as_str())),
            known: FxHashMap::default(),
            table: Vec::new(),
        }
    }

    fn all(&mut self, shown: Shown, wanted: impl Fn(FrameId) -> bool) -> Vec<Option<LocationId>> {
        let mut of_symbol = vec![None; self.profile.symbols.len()];
        let frames = (0u32..).zip(&self.profile.frames);
        let place = |(id, frame): (u32, &Frame)| {
            let id = Some(FrameId(id)).filter(|&id| wanted(id))?;
            // With its source or its addresses a symbol is not one place.
            let symbol = frame.symbol.filter(|_| frame.source.is_none() && !frame.alone);
            Some(match symbol.and_then(|symbol| of_symbol.get_mut(symbol.index())) {
                Some(&mut Some(place)) => place,
                Some(unplaced) => *unplaced.insert(self.place(id, frame, shown)),
                None => self.place(id, frame, shown),
            })
        };
        frames.map(place).collect()
    }

    fn place(&mut self, id: FrameId, frame: &Frame, shown: Shown) -> LocationId {
        let address = match shown {
            Shown::Recorded => frame.address,
            Shown::InObject => frame.dso_address,
        };
        let Some(first) = self.first_at(id, frame, address) else { return self.find(id, frame, address) };
        let slot = |placing: &Self| placing.bare.as_ref().and_then(|bare| *bare.get(first.index())?);
        if let Some(known) = slot(self) {
            return known;
        }
        let (location, _) = self.describe(id, frame, address);
        let location = self.add(location);
        if let Some(slot) = self.bare.as_mut().and_then(|bare| bare.get_mut(first.index())) {
            *slot = Some(location);
        }
        location
    }

    /// The first frame without a symbol at that address, where these are told apart as profiles do.
    fn first_at(&self, id: FrameId, frame: &Frame, address: u64) -> Option<FrameId> {
        if self.bare.is_none() || frame.symbol.is_some() {
            return None;
        }
        let frames = &self.profile.frames;
        if address == frame.address { Some(frames.first_at(id)) } else { frames.bare(frame.dso, address) }
    }

    /// A location by all that keys ask for.
    fn find(&mut self, id: FrameId, frame: &Frame, address: u64) -> LocationId {
        let (location, identity) = self.describe(id, frame, address);
        let next = LocationId(self.table.len() as u32);
        let known = *self.known.entry(identity).or_insert(next);
        if known == next { self.add(location) } else { known }
    }

    fn add(&mut self, location: Location) -> LocationId {
        self.table.push(location);
        LocationId(self.table.len() as u32 - 1)
    }

    fn describe(&self, id: FrameId, frame: &Frame, address: u64) -> (Location, Identity) {
        let dso_rank = self.dso_rank(frame.dso);
        let symbol = frame.symbol.filter(|_| self.by_symbol);
        let (name_rank, range) = match symbol.and_then(|id| self.symbol(id.index())) {
            Some((name, symbol)) => {
                let inlined = if symbol.inlined { name + 1 } else { 0 };
                (Some(name), Range::Symbol(dso_rank, symbol.start, symbol.end, inlined))
            }
            None if self.by_symbol => (None, Range::Address(address.cast_signed())),
            None => (None, Range::Any),
        };
        let texts = frame.source.map(|source| [source.line, source.file]);
        let source = [0, 1].map(|nth| texts.filter(|_| self.by_source[nth]).map(|texts| texts[nth]));
        let source_ranks = source.map(|text| text.map_or(0, |text| self.source_ranks[text.index()]));
        let symbol =
            frame.symbol.filter(|_| self.by_size).and_then(|id| self.profile.symbols.get(id.index()));
        let symbol_size = symbol.map_or(0, |symbol| symbol.end.saturating_sub(symbol.start));
        let at = match self.by_address {
            [true, _] => Some(frame.address),
            [false, true] => Some(frame.dso_address),
            [false, false] => None,
        };
        let dso = self.by_dso.then_some(dso_rank);
        let identity = Identity { dso_rank: dso, range, source, symbol_size, at };
        let frame = id;
        let location =
            Location { frame, address, dso_rank, name_rank, range, source_ranks, source, symbol_size, at };
        (location, identity)
    }

    fn dso_rank(&self, dso: Option<DsoId>) -> u32 {
        dso.and_then(|dso| self.dso_ranks.get(dso.index())).map_or(u32::MAX, |&rank| rank)
    }

    fn symbol(&self, index: usize) -> Option<(u32, &'a Symbol)> {
        Some((*self.name_ranks.get(index)?, self.profile.symbols.get(index)?))
    }
}

/// Whether no two ranks are the same.
fn are_distinct(ranks: &[u32]) -> bool {
    let mut seen = vec![false; ranks.len()];
    ranks.iter().all(|&rank| !std::mem::replace(&mut seen[rank as usize], true))
}
