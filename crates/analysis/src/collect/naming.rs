//! From located addresses to the profile's frames: one frame a function, or an address where no name is known.

use oxperf_machine::{DsoId as MachineDso, Machine};
use oxperf_resolve::{Frame as Located, FrameId as LocatedId, Names, Step};
use oxperf_symbols::{SourceLine, SymbolId as TableSymbol};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::sources::Sources;
use super::{LineText, level};
use crate::profile::{Dso, DsoId, Frame, FrameId, Profile, Source, Symbol, SymbolId};

/// The profile's frame of each located address that has been named.
#[derive(Debug, Default)]
pub(super) struct Naming {
    frames: Vec<FrameId>,
    /// Which of the lists stands for the address in a call chain, from 1; 0 for the frame alone.
    entries: Vec<u32>,
    /// Frames of functions that were inlined and of the one that has the code, innermost first.
    lists: Vec<Box<[FrameId]>>,
    inlined: FxHashMap<(SymbolId, Option<Source>, Option<u64>), FrameId>,
    sources: Sources,
    by_symbol: FxHashMap<SymbolKey, FrameId>,
    nameless: FxHashMap<Frame, FrameId>,
    /// The profile's dso of each of the machine's, as far as they were needed.
    dsos: Vec<DsoId>,
    dsos_by_name: FxHashMap<String, DsoId>,
    symbols: FxHashMap<Symbol, SymbolId>,
}

/// A symbol, with the source and address of the place where these are kept apart.
type SymbolKey = (MachineDso, Option<TableSymbol>, Option<Source>, Option<u64>);

/// What is wanted beside names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) inlines: bool,
    pub(super) lines: Option<LineText>,
    pub(super) addresses_apart: bool,
}

/// What naming found for an address.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// A symbol of the dso's table, or of a dso that is a symbol itself.
    Symbol(Option<TableSymbol>),
    Nothing,
}

impl Naming {
    /// The frame of an address that has been named.
    #[inline]
    pub(super) fn frame(&self, id: LocatedId) -> FrameId {
        self.frames[id.0 as usize]
    }

    /// Whether an address may stand for several frames in a call chain.
    pub(super) fn expands(&self) -> bool {
        !self.lists.is_empty()
    }

    /// The frames that an address stands for in a call chain, innermost first.
    #[inline]
    pub(super) fn entry(&self, id: LocatedId) -> &[FrameId] {
        let index = id.0 as usize;
        match self.entries.get(index).and_then(|list| list.checked_sub(1)) {
            Some(list) => &self.lists[list as usize],
            None => std::slice::from_ref(&self.frames[index]),
        }
    }

    /// Names further addresses, in the order of their numbers.
    pub(super) fn extend(
        &mut self,
        new: &[Located],
        (names, machine): (&mut Names<'_>, &Machine),
        profile: &mut Profile,
        wanted: Wanted,
    ) {
        names.load(machine, &dsos_of(new));
        let names = &*names;
        let found: Vec<Found> =
            new.par_iter().with_min_len(4096).map(|frame| find(names, machine, frame)).collect();
        self.frames.reserve(new.len());
        let first = self.frames.len();
        let asks = wanted.inlines || wanted.lines.is_some();
        let steps = new.par_iter().with_min_len(64).map(|frame| steps_of(names, machine, frame));
        let steps: Vec<Vec<Step>> = if asks { steps.collect() } else { Vec::new() };
        for (nth, (frame, found)) in new.iter().zip(found).enumerate() {
            let line = steps.get(nth).and_then(|steps| steps.first()?.line.as_ref());
            let own = self.source(frame, line, wanted, (names, machine), profile);
            let apart = wanted.addresses_apart;
            let id = self.profile_frame(frame, found, (own, apart), (names, machine), profile);
            self.frames.push(id);
        }
        if wanted.inlines {
            self.expand(first, new, &steps, wanted, (names, machine), profile);
        }
    }

    /// The source of an address, if that was asked for.
    fn source(
        &mut self,
        frame: &Located,
        line: Option<&SourceLine>,
        wanted: Wanted,
        names: (&Names<'_>, &Machine),
        profile: &mut Profile,
    ) -> Option<Source> {
        Some(self.sources.of(frame, line, wanted.lines?, names, profile))
    }

    /// Finds what was inlined at addresses that have just been named, the first of them `first`.
    fn expand(
        &mut self,
        first: usize,
        new: &[Located],
        steps: &[Vec<Step>],
        wanted: Wanted,
        names: (&Names<'_>, &Machine),
        profile: &mut Profile,
    ) {
        self.entries.resize(first, 0);
        for (nth, (frame, steps)) in new.iter().zip(steps).enumerate() {
            let own = self.frames[first + nth];
            let list = steps.iter().map(|step| {
                let source = self.source(frame, step.line.as_ref(), wanted, names, profile);
                self.step_frame(own, frame, step, source, profile)
            });
            let list: Box<[FrameId]> = list.collect();
            if list.len() > 1 || list.first().is_some_and(|&only| only != own) {
                self.lists.push(list);
                self.entries.push(self.lists.len() as u32);
            } else {
                self.entries.push(0);
            }
        }
    }

    /// The frame of a function that an address belongs to, where `own` is that of the symbol.
    fn step_frame(
        &mut self,
        own: FrameId,
        located: &Located,
        step: &Step,
        source: Option<Source>,
        profile: &mut Profile,
    ) -> FrameId {
        let frame = profile.frames[own.index()];
        let around = frame.symbol.and_then(|symbol| profile.symbols.get(symbol.index()));
        let symbol = match (&step.inlined, around) {
            (Some(name), Some(around)) => {
                let inlined = Symbol { name: name.to_string(), inlined: true, ..around.clone() };
                Some(self.symbol(inlined, profile))
            }
            _ if source == frame.source => return own,
            _ => frame.symbol,
        };
        let Some(key) = symbol else { return own };
        let at = frame.alone.then_some(frame.dso_address);
        let next = FrameId(profile.frames.len() as u32);
        let id = *self.inlined.entry((key, source, at)).or_insert(next);
        if id == next {
            profile.frames.push(Frame { symbol, source, address: located.ip, ..frame });
        }
        id
    }

    fn profile_frame(
        &mut self,
        frame: &Located,
        found: Found,
        (source, alone): (Option<Source>, bool),
        (names, machine): (&Names<'_>, &Machine),
        profile: &mut Profile,
    ) -> FrameId {
        let place = frame.place;
        let key = match (place, found) {
            (Some(place), Found::Symbol(symbol)) => {
                Some((place.dso, symbol, source, alone.then_some(place.address)))
            }
            _ => None,
        };
        if let Some(known) = key.and_then(|key| self.by_symbol.get(&key)) {
            return *known;
        }
        let dso = place.map(|place| self.dso(place.dso, machine, profile));
        let name = place.and_then(|place| names.name(machine, &place));
        let symbol = dso.zip(name).map(|(dso, name)| {
            let symbol =
                Symbol { name: name.text.to_owned(), dso, start: name.start, end: name.end, inlined: false };
            self.symbol(symbol, profile)
        });
        let dso_address = place.map_or(frame.ip, |place| place.address);
        let frame =
            Frame { dso, symbol, address: frame.ip, dso_address, level: level(frame.mode), source, alone };
        let next = FrameId(profile.frames.len() as u32);
        let id = match key {
            Some(key) => *self.by_symbol.entry(key).or_insert(next),
            None => *self.nameless.entry(frame).or_insert(next),
        };
        if id == next {
            profile.frames.push(frame);
        }
        id
    }

    /// Dsos of one name are one dso to every report, whatever files stood behind the name. The profile has them in
    /// the order in which the recording named them: call graphs fall back on it between branches of equal weight.
    fn dso(&mut self, id: MachineDso, machine: &Machine, profile: &mut Profile) -> DsoId {
        if self.dsos.is_empty() {
            machine.recorded_names().iter().for_each(|name| {
                self.named_dso(name, profile);
            });
        }
        for dso in machine.dsos().iter().take(id.0 as usize + 1).skip(self.dsos.len()) {
            let known = self.named_dso(&dso.name, profile);
            profile.dsos[known.index()].short.clone_from(&dso.short_name);
            self.dsos.push(known);
        }
        self.dsos[id.0 as usize]
    }

    fn named_dso(&mut self, name: &str, profile: &mut Profile) -> DsoId {
        if let Some(known) = self.dsos_by_name.get(name) {
            return *known;
        }
        let id = DsoId(profile.dsos.len() as u32);
        profile.dsos.push(Dso { long: name.to_owned(), short: name.to_owned() });
        self.dsos_by_name.insert(name.to_owned(), id);
        id
    }

    fn symbol(&mut self, symbol: Symbol, profile: &mut Profile) -> SymbolId {
        if let Some(known) = self.symbols.get(&symbol) {
            return *known;
        }
        let id = SymbolId(profile.symbols.len() as u32);
        profile.symbols.push(symbol.clone());
        self.symbols.insert(symbol, id);
        id
    }
}

fn find(names: &Names<'_>, machine: &Machine, frame: &Located) -> Found {
    match frame.place.and_then(|place| names.name(machine, &place)) {
        Some(name) => Found::Symbol(name.symbol),
        None => Found::Nothing,
    }
}

fn steps_of(names: &Names<'_>, machine: &Machine, frame: &Located) -> Vec<Step> {
    let Some(place) = frame.place else { return Vec::new() };
    match names.name(machine, &place) {
        Some(name) => names.steps(machine, &place, &name),
        None => {
            let line = names.source(machine, place.dso).and_then(|source| source.line(place.address));
            vec![Step { inlined: None, line }]
        }
    }
}

/// The distinct dsos of some addresses.
fn dsos_of(frames: &[Located]) -> Vec<MachineDso> {
    let mut dsos: Vec<MachineDso> =
        frames.iter().filter_map(|frame| frame.place.map(|place| place.dso)).collect();
    dsos.sort_unstable();
    dsos.dedup();
    dsos
}
