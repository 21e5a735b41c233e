//! From located addresses to the profile's frames: one frame a function, or an address where no name is known.

use oxperf_abi::{BuildId, CpuMode};
use oxperf_machine::{DsoId as MachineDso, DsoKind, Machine};
use oxperf_profile::{
    DsoId, Frame, FrameId, Level, Profile, ProfileDso, ProfileSymbol, Source, SymbolId,
};
use oxperf_resolve::{InlineStep, LocatedFrame as Located};
use oxperf_symbols::{SourceLine, SymbolId as TableSymbol};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::lookup::SymbolLookup;
use super::named_frames::NamedFrames;
use super::options::NamingOptions;
use super::sources::{LineAt, SourceTable};
use super::symbol_frames::{At, SymbolFrames, SymbolKey};

/// The frames of all addresses so far, so that equal addresses get equal frames.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameNamer {
    inlined: FxHashMap<StepKey, FrameId>,
    sources: SourceTable,
    by_symbol: SymbolFrames,
    /// The profile's dso of each of the machine's, as far as they were needed.
    dsos: Vec<DsoId>,
    dsos_by_name: FxHashMap<String, DsoId>,
    /// The build id of each of the profile's dsos, where these keep dsos apart.
    build_ids: Vec<Option<BuildId>>,
    symbols: FxHashMap<ProfileSymbol, SymbolId>,
    /// The frame of addresses without a symbol, where those of an object, or of none, are one.
    unresolved: FxHashMap<(Option<MachineDso>, Level, Option<Source>), FrameId>,
}

/// Addresses whose symbols are found as one piece of work: few take less time than it takes to wake another core.
const FOUND_AT_ONCE: usize = 512;

/// The functions at one address differ in symbol, source, address where these are kept apart, and in being the outermost
/// one.
type StepKey = (SymbolId, Option<Source>, Option<At>, bool);

/// The symbol of an address.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// A symbol of the dso's table, or of a dso that is a symbol itself.
    Symbol(Option<TableSymbol>),
    Nothing,
}

impl FrameNamer {
    /// Names further addresses, in the order of their numbers.
    pub(super) fn extend(
        &mut self,
        new: &[Located],
        lookup: SymbolLookup<'_, '_>,
        profile: &mut Profile,
        options: NamingOptions,
    ) -> NamedFrames {
        let steps = if options.inlines || options.lines.is_some() {
            all_steps(new, lookup)
        } else {
            let objects = lookup.machine.objects();
            lookup.names.load(objects, &dsos_of(new));
            Vec::new()
        };
        let found: Vec<Found> = new
            .par_iter()
            .with_min_len(FOUND_AT_ONCE)
            .map(|frame| find(lookup, frame))
            .collect();
        let mut naming = Naming {
            namer: self,
            lookup,
            profile,
            options,
        };
        let own = naming.own_frames(new, found, &steps);
        naming.entries(new, own, &steps)
    }

    /// The profile's dso of one of the machine's, if it was needed.
    pub(super) fn known(&self, dso: MachineDso) -> Option<DsoId> {
        self.dsos.get(dso.0 as usize).copied()
    }

    /// The build id of a dso of the profile, where these keep dsos apart.
    pub(super) fn build_id(&self, dso: DsoId) -> Option<BuildId> {
        self.build_ids.get(dso.index()).copied().flatten()
    }

    /// The profile's dso of one of the machine's, by name and build id.
    fn build(&mut self, id: MachineDso, machine: &Machine, profile: &mut Profile) -> DsoId {
        let dso = machine.dso(id);
        let Some(build_id) = dso.build_id else {
            return self.dso(id, machine, profile);
        };
        let known = self.named_dso(&format!("{} {build_id}", dso.name), profile);
        let found = &mut profile.dsos[known.index()];
        found.long.clone_from(&dso.name);
        found.short.clone_from(&dso.short_name);
        if self.build_ids.len() <= known.index() {
            self.build_ids.resize(known.index() + 1, None);
        }
        self.build_ids[known.index()] = Some(build_id);
        known
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

    fn named_dso(&mut self, name: &str, profile: &mut Profile) -> DsoId {
        if let Some(known) = self.dsos_by_name.get(name) {
            return *known;
        }
        let id = DsoId(profile.dsos.len() as u32);
        profile.dsos.push(ProfileDso {
            long: name.to_owned(),
            short: name.to_owned(),
        });
        self.dsos_by_name.insert(name.to_owned(), id);
        id
    }

    fn symbol(&mut self, symbol: ProfileSymbol, profile: &mut Profile) -> SymbolId {
        if let Some(known) = self.symbols.get(&symbol) {
            return *known;
        }
        let id = SymbolId(profile.symbols.len() as u32);
        profile.symbols.push(symbol.clone());
        self.symbols.insert(symbol, id);
        id
    }
}

/// The naming of one list of addresses.
struct Naming<'a, 's> {
    namer: &'a mut FrameNamer,
    lookup: SymbolLookup<'a, 's>,
    profile: &'a mut Profile,
    options: NamingOptions,
}

/// A function that an address belongs to.
struct StepOf<'a> {
    step: &'a InlineStep,
    /// The frame of the address's symbol.
    own: FrameId,
    /// True if no further function is around it.
    outermost: bool,
    source: Option<Source>,
}

impl Naming<'_, '_> {
    /// The frame of each address, without what was inlined there.
    fn own_frames(
        &mut self,
        new: &[Located],
        found: Vec<Found>,
        steps: &[Vec<InlineStep>],
    ) -> Vec<FrameId> {
        let frames = new.iter().zip(found).enumerate();
        let frames = frames.map(|(nth, (frame, found))| {
            let innermost = steps.get(nth).and_then(|steps| steps.first());
            let line = innermost.and_then(|step| step.line.as_ref());
            let source = self.source(frame, line);
            self.profile_frame(frame, found, source)
        });
        frames.collect()
    }

    /// Each address with the frames that it stands for in call chains.
    fn entries(
        &mut self,
        new: &[Located],
        own: Vec<FrameId>,
        steps: &[Vec<InlineStep>],
    ) -> NamedFrames {
        let mut named = NamedFrames::default();
        for (nth, (frame, own)) in new.iter().zip(own).enumerate() {
            let has_symbol = self.profile.frames[own.index()].symbol.is_some();
            match steps.get(nth).filter(|_| self.options.inlines) {
                _ if self.options.symbols_only && !has_symbol => {
                    named.push_list(own, Box::default());
                }
                Some(steps) => self.push_steps(&mut named, own, frame, steps),
                None => named.push(own),
            }
        }
        named
    }

    /// The source of an address, if that was asked for.
    fn source(&mut self, located: &Located, line: Option<&SourceLine>) -> Option<Source> {
        let form = self.options.lines?;
        if form.known_only && line.is_none() {
            return None;
        }
        let at = LineAt { located, line };
        let sources = &mut self.namer.sources;
        Some(sources.of(at, form, self.lookup, &mut self.profile.sources))
    }

    /// Adds an address with what was inlined there.
    fn push_steps(
        &mut self,
        named: &mut NamedFrames,
        own: FrameId,
        frame: &Located,
        steps: &[InlineStep],
    ) {
        let list = (1..).zip(steps).map(|(count, step)| {
            let source = self.source(frame, step.line.as_ref());
            let outermost = count == steps.len();
            let step = StepOf {
                step,
                own,
                outermost,
                source,
            };
            self.step_frame(frame, &step)
        });
        let list: Box<[FrameId]> = list.collect();
        match *list {
            [only] if only == own => named.push(own),
            [] => named.push(own),
            _ => named.push_list(own, list),
        }
    }

    /// The frame of a function that an address belongs to.
    fn step_frame(&mut self, located: &Located, step: &StepOf<'_>) -> FrameId {
        let &StepOf {
            step,
            own,
            outermost,
            source,
        } = step;
        let frame = self.profile.frames[own.index()];
        let around = frame
            .symbol
            .and_then(|symbol| self.profile.symbols.get(symbol.index()));
        let symbol = match (&step.inlined, around) {
            (Some(name), Some(around)) => {
                let inlined = ProfileSymbol {
                    name: name.to_string(),
                    inlined: true,
                    ..around.clone()
                };
                Some(self.namer.symbol(inlined, self.profile))
            }
            _ if source == frame.source && outermost => return own,
            _ => frame.symbol,
        };
        let Some(symbol_id) = symbol else { return own };
        let at = frame.alone.then_some((frame.dso_address, located.ip));
        let frames = &mut self.profile.frames;
        let add = || {
            frames.add(Frame {
                symbol,
                source,
                address: located.ip,
                outermost,
                ..frame
            })
        };
        let key = (symbol_id, source, at, outermost);
        *self.namer.inlined.entry(key).or_insert_with(add)
    }

    fn profile_frame(&mut self, frame: &Located, found: Found, source: Option<Source>) -> FrameId {
        let place = frame.place;
        let alone = self.options.addresses_apart;
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
        if let Some(known) = key.and_then(|key| self.namer.by_symbol.get(&key)) {
            return known;
        }
        let merged = (self.options.merges_unresolved && key.is_none())
            .then(|| (place.map(|place| place.dso), level(frame.mode), source));
        if let Some(known) = merged.and_then(|key| self.namer.unresolved.get(&key)) {
            return *known;
        }
        let machine = self.lookup.machine;
        let dso = place.map(|place| match self.options.builds_apart {
            true => self.namer.build(place.dso, machine, self.profile),
            false => self.namer.dso(place.dso, machine, self.profile),
        });
        let name = key.and(place).and_then(|place| self.lookup.name(&place));
        let symbol = dso.zip(name).map(|(dso, name)| {
            let symbol = ProfileSymbol {
                name: name.text.to_owned(),
                dso,
                start: name.start,
                end: name.end,
                inlined: false,
                is_data: name.is_data,
            };
            self.namer.symbol(symbol, self.profile)
        });
        let id = self.profile.frames.add(Frame {
            dso,
            symbol,
            address: frame.ip,
            dso_address: place.map_or(frame.ip, |place| place.address),
            level: level(frame.mode),
            source,
            alone,
            outermost: true,
        });
        if let Some(key) = key {
            self.namer.by_symbol.insert(key, id);
        }
        if let Some(key) = merged {
            self.namer.unresolved.insert(key, id);
        }
        id
    }
}

/// The profile's frames are kept apart by level; modes without one of their own count as the hypervisor's.
fn level(mode: CpuMode) -> Level {
    match mode {
        CpuMode::Kernel => Level::Kernel,
        CpuMode::User => Level::User,
        CpuMode::GuestKernel => Level::GuestKernel,
        CpuMode::GuestUser => Level::GuestUser,
        CpuMode::Hypervisor | CpuMode::Unknown => Level::Hypervisor,
    }
}

fn find(lookup: SymbolLookup<'_, '_>, frame: &Located) -> Found {
    let name = frame.place.and_then(|place| lookup.name(&place));
    name.map_or(Found::Nothing, |name| Found::Symbol(name.symbol))
}

/// The steps of all addresses. While the kernel writes the list of its names, which takes as long as much debug information,
/// those of programs are found: these do without the list.
fn all_steps(new: &[Located], lookup: SymbolLookup<'_, '_>) -> Vec<Vec<InlineStep>> {
    let SymbolLookup { names, machine } = lookup;
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
                steps_of(lookup, frame)
            }
        };
        new.par_iter().with_min_len(64).map(early).collect()
    });
    let late = new
        .par_iter()
        .zip(&mut steps)
        .with_min_len(64)
        .filter(|(frame, _)| is_late(frame));
    late.for_each(|(frame, steps)| *steps = steps_of(lookup, frame));
    steps
}

/// True if the names of a dso come from the list of a kernel.
fn is_of_kernel(machine: &Machine, dso: MachineDso) -> bool {
    let kind = machine.dso(dso).kind;
    matches!(
        kind,
        DsoKind::Kernel | DsoKind::Module | DsoKind::GuestKernel(_) | DsoKind::GuestModule(_)
    )
}

fn steps_of(lookup: SymbolLookup<'_, '_>, frame: &Located) -> Vec<InlineStep> {
    let Some(place) = frame.place else {
        return Vec::new();
    };
    match lookup.name(&place) {
        Some(name) => lookup.steps(&place, &name),
        None => vec![InlineStep {
            inlined: None,
            line: lookup.line(&place),
        }],
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
