//! Locations: what is left of a frame when only the keys count.
//!
//! Two frames with one location fall into one row. A sample's own address and an address of its call chain are
//! placed differently where no symbol is known: rows show the former in the object's addresses and the latter as
//! recorded, so one frame has two locations then.
//!
//! Recordings have up to millions of locations, so all that is kept of one is a frame and the address to show; what keys
//! make of it is found where it is needed.

use std::num::NonZeroU32;

use rustc_hash::FxHashMap;

use super::data_ranks::DataRanks;
use super::key::SortKey;
use super::rank::ranks;
use oxperf_profile::{BareFrames, DsoId, Frame, FrameId, Frames, Profile, ProfileSymbol, SourceId};

/// A place in the table of locations, counted from 1: frames without one take no more memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LocationId(NonZeroU32);

impl LocationId {
    /// The first location.
    pub(crate) const FIRST: LocationId = LocationId(NonZeroU32::MIN);

    #[inline]
    pub(crate) fn new(index: usize) -> LocationId {
        LocationId(u32::try_from(index).map_or(NonZeroU32::MAX, |index| {
            NonZeroU32::MIN.saturating_add(index)
        }))
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A location.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    /// A frame that lies there.
    pub(crate) frame: FrameId,
    /// The address to show where no symbol is known.
    pub(crate) address: u64,
}

/// What tells a location from others.
#[derive(PartialEq, Eq, Hash)]
struct Identity {
    /// The rank of the object's name, if a key asks for it.
    dso: Option<u32>,
    range: Range,
    source: [Option<SourceId>; 2],
    symbol_size: u64,
    map_size: u64,
    at: Option<u64>,
    /// The rank of the data by all that keys ask of them.
    data: u32,
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

/// The locations of all frames.
#[derive(Debug)]
pub(crate) struct Locations<'a> {
    describing: Describing<'a>,
    table: Vec<Location>,
    own: Vec<Option<LocationId>>,
    called: Vec<Option<LocationId>>,
}

impl<'a> Locations<'a> {
    /// Places every frame that samples ran in as far as `keys` ask, and those of call chains if they count.
    pub(crate) fn new(profile: &'a Profile, keys: &[SortKey], chains: bool) -> Locations<'a> {
        let mut placing = Placing::new(Describing::new(profile, keys));
        // Places by symbol cost nothing: there are few.
        let mut ran: Vec<bool> = profile
            .frames
            .iter()
            .map(|frame| frame.symbol.is_some())
            .collect();
        for group in profile.events.iter().flat_map(|event| &event.groups) {
            if let Some(ran) = ran.get_mut(group.counted_at(&profile.branches).index()) {
                *ran = true;
            }
        }
        // Of branches rows show the recorded addresses.
        let by_branch = !profile.branches.is_empty();
        let shown = if by_branch {
            Shown::Recorded
        } else {
            Shown::InObject
        };
        let own = placing.all(shown, |id| ran[id.index()]);
        let called = if chains {
            placing.all(Shown::Recorded, |_| true)
        } else {
            Vec::new()
        };
        Locations {
            describing: placing.describing,
            table: placing.table,
            own,
            called,
        }
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
    pub(crate) fn get(&self, id: LocationId) -> Location {
        self.table[id.index()]
    }

    /// All locations.
    pub(crate) fn all(&self) -> &[Location] {
        &self.table
    }

    /// What keys make of locations.
    pub(crate) fn describing(&self) -> &Describing<'a> {
        &self.describing
    }

    /// Number of locations.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }
}

/// What keys make of a frame.
#[derive(Debug)]
pub(crate) struct Describing<'a> {
    profile: &'a Profile,
    by_dso: bool,
    by_symbol: bool,
    /// By source line, by source file.
    by_source: [bool; 2],
    by_size: bool,
    by_map_size: bool,
    /// By the address, as recorded or within its symbol.
    by_address: [bool; 2],
    source_ranks: Vec<u32>,
    dso_ranks: Vec<u32>,
    name_ranks: Vec<u32>,
    data_ranks: DataRanks,
}

impl<'a> Describing<'a> {
    fn new(profile: &'a Profile, keys: &[SortKey]) -> Describing<'a> {
        let by_symbol = [
            SortKey::Symbol,
            SortKey::NoIpc,
            SortKey::Ipc,
            SortKey::SymbolOffset,
        ]
        .iter()
        .any(|key| keys.contains(key));
        let names: &[ProfileSymbol] = if by_symbol { &profile.symbols } else { &[] };
        Describing {
            profile,
            by_dso: keys.contains(&SortKey::Dso),
            by_symbol,
            by_source: [SortKey::SourceLine, SortKey::SourceFile].map(|key| keys.contains(&key)),
            by_size: keys.contains(&SortKey::SymbolSize),
            by_map_size: keys.contains(&SortKey::DsoSize),
            by_address: [SortKey::Address, SortKey::SymbolOffset].map(|key| keys.contains(&key)),
            source_ranks: ranks(profile.sources.iter().map(String::as_str)),
            dso_ranks: ranks(profile.dsos.iter().map(|dso| dso.short.as_str())),
            name_ranks: ranks(names.iter().map(|symbol| symbol.name.as_str())),
            data_ranks: DataRanks::new(&profile.data_places, keys),
        }
    }

    /// For each object, and behind them for none, whether keys tell all its addresses without a symbol apart that profiles
    /// do; nothing if they do for no object at all.
    fn told_apart(&self) -> Option<Vec<bool>> {
        let nothing_else = self.by_source == [false; 2]
            && !self.by_map_size
            && !self.asks_for_addresses()
            && !self.data_ranks.is_asked();
        if !(self.by_symbol && self.by_dso && nothing_else) {
            return None;
        }
        let mut of_name = vec![0u32; self.dso_ranks.len()];
        self.dso_ranks
            .iter()
            .for_each(|&rank| of_name[rank as usize] += 1);
        let alone = self
            .dso_ranks
            .iter()
            .map(|&rank| of_name[rank as usize] == 1);
        Some(alone.chain([true]).collect())
    }

    fn identity(&self, location: Location) -> Identity {
        Identity {
            dso: self.by_dso.then(|| self.dso_rank(location)),
            range: self.range(location),
            source: self.source(location),
            symbol_size: self.symbol_size(location),
            map_size: self.map_size(location),
            at: self.at(location),
            data: self.data_rank(location, None),
        }
    }

    /// The rank of the data that the instruction works on, by what a key asks of them, or by all that any key asks.
    pub(crate) fn data_rank(&self, location: Location, key: Option<SortKey>) -> u32 {
        self.data_ranks
            .rank(self.profile.data_places.number(location.frame), key)
    }

    /// True if keys ask for the data that instructions work on.
    pub(crate) fn asks_for_data(&self) -> bool {
        self.data_ranks.is_asked()
    }

    /// True if a key asks for addresses.
    pub(crate) fn asks_for_addresses(&self) -> bool {
        self.by_address != [false; 2]
    }

    /// The address itself, if a key asks for it.
    pub(crate) fn at(&self, location: Location) -> Option<u64> {
        let frame = self.frame(location)?;
        match self.by_address {
            [true, _] => Some(frame.address),
            [false, true] if frame.symbol.is_none() => Some(location.address),
            [false, true] => Some(frame.dso_address),
            [false, false] => None,
        }
    }

    /// The symbol's range, or the address, if a key asks for it.
    #[inline]
    pub(crate) fn range(&self, location: Location) -> Range {
        match self.symbol(location) {
            Some((symbol, name)) => {
                let inlined = if symbol.inlined { name + 1 } else { 0 };
                Range::Symbol(self.dso_rank(location), symbol.start, symbol.end, inlined)
            }
            None if self.by_symbol => Range::Address(location.address.cast_signed()),
            None => Range::Any,
        }
    }

    /// The rank of the object's short name; without an object the number of names.
    #[inline]
    pub(crate) fn dso_rank(&self, location: Location) -> u32 {
        let dso = self.frame(location).and_then(|frame| frame.dso);
        let rank = |dso: DsoId| self.dso_ranks.get(dso.index()).copied();
        dso.and_then(rank).unwrap_or(self.dso_ranks.len() as u32)
    }

    /// The rank of the symbol's name; without one the number of names.
    #[inline]
    pub(crate) fn name_rank(&self, location: Location) -> u32 {
        self.symbol(location)
            .map_or(self.name_ranks.len() as u32, |(_, rank)| rank)
    }

    /// The rank of the text of the source line (0) or file (1).
    pub(crate) fn source_rank(&self, location: Location, nth: usize) -> u32 {
        self.source(location)[nth].map_or(0, |text| self.source_ranks[text.index()])
    }

    /// How many ranks of objects, of symbols and of texts there are.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [
            self.dso_ranks.len() + 1,
            self.name_ranks.len() + 1,
            self.source_ranks.len().max(1),
        ]
    }

    /// The texts of the source line and file, as far as keys ask for them.
    pub(crate) fn source(&self, location: Location) -> [Option<SourceId>; 2] {
        let source = self.frame(location).and_then(|frame| frame.source);
        let texts = source.map(|source| [source.line, source.file]);
        [0, 1].map(|nth| {
            texts
                .filter(|_| self.by_source[nth])
                .map(|texts| texts[nth])
        })
    }

    /// The size of the symbol, if a key asks for it; 0 without one.
    pub(crate) fn symbol_size(&self, location: Location) -> u64 {
        let frame = self.frame(location).filter(|_| self.by_size);
        let symbol = frame.and_then(|frame| self.profile.symbols.get(frame.symbol?.index()));
        symbol.map_or(0, |symbol| symbol.end.saturating_sub(symbol.start))
    }

    /// The size of the mapping around it, if a key asks for it; 0 without one.
    pub(crate) fn map_size(&self, location: Location) -> u64 {
        let sizes: &[Option<u64>] = if self.by_map_size {
            &self.profile.map_sizes
        } else {
            &[]
        };
        let size = sizes.get(location.frame.index()).copied().flatten();
        size.unwrap_or(0)
    }

    /// The symbol and the rank of its name, if a key asks for symbols.
    #[inline]
    fn symbol(&self, location: Location) -> Option<(&'a ProfileSymbol, u32)> {
        let index = self.frame(location)?.symbol?.index();
        let rank = *self.name_ranks.get(index)?;
        Some((self.profile.symbols.get(index)?, rank))
    }

    #[inline]
    fn frame(&self, location: Location) -> Option<&'a Frame> {
        self.profile.frames.get(location.frame.index())
    }
}

/// Which address of a frame rows show where no symbol is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Recorded,
    InObject,
}

struct Placing<'a> {
    describing: Describing<'a>,
    known: FxHashMap<Identity, LocationId>,
    bare: Option<Bare<'a>>,
    table: Vec<Location>,
}

/// Locations without a symbol, where keys tell all addresses apart that profiles do.
struct Bare<'a> {
    /// What [`Describing::told_apart`] said.
    told_apart: Vec<bool>,
    /// The frames without a symbol of each object, and behind them of none.
    of_object: Vec<BareFrames<'a>>,
    /// By the frame that was the first at its recorded address.
    recorded: Vec<Option<LocationId>>,
    /// At addresses in objects where nothing was recorded.
    moved: FxHashMap<(Option<DsoId>, u64), LocationId>,
}

impl<'a> Placing<'a> {
    fn new(describing: Describing<'a>) -> Placing<'a> {
        let (frames, dsos) = (
            &describing.profile.frames,
            describing.profile.dsos.len() as u32,
        );
        let objects = || (0..dsos).map(|dso| Some(DsoId(dso))).chain([None]);
        let bare = |told_apart| Bare {
            told_apart,
            of_object: objects().map(|object| frames.bare_of(object)).collect(),
            recorded: vec![None; frames.len()],
            moved: FxHashMap::default(),
        };
        let bare = describing.told_apart().map(bare);
        Placing {
            describing,
            known: FxHashMap::default(),
            bare,
            table: Vec::new(),
        }
    }

    fn all(&mut self, shown: Shown, wanted: impl Fn(FrameId) -> bool) -> Vec<Option<LocationId>> {
        let profile = self.describing.profile;
        let mut of_symbol = vec![None; profile.symbols.len()];
        let frames = (0u32..).zip(&profile.frames);
        let place = |(id, frame): (u32, &Frame)| {
            let id = Some(FrameId(id)).filter(|&id| wanted(id))?;
            // With its source or its addresses a symbol is not one place.
            let symbol = frame
                .symbol
                .filter(|_| frame.source.is_none() && !frame.alone);
            Some(
                match symbol.and_then(|symbol| of_symbol.get_mut(symbol.index())) {
                    Some(&mut Some(place)) => place,
                    Some(unplaced) => *unplaced.insert(self.place(id, frame, shown)),
                    None => self.place(id, frame, shown),
                },
            )
        };
        frames.map(place).collect()
    }

    fn place(&mut self, id: FrameId, frame: &Frame, shown: Shown) -> LocationId {
        let address = match shown {
            Shown::Recorded => frame.address,
            Shown::InObject => frame.dso_address,
        };
        let location = Location { frame: id, address };
        let next = LocationId::new(self.table.len());
        let known = match &mut self.bare {
            Some(bare) if bare.takes(frame) => {
                bare.place((id, frame), address, &self.describing.profile.frames, next)
            }
            _ => *self
                .known
                .entry(self.describing.identity(location))
                .or_insert(next),
        };
        if known == next {
            self.table.push(location);
        }
        known
    }
}

impl Bare<'_> {
    /// True if a frame has no symbol and its object's name is no other's.
    fn takes(&self, frame: &Frame) -> bool {
        frame.symbol.is_none()
            && self
                .told_apart
                .get(self.object(frame))
                .copied()
                .unwrap_or(false)
    }

    fn object(&self, frame: &Frame) -> usize {
        frame.dso.map_or(self.told_apart.len() - 1, DsoId::index)
    }

    /// The location of an address, `next` if it is a new one.
    fn place(
        &mut self,
        (id, frame): (FrameId, &Frame),
        address: u64,
        frames: &Frames,
        next: LocationId,
    ) -> LocationId {
        let is_recorded = address == frame.address;
        let first = match is_recorded {
            true => Some(frames.first_at(id)),
            false => self
                .of_object
                .get(self.object(frame))
                .and_then(|bare| bare.at(address)),
        };
        match first.and_then(|first| self.recorded.get_mut(first.index())) {
            Some(slot) => *slot.get_or_insert(next),
            None => *self.moved.entry((frame.dso, address)).or_insert(next),
        }
    }
}
