//! The tables of a report: as text with the lines around them, and for other programs.

use oxperf_analysis::hist::histograms;
use oxperf_present::report::{branch_kinds, prologue, restrictions, table, tip};

use super::Report;
use super::load::ReportedSamples;
use super::options::ReportForm;
use super::structured::StructuredReport;
use super::table_plan::TablePlan;
use super::{cycles, records};
use crate::failure::Failure;
use crate::losses::losses;
use crate::output::Output;

/// Tips for users of perf; one a run.
const TIPS: [&str; 6] = [
    "Show every sample with its call chain: oxperf script",
    "Record call chains to see callers: oxperf record -g",
    "See what runs in functions themselves, without their callees: oxperf report --no-children",
    "Sort by thread: oxperf report -s pid,sym",
    "Hide small rows: oxperf report --percent-limit 1",
    "Draw a flame graph while recording: oxperf profile -- COMMAND",
];

impl Report<'_> {
    /// Writes the tables for other programs.
    pub(super) fn structured(
        &self,
        plan: &TablePlan<'_>,
        samples: &ReportedSamples,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let ReportedSamples { profile, rows, .. } = samples;
        let (hist, text) = plan.for_profile(profile);
        let mut tables = histograms(profile, &hist);
        for table in &mut tables {
            rows.restrict_rows(profile, table);
        }
        let report = StructuredReport {
            profile,
            keys: &hist.keys,
            min_percent: text.min_percent,
            file: self.input.path(),
            losses: &losses(profile, &samples.diagnostics),
        };
        if self.options.form == ReportForm::Json {
            report.write_json(&tables, output)?;
        } else {
            report.write_csv(&tables, output)?;
        }
        Ok(())
    }

    /// Writes the tables and the lines around them.
    pub(super) fn text(
        &self,
        plan: &TablePlan<'_>,
        samples: &ReportedSamples,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let ReportedSamples { profile, rows, .. } = samples;
        let quiet = self.options.table.text.quiet;
        let (hist, mut text) = plan.for_text(profile);
        restrictions(output, &rows.restrictions(&text.columns))?;
        if !quiet {
            prologue(output, profile)?;
        }
        rows.narrow(&mut text);
        if plan.shows_blocks() {
            cycles::write_tables(output, profile, &hist, &text)?;
        } else {
            for mut drawn in histograms(profile, &hist) {
                rows.restrict_rows(profile, &mut drawn);
                table(output, profile, &drawn, &text)?;
            }
        }
        if !quiet {
            tip(output, TIPS[profile.frames.len() % TIPS.len()])?;
            branch_kinds(output, profile)?;
        }
        if let Some(layout) = self.options.thread_counters {
            records::thread_counters(layout, self.input, self.reader, output)?;
        }
        Ok(())
    }
}
