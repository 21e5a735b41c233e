//! GraphNodes: what call graphs tell apart, the symbol, or the address where none is known.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::location::{LocationId, Locations};
use oxperf_profile::{DsoId, Frame, FrameId, Profile, ProfileSymbol, Source};

/// A place in the table of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GraphNodeId(pub(crate) u32);

/// What a call graph shows on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GraphNodeKey<'a> {
    /// A symbol by its object and first address, or an address itself.
    Place {
        dso: Option<DsoId>,
        start: u64,
        named: bool,
        source: Option<Source>,
    },
    /// A function that was inlined, by its name: it has no place of its own. The address it was inlined at, if addresses
    /// are to tell nodes apart.
    Inlined(&'a str, Option<Source>, Option<(Option<DsoId>, u64)>),
}

impl<'a> GraphNodeKey<'a> {
    fn new(profile: &'a Profile, frame: &Frame, by_address: bool) -> GraphNodeKey<'a> {
        let symbol = symbol(profile, frame).filter(|symbol| symbol.inlined || !by_address);
        match symbol {
            Some(symbol) if symbol.inlined => {
                let at = by_address.then_some((frame.dso, frame.address));
                GraphNodeKey::Inlined(&symbol.name, frame.source, at)
            }
            _ => GraphNodeKey::Place {
                dso: frame.dso,
                start: symbol.map_or(frame.address, |symbol| symbol.start),
                named: symbol.is_some(),
                source: frame.source,
            },
        }
    }
}

fn symbol<'a>(profile: &'a Profile, frame: &Frame) -> Option<&'a ProfileSymbol> {
    profile.symbols.get(frame.symbol?.index())
}

/// What is known of a frame as one without a symbol.
enum Bare {
    /// It has one, or differs from the others at its address.
    No,
    /// Nothing else was at its address.
    First,
    Known(GraphNodeId),
}

/// A step seen as a place, for the order of lines of equal weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeAddress<'a> {
    /// The object.
    pub(crate) dso: Option<DsoId>,
    /// The symbol's first address, or the address itself.
    pub(crate) start: u64,
    /// An address as it was recorded.
    pub(crate) address: u64,
    /// The symbol's name, if there is one.
    pub(crate) name: Option<&'a str>,
    /// True if that is a function that was inlined: it has no place of its own.
    pub(crate) inlined: bool,
}

/// The nodes of all frames.
#[derive(Debug)]
pub(crate) struct GraphNodes<'a> {
    profile: &'a Profile,
    by_address: bool,
    /// A frame that shows each.
    frames: Vec<FrameId>,
    locations: Vec<LocationId>,
    of_frame: Vec<GraphNodeId>,
    callers: Vec<Caller>,
}

/// What a frame is in a chain to those who count rows: the row, and whether it is in an object. In four bytes, as it is
/// looked up at random, millions of times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller(u32);

impl Caller {
    const IN_OBJECT: u32 = 1 << 31;

    fn new(row: LocationId, in_object: bool) -> Caller {
        let row = u32::try_from(row.index()).unwrap_or(u32::MAX) & !Self::IN_OBJECT;
        Caller(if in_object {
            row | Self::IN_OBJECT
        } else {
            row
        })
    }

    /// The row that it counts for.
    #[inline]
    pub(crate) fn row(self) -> LocationId {
        LocationId::new((self.0 & !Self::IN_OBJECT) as usize)
    }

    /// True if it is in an object.
    #[inline]
    pub(crate) fn has_object(self) -> bool {
        self.0 & Self::IN_OBJECT != 0
    }
}

impl<'a> GraphNodes<'a> {
    /// No nodes at all, for reports that look at no chain.
    pub(crate) fn none(profile: &'a Profile) -> GraphNodes<'a> {
        let (frames, locations, of_frame, callers) = Default::default();
        GraphNodes {
            profile,
            by_address: false,
            frames,
            locations,
            of_frame,
            callers,
        }
    }

    /// The nodes of all frames of the profile; by their addresses, if these are to tell them apart.
    pub(crate) fn new(profile: &'a Profile, by_address: bool) -> GraphNodes<'a> {
        let mut nodes = GraphNodes {
            by_address,
            ..GraphNodes::none(profile)
        };
        let mut known = FxHashMap::default();
        nodes.of_frame.reserve_exact(profile.frames.len());
        for (id, frame) in (0..).map(FrameId).zip(&profile.frames) {
            let step = match nodes.of_bare(id, frame) {
                Bare::First => nodes.add(id),
                Bare::Known(step) => step,
                Bare::No => *known
                    .entry(GraphNodeKey::new(profile, frame, by_address))
                    .or_insert_with(|| nodes.add(id)),
            };
            nodes.of_frame.push(step);
        }
        nodes
    }

    /// What the profile knows already of frames without a symbol: which of them are at one address.
    fn of_bare(&self, id: FrameId, frame: &Frame) -> Bare {
        let frames = &self.profile.frames;
        let first = frames.first_at(id);
        match frames.get(first.index()) {
            _ if frame.symbol.is_some() => Bare::No,
            _ if first == id => Bare::First,
            Some(other) if other.source == frame.source => {
                Bare::Known(self.of_frame[first.index()])
            }
            _ => Bare::No,
        }
    }

    fn add(&mut self, frame: FrameId) -> GraphNodeId {
        self.frames.push(frame);
        GraphNodeId(self.frames.len() as u32 - 1)
    }

    /// Notes the row that each step counts for.
    pub(crate) fn locate(&mut self, locations: &Locations<'_>) {
        let location = |&frame| locations.called(frame).unwrap_or(LocationId::FIRST);
        self.locations = self.frames.par_iter().map(location).collect();
        let frames = &self.profile.frames;
        let in_object =
            |step: &GraphNodeId| frames[self.frames[step.0 as usize].index()].dso.is_some();
        let caller = |step: &GraphNodeId| Caller::new(self.location(*step), in_object(step));
        self.callers = self.of_frame.par_iter().map(caller).collect();
    }

    /// What a frame is to those who count rows.
    #[inline]
    pub(crate) fn caller(&self, frame: FrameId) -> Option<Caller> {
        self.callers.get(frame.index()).copied()
    }

    /// The step of a frame.
    #[inline]
    pub(crate) fn of(&self, frame: FrameId) -> Option<GraphNodeId> {
        self.of_frame.get(frame.index()).copied()
    }

    /// The step as a place.
    pub(crate) fn place(&self, step: GraphNodeId) -> NodeAddress<'a> {
        let frame = &self.profile.frames[self.frame(step).index()];
        let symbol = symbol(self.profile, frame).filter(|_| !self.by_address);
        NodeAddress {
            dso: frame.dso,
            start: symbol.map_or(frame.address, |symbol| symbol.start),
            address: frame.address,
            name: symbol.map(|symbol| &*symbol.name),
            inlined: symbol.is_some_and(|symbol| symbol.inlined),
        }
    }

    /// A frame that shows the step.
    #[inline]
    pub(crate) fn frame(&self, step: GraphNodeId) -> FrameId {
        self.frames[step.0 as usize]
    }

    /// The row that the step counts for.
    #[inline]
    pub(crate) fn location(&self, step: GraphNodeId) -> LocationId {
        self.locations[step.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_profile::{Level, SymbolId};

    #[test]
    fn inlined_functions_are_told_apart_by_address_where_addresses_are() {
        let mut profile = Profile::default();
        let (name, dso) = ("leaf".to_owned(), DsoId(0));
        profile.symbols.push(ProfileSymbol {
            name,
            dso,
            start: 0,
            end: 64,
            inlined: true,
            is_data: false,
        });
        for address in [4, 8] {
            profile.frames.add(Frame {
                dso: Some(dso),
                symbol: Some(SymbolId(0)),
                address,
                dso_address: address,
                level: Level::User,
                source: None,
                alone: true,
                outermost: true,
            });
        }
        profile.frames.seal();
        let alike = |by_address| {
            let nodes = GraphNodes::new(&profile, by_address);
            nodes.of(FrameId(0)) == nodes.of(FrameId(1))
        };
        assert!(alike(false) && !alike(true));
    }
}
