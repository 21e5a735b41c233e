//! From located addresses to the profile's frames: one frame a function, or an address where no name is known.

use oxperf_machine::{DsoId as MachineDso, DsoKind, Machine};
use oxperf_resolve::{InlineStep, LocatedFrame as Located, Names};
use oxperf_symbols::{SourceLine, SymbolId as TableSymbol};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::named::Named;
use super::sources::Sources;
use super::symbol_frames::{At, SymbolFrames, SymbolKey};
use super::{LineText, level};
use oxperf_profile::{Dso, DsoId, Frame, FrameId, Profile, Source, Symbol, SymbolId};

/// What addresses were named so far, to give equal ones equal frames.
#[derive(Debug, Default)]
pub(super) struct Naming {
    inlined: FxHashMap<StepKey, FrameId>,
    sources: Sources,
    by_symbol: SymbolFrames,
    /// The profile's dso of each of the machine's, as far as they were needed.
    dsos: Vec<DsoId>,
    dsos_by_name: FxHashMap<String, DsoId>,
    symbols: FxHashMap<Symbol, SymbolId>,
}

/// What tells the functions at an address apart: symbol, source, address where these are kept apart, and whether it is
/// the outermost one.
type StepKey = (SymbolId, Option<Source>, Option<At>, bool);

/// What is wanted beside names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) inlines: bool,
    pub(super) lines: Option<LineText>,
    pub(super) addresses_apart: bool,
    /// Leave out addresses without a symbol.
    pub(super) symbols_only: bool,
}

/// What naming found for an address.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// A symbol of the dso's table, or of a dso that is a symbol itself.
    Symbol(Option<TableSymbol>),
    Nothing,
}

impl Naming {
    /// Names further addresses, in the order of their numbers.
    pub(super) fn extend(
        &mut self,
        new: &[Located],
        (names, machine): (&Names<'_>, &Machine),
        profile: &mut Profile,
        wanted: Wanted,
    ) -> Named {
        let steps = match wanted.inlines || wanted.lines.is_some() {
            true => all_steps(new, names, machine),
            false => {
                names.load(machine.objects(), &dsos_of(new));
                Vec::new()
            }
        };
        let found: Vec<Found> = new
            .par_iter()
            .with_min_len(32)
            .map(|frame| find(names, machine, frame))
            .collect();
        let own = new
            .iter()
            .zip(found)
            .enumerate()
            .map(|(nth, (frame, found))| {
                let line = steps
                    .get(nth)
                    .and_then(|steps| steps.first()?.line.as_ref());
                let own = self.source(frame, line, wanted, (names, machine), profile);
                let apart = wanted.addresses_apart;
                self.profile_frame(frame, found, (own, apart), (names, machine), profile)
            });
        let own: Vec<FrameId> = own.collect();
        let mut named = Named::default();
        for (nth, (frame, own)) in new.iter().zip(own).enumerate() {
            let hidden = wanted.symbols_only && profile.frames[own.index()].symbol.is_none();
            match steps.get(nth).filter(|_| wanted.inlines) {
                _ if hidden => named.push_list(own, Box::default()),
                Some(steps) => self.push_steps(
                    &mut named,
                    (own, frame),
                    steps,
                    wanted,
                    (names, machine),
                    profile,
                ),
                None => named.push(own),
            }
        }
        named
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

    /// Adds an address with what was inlined there.
    fn push_steps(
        &mut self,
        named: &mut Named,
        (own, frame): (FrameId, &Located),
        steps: &[InlineStep],
        wanted: Wanted,
        names: (&Names<'_>, &Machine),
        profile: &mut Profile,
    ) {
        let list = (1..).zip(steps).map(|(count, step)| {
            let source = self.source(frame, step.line.as_ref(), wanted, names, profile);
            self.step_frame((own, frame), (step, count == steps.len()), source, profile)
        });
        let list: Box<[FrameId]> = list.collect();
        match *list {
            [only] if only == own => named.push(own),
            [] => named.push(own),
            _ => named.push_list(own, list),
        }
    }

    /// The frame of a function that an address belongs to, where `own` is that of the symbol.
    fn step_frame(
        &mut self,
        (own, located): (FrameId, &Located),
        (step, outermost): (&InlineStep, bool),
        source: Option<Source>,
        profile: &mut Profile,
    ) -> FrameId {
        let frame = profile.frames[own.index()];
        let around = frame
            .symbol
            .and_then(|symbol| profile.symbols.get(symbol.index()));
        let symbol = match (&step.inlined, around) {
            (Some(name), Some(around)) => {
                let inlined = Symbol {
                    name: name.to_string(),
                    inlined: true,
                    ..around.clone()
                };
                Some(self.symbol(inlined, profile))
            }
            _ if source == frame.source && outermost => return own,
            _ => frame.symbol,
        };
        let Some(key) = symbol else { return own };
        let at = frame.alone.then_some((frame.dso_address, located.ip));
        let frames = &mut profile.frames;
        let add = || {
            frames.add(Frame {
                symbol,
                source,
                address: located.ip,
                outermost,
                ..frame
            })
        };
        *self
            .inlined
            .entry((key, source, at, outermost))
            .or_insert_with(add)
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
                let at = alone.then_some((place.address, frame.ip));
                Some(SymbolKey {
                    dso: place.dso,
                    symbol,
                    source,
                    at,
                })
            }
            _ => None,
        };
        if let Some(known) = key.and_then(|key| self.by_symbol.get(&key)) {
            return known;
        }
        let dso = place.map(|place| self.dso(place.dso, machine, profile));
        let name = key
            .and(place)
            .and_then(|place| names.name(machine.objects(), &place));
        let symbol = dso.zip(name).map(|(dso, name)| {
            let symbol = Symbol {
                name: name.text.to_owned(),
                dso,
                start: name.start,
                end: name.end,
                inlined: false,
                is_data: name.is_data,
            };
            self.symbol(symbol, profile)
        });
        let dso_address = place.map_or(frame.ip, |place| place.address);
        let (level, outermost) = (level(frame.mode), true);
        let frame = Frame {
            dso,
            symbol,
            address: frame.ip,
            dso_address,
            level,
            source,
            alone,
            outermost,
        };
        let id = profile.frames.add(frame);
        if let Some(key) = key {
            self.by_symbol.insert(key, id);
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
        for number in self.dsos.len() as u32..=id.0 {
            let dso = machine.dso(MachineDso(number));
            let known = self.named_dso(&dso.name, profile);
            profile.dsos[known.index()]
                .short
                .clone_from(&dso.short_name);
            self.dsos.push(known);
        }
        self.dsos[id.0 as usize]
    }

    /// The profile's dso of one of the machine's, if it was needed.
    pub(super) fn known(&self, dso: MachineDso) -> Option<DsoId> {
        self.dsos.get(dso.0 as usize).copied()
    }

    fn named_dso(&mut self, name: &str, profile: &mut Profile) -> DsoId {
        if let Some(known) = self.dsos_by_name.get(name) {
            return *known;
        }
        let id = DsoId(profile.dsos.len() as u32);
        profile.dsos.push(Dso {
            long: name.to_owned(),
            short: name.to_owned(),
        });
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
    match frame
        .place
        .and_then(|place| names.name(machine.objects(), &place))
    {
        Some(name) => Found::Symbol(name.symbol),
        None => Found::Nothing,
    }
}

/// The steps of all addresses. While the kernel writes the list of its names, which takes as long as much debug information,
/// those of programs are found: these do without the list.
fn all_steps(new: &[Located], names: &Names<'_>, machine: &Machine) -> Vec<Vec<InlineStep>> {
    let objects = machine.objects();
    let (late, early): (Vec<MachineDso>, Vec<MachineDso>) = dsos_of(new)
        .into_iter()
        .partition(|&dso| is_of_kernel(machine, dso));
    let is_late = |frame: &Located| {
        frame
            .place
            .is_some_and(|place| is_of_kernel(machine, place.dso))
    };
    let read_late = || {
        late.iter().for_each(|&dso| {
            names.table(objects, dso);
        });
    };
    let mut steps: Vec<Vec<InlineStep>> = std::thread::scope(|scope| {
        if late.iter().any(|&dso| !names.has_looked_for(dso)) {
            // Without a thread for it, it is read when it is asked for.
            let _ = std::thread::Builder::new().spawn_scoped(scope, read_late);
        }
        names.load(objects, &early);
        let early = |frame| {
            if is_late(frame) {
                Vec::new()
            } else {
                steps_of(names, machine, frame)
            }
        };
        new.par_iter().with_min_len(64).map(early).collect()
    });
    let late = new
        .par_iter()
        .zip(&mut steps)
        .with_min_len(64)
        .filter(|(frame, _)| is_late(frame));
    late.for_each(|(frame, steps)| *steps = steps_of(names, machine, frame));
    steps
}

/// Whether the names of a dso come from the list of a kernel.
fn is_of_kernel(machine: &Machine, dso: MachineDso) -> bool {
    let kind = machine.dso(dso).kind;
    matches!(
        kind,
        DsoKind::Kernel | DsoKind::Module | DsoKind::GuestKernel(_) | DsoKind::GuestModule(_)
    )
}

fn steps_of(names: &Names<'_>, machine: &Machine, frame: &Located) -> Vec<InlineStep> {
    let Some(place) = frame.place else {
        return Vec::new();
    };
    match names.name(machine.objects(), &place) {
        Some(name) => names.steps(machine.objects(), &place, &name),
        None => {
            let line = names
                .source(machine.objects(), place.dso)
                .and_then(|source| source.line(place.address));
            vec![InlineStep {
                inlined: None,
                line,
            }]
        }
    }
}

/// The distinct dsos of some addresses.
fn dsos_of(frames: &[Located]) -> Vec<MachineDso> {
    let mut dsos: Vec<MachineDso> = frames
        .iter()
        .filter_map(|frame| frame.place.map(|place| place.dso))
        .collect();
    dsos.sort_unstable();
    dsos.dedup();
    dsos
}
