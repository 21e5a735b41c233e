//! From a recording to a profile: what `report` and `profile` show.

use std::ops::ControlFlow;

use clap::ArgMatches;
use oxperf_abi::{AttrFlags, SampleType};
use oxperf_collect::{CollectOptions, Collector};
use oxperf_data::Reader;
use oxperf_data::features::{
    CpuTopology, GroupDesc, GroupEntry as GroupName, NrCpus, PmuMappings,
    TracingDataSection as TracingBytes,
};
use oxperf_itrace::ItraceOptions;
use oxperf_machine::Machine;
use oxperf_profile::{DetailsWanted, EventGroup, EventProfile, Profile};
use oxperf_resolve::SymbolSource;
use oxperf_session::{Diagnostics, EventTable, SampleEvent, Session, Sink};
use oxperf_tracepoint::{Formatters, TracingData};

use crate::failure::Failure;
use crate::filter::Filter;
use crate::guests;
use crate::input::{Input, chain_losses};
use crate::itrace::Decoding;
use crate::naming;
use crate::output;
use crate::switching::Switching;

/// What is made of hardware trace, and the options that say where its code lies.
pub(crate) type Itrace<'m> = (&'m ArgMatches, Option<ItraceOptions>);

/// A recording that was read.
pub(crate) struct Loaded {
    /// Its samples.
    pub(crate) profile: Profile,
    /// What was lost and broken.
    pub(crate) diagnostics: Diagnostics,
    /// The machine at its end.
    pub(crate) machine: Machine,
}

/// What is wanted of samples beyond where they ran.
#[derive(Default)]
pub(crate) struct Wishes<'w> {
    /// Details of them; records of tracepoints need their formats.
    pub(crate) details: DetailsWanted,
    pub(crate) formats: Option<&'w Formatters>,
    /// If call chains matter to nothing but call graphs, tells to which these belong.
    pub(crate) graphed: Option<&'w Graphed<'w>>,
}

/// Tells of a profile without chains which sample groups of each event matter to a call graph.
pub(crate) type Graphed<'w> = dyn Fn(&Profile) -> Vec<Vec<bool>> + 'w;

/// Reads the whole recording.
pub(crate) fn load(
    input: &Input,
    reader: &Reader<'_>,
    source: &dyn SymbolSource,
    options: CollectOptions,
    wishes: Wishes<'_>,
    (matches, itrace): Itrace<'_>,
    filter: &Filter,
) -> Result<Loaded, Failure> {
    let passage = input.passage(false);
    let begin = || {
        Session::new(reader)
            .keeping_exited_threads()
            .observed_by(&passage)
            .knowing_guests(&guests::known(matches))
            .with_jit_logs(naming::places(matches))
    };
    let mut session = begin();
    let takes_cpu = |cpu| filter.takes_cpu(Some(cpu));
    let mut decoding =
        Decoding::prepare(matches, itrace, (input, reader), &mut session, &takes_cpu)?;
    decoding
        .iter_mut()
        .for_each(|decoding| decoding.leave_out(filter, true));
    let events = event_profiles(reader, session.events());
    let cpus = latency_cpus(reader, session.events());
    let unwinder = options
        .chains
        .then(|| naming::unwinder(naming::places(matches), reader))
        .flatten();
    let run = |session: Session<'_, '_>,
               decoding: Option<Decoding<'_>>,
               collector: &mut Collector<'_>| {
        let switching = Switching::from_matches(matches, session.events())?;
        let switching = Some(switching).filter(|switching| !switching.takes_all());
        let prefix_only = decoding.is_none() && collector.needs_prefix_only();
        let session = if prefix_only {
            session.prefix_only()
        } else {
            session
        };
        let mut sifted = Sifted {
            filter,
            switching,
            collector,
        };
        match decoding {
            Some(decoding) => decoding.run(session, (input, reader), &mut sifted),
            None => session
                .run(&mut sifted)
                .map_err(|error| input.refuse(&error)),
        }
    };
    let once = decoding.is_some() || unwinder.is_some() || !wishes.details.details.is_empty();
    let twice =
        options.allows_two_passes() && reader.is_rereadable() && reader.compression().is_none();
    let (mut profile, finished) = match wishes.graphed.filter(|_| twice && !once) {
        Some(graphed) => {
            let mut first = Collector::first_pass(events, source, options).with_latency(cpus);
            let finished = run(session, None, &mut first)?;
            let counts = first.finish_first_pass(&finished.machine);
            let wanted = graphed(&counts.profile);
            let mut second =
                Collector::second_pass(counts, wanted, source, options).with_latency(cpus);
            let finished = run(begin(), None, &mut second)?;
            (second.finish(&finished.machine), finished)
        }
        None => {
            let mut collector = Collector::new(events, source, options)
                .with_latency(cpus)
                .with_details(wishes.details, wishes.formats, reader.endian())
                .with_unwinder(unwinder);
            let finished = run(session, decoding, &mut collector)?;
            (collector.finish(&finished.machine), finished)
        }
    };
    for (event, lost) in profile
        .events
        .iter_mut()
        .zip(&finished.diagnostics.lost_samples_by_event)
    {
        event.lost = *lost;
    }
    Ok(Loaded {
        profile,
        diagnostics: finished.diagnostics,
        machine: finished.machine,
    })
}

/// The number of CPUs, if the recording tells when threads began and ceased to run.
fn latency_cpus(reader: &Reader<'_>, events: &EventTable) -> Option<u32> {
    let told = events
        .events()
        .iter()
        .any(|event| event.attr.flags.contains(AttrFlags::CONTEXT_SWITCH));
    let cpus = reader.features().get::<NrCpus>().ok().flatten();
    told.then(|| cpus.map_or(1, |cpus| cpus.available))
}

/// A collector that sees the samples that pass only.
struct Sifted<'a, 's> {
    filter: &'a Filter,
    switching: Option<Switching>,
    collector: &'a mut Collector<'s>,
}

impl<'s> Sink for Sifted<'_, 's> {
    type Inner = Collector<'s>;

    fn inner(&mut self) -> Option<&mut Collector<'s>> {
        Some(self.collector)
    }

    fn log(&mut self, text: &[u8]) {
        output::print_text(text);
    }

    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if let Some(switching) = &mut self.switching {
            // What is at another time switches nothing, what is on another CPU does.
            if !self.filter.takes_time(event) || !switching.takes(event.event) {
                return ControlFlow::Continue(());
            }
        }
        match self.filter.takes(machine, event) {
            true => self.collector.sample(machine, event),
            false => ControlFlow::Continue(()),
        }
    }
}

/// The socket of each CPU, as far as the recording tells.
pub(crate) fn sockets(reader: &Reader<'_>) -> Vec<Option<u32>> {
    let topology = reader.features().get::<CpuTopology>().ok().flatten();
    topology
        .map(|topology| topology.cpus.iter().map(|cpu| cpu.socket).collect())
        .unwrap_or_default()
}

/// How to show the records of the tracepoints that the recording holds.
pub(crate) fn formatters(reader: &Reader<'_>) -> Formatters {
    let bytes = reader.features().get::<TracingBytes>().ok().flatten();
    let data = bytes.and_then(|bytes| TracingData::decode(&bytes.0).ok());
    data.map(|data| Formatters::new(&data)).unwrap_or_default()
}

/// A sentence for each kind of loss.
pub(crate) fn losses(profile: &Profile, found: &Diagnostics) -> Vec<String> {
    // A sample that found its ring full is among the ring's lost records, too.
    let lost_samples: u64 = profile.events.iter().map(|event| event.lost).sum();
    let lost_samples = lost_samples.saturating_sub(found.lost_records);
    let counts = [
        (
            found.lost_records,
            "records were lost because a ring was full: try larger rings (-m 4M) or a lower rate (-F 999)",
        ),
        (
            lost_samples,
            "samples were lost in the kernel: try a lower rate (-F 999)",
        ),
        (
            found.aux.total(),
            "pieces of an instruction trace are not whole: try larger rings for it (-m ,16M)",
        ),
        (
            found.trace_errors,
            "errors of decoding an instruction trace",
        ),
        (found.undecodable, "records could not be decoded"),
        (
            found.damage.count(),
            "stretches of the file could not be read",
        ),
    ];
    let present = counts.iter().filter(|(count, _)| *count > 0);
    let counted = present.map(|(count, what)| format!("{count} {what}"));
    counted.chain(chain_losses(&profile.chain_losses)).collect()
}

fn event_profiles(reader: &Reader<'_>, events: &EventTable) -> Vec<EventProfile> {
    let mut groups = groups(reader, events.events().len());
    leave_trace_out(reader, events, &mut groups);
    let events = events.events().iter().zip(groups.drain(..));
    let profile = events.map(|(event, group)| EventProfile {
        name: event.name.clone(),
        group,
        has_callchains: event.attr.sample_type.contains(SampleType::CALLCHAIN),
        ..EventProfile::default()
    });
    profile.collect()
}

/// An event that makes hardware trace leads no group: it has no samples. The next one leads instead; alone it is none.
fn leave_trace_out(reader: &Reader<'_>, events: &EventTable, groups: &mut [Option<EventGroup>]) {
    let pmus = reader.features().get::<PmuMappings>().ok().flatten();
    let traced: Vec<_> = pmus
        .iter()
        .flat_map(|pmus| &pmus.0)
        .filter(|pmu| pmu.name == "intel_pt")
        .map(|pmu| pmu.kind)
        .collect();
    for index in 0..groups.len() {
        let leads = groups[index]
            .as_ref()
            .is_some_and(|group| group.leader == index);
        if !leads
            || !events
                .events()
                .get(index)
                .is_some_and(|event| traced.contains(&event.attr.kind))
        {
            continue;
        }
        groups[index] = None;
        let is_member =
            |group: &Option<EventGroup>| group.as_ref().is_some_and(|group| group.leader == index);
        let members: Vec<usize> = (index + 1..groups.len())
            .filter(|at| is_member(&groups[*at]))
            .collect();
        for at in &members {
            match (&mut groups[*at], members.len()) {
                (Some(group), 2..) => group.leader = members[0],
                (slot, _) => *slot = None,
            }
        }
    }
}

/// Makes one group of all events: that of the first, if it has one.
pub(crate) fn join_events(profile: &mut Profile) {
    let first = profile.events.first().and_then(|event| event.group.clone());
    let joined = first.unwrap_or(EventGroup {
        leader: 0,
        name: None,
        joined: true,
    });
    profile
        .events
        .iter_mut()
        .for_each(|event| event.group = Some(joined.clone()));
}

/// The group of each event, as the recorder described them.
fn groups(reader: &Reader<'_>, count: usize) -> Vec<Option<EventGroup>> {
    let mut groups = vec![None; count];
    let described = reader.features().get::<GroupDesc>().ok().flatten();
    for group in described.iter().flat_map(|described| &described.0) {
        let leader = group.leader as usize;
        let name = Some(group.name.clone())
            .filter(|name| !name.is_empty() && name != GroupName::ANONYMOUS);
        let members = leader
            .checked_add(group.members as usize)
            .and_then(|end| groups.get_mut(leader..end));
        members.into_iter().flatten().for_each(|slot| {
            *slot = Some(EventGroup {
                leader,
                name: name.clone(),
                joined: false,
            })
        });
    }
    groups
}
