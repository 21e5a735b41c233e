//! The stacks of samples, named and in the order of the samples: for whoever shows or stores each sample by itself.
//!
//! Nothing is merged but names, so that memory grows with what is called differently. Addresses without a symbol are one
//! frame for each object, and of located addresses no more are kept than [`MOST_LOCATED`].

use oxperf_abi::BuildId;
use oxperf_machine::{Dso, Machine};
use oxperf_profile::{DetailId, DsoId, FrameId, Profile};
use oxperf_resolve::{ChainLosses, Chains, FrameId as LocatedId, Names, SymbolSource, Unwinder};
use oxperf_session::SampleEvent;

use super::batch::{Batch, BatchSample, LocatedSample, Span};
use super::frame_namer::FrameNamer;
use super::locator::Locator;
use super::lookup::SymbolLookup;
use super::named_frames::NamedTables;
use super::options::{CollectOptions, LineText};

/// Samples and addresses that are named at once.
const BATCH: usize = 1 << 15;
/// Located addresses that are kept; when there are more, they are located anew.
const MOST_LOCATED: usize = 1 << 17;
/// Frames that are kept. Only addresses that are kept apart can be so many.
const MOST_FRAMES: usize = 1 << 19;

/// The parts of stacks that are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StackOptions {
    /// Callers, too; else a stack is the function that ran.
    pub chains: bool,
    /// Most recorded entries of a chain that count, and most that a copy of the stack gives besides.
    pub max_stack: usize,
    /// The functions that were inlined are frames of their own.
    pub inlines: bool,
    /// Frames of different source lines are different frames.
    pub lines: bool,
    /// Frames of different addresses are, and objects are kept apart by their build ids.
    pub addresses: bool,
}

/// The names of frames.
#[derive(Clone, Copy)]
pub struct StackNames<'a> {
    /// The frames, their symbols and objects.
    pub profile: &'a Profile,
    namer: &'a FrameNamer,
}

impl StackNames<'_> {
    /// The build id of an object, where addresses are kept apart.
    pub fn build_id(&self, dso: DsoId) -> Option<BuildId> {
        self.namer.build_id(dso)
    }
}

/// Names the stacks of samples, batch by batch.
pub struct StackNamer<'s> {
    options: CollectOptions,
    chains: Chains,
    names: Names<'s>,
    namer: FrameNamer,
    located: Located,
    batch: Batch,
    profile: Profile,
    stack: Vec<FrameId>,
}

/// The addresses that were met, and their names.
struct Located {
    locator: Locator,
    named: NamedTables,
    count: usize,
}

impl Located {
    fn new(options: &CollectOptions) -> Located {
        // What is spent counts more than how long it takes: many processes may export at a time.
        let locator = match options.merges_addresses() {
            true => Locator::merged(),
            false => Locator::one_table(),
        };
        let named = NamedTables::new(locator.split());
        Located {
            locator,
            named,
            count: 0,
        }
    }
}

impl<'s> StackNamer<'s> {
    /// Names stacks by `source`; callers in copies of stacks are found by `unwinder`.
    pub fn new(
        options: StackOptions,
        source: &'s dyn SymbolSource,
        unwinder: Option<Unwinder>,
    ) -> StackNamer<'s> {
        let options = CollectOptions {
            chains: options.chains,
            max_stack: options.max_stack,
            inlines: options.inlines,
            lines: options.lines.then_some(LineText {
                whole_paths: true,
                known_only: true,
            }),
            merges_unresolved: !options.addresses,
            addresses_apart: options.addresses,
            builds_apart: options.addresses,
            ..CollectOptions::default()
        };
        StackNamer {
            chains: Chains::new(options.chain_options(), unwinder),
            names: Names::new(source),
            namer: FrameNamer::default(),
            located: Located::new(&options),
            batch: Batch::default(),
            profile: Profile::default(),
            stack: Vec::new(),
            options,
        }
    }

    /// `true` if it helps to see samples before their turn.
    pub fn wants_batches(&self) -> bool {
        self.options.chains && self.chains.wants_batches()
    }

    /// Prepares the chains of samples whose turn comes next.
    pub fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.chains.prefetch(machine, samples);
    }

    /// Takes a sample; the machine is as it was at that moment. Returns `true` if the samples so far are to be named before
    /// the next one.
    #[inline]
    pub fn push(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        let batch = &mut self.batch;
        let start = batch.addresses.len();
        let own = (event.misc.cpu_mode(), event.sample.ip.unwrap_or(0));
        batch.addresses.push(own);
        if self.options.chains {
            let chain = self.chains.of(machine, event);
            batch.addresses.extend_from_slice(chain.addresses);
        }
        let info = machine.thread_info(event.thread);
        batch.samples.push(BatchSample {
            event: event.event.0 as u32,
            thread: event.thread,
            comm: info.comm,
            detail: DetailId::EMPTY,
            mappings: batch.mappings.keep(machine, event.thread),
            branches: Span::default(),
            is_branch: false,
            last: true,
            history: None,
            addresses: Span::new(start, batch.addresses.len()),
            period: event.period,
            latency: 0,
            moment: None,
        });
        batch.len() >= BATCH || batch.mappings.is_full()
    }

    /// Names the samples that were taken since the last call; gives `each` the stack of each of them, innermost frame first.
    pub fn name(&mut self, machine: &Machine, mut each: impl FnMut(StackNames<'_>, &[FrameId])) {
        self.name_new(machine);
        let (batch, named) = (&self.batch, &self.located.named);
        let names = StackNames {
            profile: &self.profile,
            namer: &self.namer,
        };
        for sample in &batch.samples {
            self.stack.clear();
            if let Some(located) = batch.located_sample(sample) {
                lay_out(named, &located, &mut self.stack);
            }
            each(names, &self.stack);
        }
        self.batch.clear();
    }

    /// `true` if there are so many frames that they are better forgotten.
    pub fn is_large(&self) -> bool {
        self.profile.frames.len() > MOST_FRAMES
    }

    /// Gives back the memory of the files that names were read of. Most names are read once: the profile has them.
    pub fn release_files(&self) {
        self.names.release_files();
    }

    /// Forgets all frames; the next ones get new numbers.
    pub fn forget(&mut self) {
        self.located = Located::new(&self.options);
        self.namer = FrameNamer::default();
        self.profile = Profile::default();
    }

    /// The objects that code was named in, each with whether it has symbols.
    pub fn objects<'m>(&self, machine: &'m Machine) -> impl Iterator<Item = (&'m Dso, bool)> {
        let objects = machine.objects();
        let asked = objects
            .dsos()
            .filter(|dso| self.names.has_looked_for(dso.id));
        asked.map(move |dso| (dso, self.names.table(objects, dso.id).is_some()))
    }

    /// What of the chains could not be had so far.
    pub fn losses(&self) -> ChainLosses {
        self.chains.losses()
    }

    fn name_new(&mut self, machine: &Machine) {
        if self.located.count > MOST_LOCATED {
            self.located = Located::new(&self.options);
        }
        let lookup = SymbolLookup {
            names: &self.names,
            machine,
        };
        let Located {
            locator,
            named,
            count,
        } = &mut self.located;
        locator.locate(&mut self.batch, lookup);
        self.batch.join_parts(locator.split());
        let fresh = locator.take_new();
        *count += fresh.frames.len();
        self.batch.mappings.clear();
        let naming = self.options.naming();
        let later = self
            .namer
            .extend(&fresh.frames, lookup, &mut self.profile, naming);
        named.append(fresh.by_table(later));
    }
}

/// Adds the frames of a sample, innermost first. The function that ran comes first: a chain that begins elsewhere, because
/// the CPU had gone on before it was walked, is what called it.
fn lay_out(named: &NamedTables, sample: &LocatedSample<'_>, stack: &mut Vec<FrameId>) {
    let is_same = |first: &LocatedId| named.frame(*first) == named.frame(sample.own);
    if !sample.chain.first().is_some_and(is_same) {
        stack.extend_from_slice(named.entry(sample.own));
    }
    let callers = sample.chain.iter();
    stack.extend(callers.flat_map(|caller| named.entry(*caller)));
}
