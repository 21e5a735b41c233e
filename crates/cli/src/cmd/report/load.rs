//! From a recording to the samples of a report: read, named, joined and filtered.

use std::io::Write;

use oxperf_analysis::hist::graphed;
use oxperf_collect::{CollectOptions, MergeThreads};
use oxperf_machine::Machine;
use oxperf_profile::{EventProfile, Profile};
use oxperf_query::Filter;
use oxperf_resolve::RecordedSymbols;
use oxperf_session::Diagnostics;
use oxperf_symbols::SymbolStore;
use oxperf_tracepoint::Formatters;

use super::Report;
use super::row_filter::RowFilter;
use super::table_plan::TablePlan;
use super::{cycles, verbose};
use crate::failure::Failure;
use crate::load::{Graphed, LoadOptions, Loaded, load};
use crate::losses::{report_chains, report_trouble};
use crate::output::{Output, print_error};
use crate::recording_options::TraceRequest;
use crate::stitch::stitched_registers;
use crate::{data_types, symbol_source};

/// The samples of a report.
pub(super) struct ReportedSamples {
    /// The samples that are shown.
    pub(super) profile: Profile,
    /// Losses and damage.
    pub(super) diagnostics: Diagnostics,
    /// The rows that are shown.
    pub(super) rows: RowFilter,
}

impl Report<'_> {
    /// Reads the samples; `None` where there are none, which is said.
    pub(super) fn load(
        &self,
        plan: &TablePlan<'_>,
        formats: &Formatters,
        trace: Option<TraceRequest>,
        output: &mut Output,
    ) -> Result<Option<ReportedSamples>, Failure> {
        let recording = &self.options.recording;
        let names = symbol_source::open(&recording.symbols, self.input, self.reader)?;
        let filter = Filter::new(&recording.filter, self.reader);
        if filter.is_err() {
            // Times and the like are looked at behind the hint.
            output.flush()?;
        }
        let (filter, threads) = filter?.split_threads();
        let rows = RowFilter::new(&self.options.rows, threads)?;
        // A screen, a page and the like show chains wherever they are looked for.
        let few_graphs = self.options.form.is_text()
            && !self.options.form.is_structured()
            && plan.graphs_few_rows()
            && rows.shows_all();
        let graphed = |profile: &Profile| graphed(profile, &plan.for_text(profile).0);
        let collected = self.collect_options(plan, &rows);
        let loading = LoadOptions {
            trace,
            switching: recording.switching.clone(),
            details: plan.details(self.reader, &self.options.rows.details()),
            formats: Some(formats),
            graphed: few_graphs.then_some(&graphed as &Graphed<'_>),
            ..LoadOptions::new(&recording.symbols, &filter, collected)
        };
        let loaded = load(self.input, self.reader, &names, loading)?;
        let (mut profile, diagnostics) = self.finish(plan, loaded, names);
        if profile.events.iter().all(EventProfile::is_empty) {
            let path = self.input.path().display();
            print_error(&format!("Error:\nThe {path} data has no samples!"));
            return Ok(None);
        }
        self.restrict(plan, &rows, &mut profile);
        Ok(Some(ReportedSamples {
            profile,
            diagnostics,
            rows,
        }))
    }

    /// Adds the facts that need names and the machine, keeps what was learned of names, and reports losses.
    fn finish(
        &self,
        plan: &TablePlan<'_>,
        loaded: Loaded,
        names: RecordedSymbols<SymbolStore>,
    ) -> (Profile, Diagnostics) {
        let Loaded {
            mut profile,
            diagnostics,
            machine,
        } = loaded;
        self.add_code_facts(plan, &mut profile, &machine, names.otherwise());
        if self.options.table.verbose {
            verbose::note_origins(&mut profile, &names, &machine);
        }
        drop(machine);
        symbol_source::keep(&names);
        if !self.options.table.text.quiet {
            symbol_source::report_nameless(names.otherwise());
            report_trouble(&diagnostics);
            report_chains(&profile.chain_losses);
        }
        (profile, diagnostics)
    }

    /// Threads of one name are one where nothing that is shown distinguishes them.
    fn collect_options(&self, plan: &TablePlan<'_>, rows: &RowFilter) -> CollectOptions {
        let shows_threads = plan.shows_threads() || rows.selects_threads();
        CollectOptions {
            stitch: stitched_registers(self.options.recording.stitch_lbr, self.reader),
            merge_threads: if self.options.form.is_text() && !shows_threads {
                MergeThreads::ByComm
            } else {
                MergeThreads::Never
            },
            ..*plan.collect()
        }
    }

    /// Adds to a profile what the code of its functions says, where a column shows that.
    fn add_code_facts(
        &self,
        plan: &TablePlan<'_>,
        profile: &mut Profile,
        machine: &Machine,
        store: &SymbolStore,
    ) {
        let symbols = &self.options.recording.symbols;
        if plan.wants_paces() {
            profile.ipc = cycles::paces(symbols, machine, store, profile);
        }
        if plan.wants_types() {
            profile.data_places =
                data_types::find(symbols, machine, store, profile, &mut |_| {}).places;
        }
    }

    /// Joins events, finds parents, and leaves out the samples that are not shown.
    fn restrict(&self, plan: &TablePlan<'_>, rows: &RowFilter, profile: &mut Profile) {
        let groupless =
            profile.events.len() > 1 && profile.events.iter().all(|event| event.group.is_none());
        if self.options.table.events.joins && groupless {
            profile.join_events();
        }
        plan.find_parents(profile);
        if !plan.shows_blocks() {
            rows.restrict(profile);
        }
        if self.options.table.verbose {
            profile.show_whole_paths();
        }
    }
}
