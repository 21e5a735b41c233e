//! One recording of a comparison: its profile, and its rows by the keys of the comparison.

use oxperf_abi::{EventAttr, EventType};
use oxperf_analysis::diff::Method;
use oxperf_analysis::hist::{HistOptions, SortKey, Table, histograms};
use oxperf_analysis::streams::{HotStreams, hot_streams};
use oxperf_collect::{BlockDetail, CollectOptions, LineText};
use oxperf_data::Reader;
use oxperf_data::features::BranchStack;
use oxperf_itrace::ItraceOptions;
use oxperf_profile::{DetailOptions, Profile};
use oxperf_query::{Filter, FilterOptions, formatters, require_cpus};
use oxperf_session::Diagnostics;
use oxperf_symbols::SymbolStore;

use super::options::Comparison;
use crate::cmd::report::cycles::are_consecutive;
use crate::cmd::report::verbose;
use crate::failure::Failure;
use crate::input::Input;
use crate::load::{LoadOptions, Loaded, load};
use crate::losses::losses;
use crate::recording_options::RecordingOptions;

/// What is known of a recording.
pub(super) struct Recording {
    /// Its file, as it was named.
    pub(super) file: String,
    pub(super) profile: Profile,
    pub(super) diagnostics: Diagnostics,
    /// What tells its events apart, in the order of the file.
    identities: Vec<(EventType, u64)>,
    tables: Vec<Table>,
}

impl Recording {
    /// Reads a recording, the `nth` of the comparison, with names of a store that all of them share.
    pub(super) fn load(
        input: &Input,
        nth: usize,
        options: &Comparison,
        store: &SymbolStore,
    ) -> Result<Recording, Failure> {
        let reader = input.reader()?;
        if options.diff.method == Method::Cycles && !carries_branches(&reader) {
            let path = input.path().display();
            return Err(Failure::new(format!(
                "{path}: no branches, so no cycles: record them with -b"
            )));
        }
        // perf says nothing and ends with the same code.
        if options.streams && !carries_branches(&reader) {
            let path = input.path().display();
            return Err(Failure::new(format!(
                "{path}: no branches, so no streams: record them with -b"
            )));
        }
        let RecordingOptions {
            filter,
            symbols,
            trace,
            ..
        } = &options.recording;
        require_cpus(filter, reader.events())?;
        let names = symbols.recorded(&reader, store);
        let keys = &options.diff.keys;
        let formatters = keys.contains(&SortKey::Trace).then(|| formatters(&reader));
        let details = DetailOptions {
            details: keys.iter().filter_map(|key| key.detail()).collect(),
            ..DetailOptions::default()
        };
        let trace = trace.request(ItraceOptions::REPORT)?;
        let filters = FilterOptions {
            times: options.times.get(nth).cloned().flatten(),
            ..filter.clone()
        };
        let (filter, threads) = Filter::new(&filters, &reader)?.split_threads();
        let shown = options.shown.clone().of_threads(threads);
        let collected = CollectOptions {
            blocks: blocks(options, &reader),
            merge_threads: options.merge_threads(&shown),
            ..options.collect
        };
        let Loaded {
            mut profile,
            diagnostics,
            machine,
        } = load(
            input,
            &reader,
            &names,
            LoadOptions {
                trace,
                details,
                formats: formatters.as_ref(),
                ..LoadOptions::new(symbols, &filter, collected)
            },
        )?;
        shown.restrict(&mut profile);
        if options.text.addresses && !options.streams {
            verbose::note_origins(&mut profile, &names, &machine);
            profile.show_whole_paths();
        }
        let hist = HistOptions {
            keys: keys.clone(),
            children: false,
            group: false,
            ..HistOptions::default()
        };
        let tables = histograms(&profile, &hist);
        let identity = |attr: &EventAttr| (attr.kind, attr.config);
        let identities = reader
            .events()
            .iter()
            .map(|event| identity(&event.stored.attr))
            .collect();
        let file = input.path().display().to_string();
        Ok(Recording {
            file,
            profile,
            diagnostics,
            identities,
            tables,
        })
    }

    /// The event that counts what one of another recording counts.
    pub(super) fn event_like(&self, other: &Recording, event: usize) -> Option<usize> {
        let wanted = other.identities.get(event)?;
        self.identities
            .iter()
            .position(|identity| identity == wanted)
    }

    /// The rows of an event; `None` where it has no samples.
    pub(super) fn table_of(&self, event: usize) -> Option<&Table> {
        self.tables
            .iter()
            .find(|table| table.events.first() == Some(&event))
    }

    /// The hot streams of an event.
    pub(super) fn streams_of(&self, event: usize) -> HotStreams {
        let known = self.profile.events.get(event).zip(self.table_of(event));
        known.map_or(HotStreams::default(), |(event, table)| {
            hot_streams(&self.profile, event, table)
        })
    }

    /// A sentence for each kind of loss.
    pub(super) fn losses(&self) -> Vec<String> {
        losses(&self.profile, &self.diagnostics)
    }
}

/// Whether the recorder was asked for branches.
fn carries_branches(reader: &Reader<'_>) -> bool {
    reader
        .features()
        .get::<BranchStack>()
        .ok()
        .flatten()
        .is_some()
}

/// What is wanted of the code between branches.
fn blocks(options: &Comparison, reader: &Reader<'_>) -> Option<BlockDetail> {
    (options.diff.method == Method::Cycles).then(|| BlockDetail {
        consecutive: are_consecutive(reader.events()),
        lines: Some(LineText {
            whole_paths: options.whole_paths,
            known_only: false,
        }),
    })
}
