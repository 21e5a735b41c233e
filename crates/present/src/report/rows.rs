//! Single rows and calls as text, for views that show a part of a table at a time.

use oxperf_analysis::hist::Table;
use oxperf_profile::SampleTotals;
use oxperf_profile::{FrameId, Profile};

use super::columns::{Columns, WeighedRow};
use super::graph::{GraphLabels, GraphText};
use super::{ReportText, summary};
use crate::text::sanitize;

/// The text of one table's rows: the same as [`super::table`] writes, by the row.
pub struct RowText<'p> {
    profile: &'p Profile,
    columns: Columns<'p>,
    graph: Option<GraphText>,
    about: String,
    /// The sum of all periods of each event.
    totals: Vec<u64>,
    total: u64,
}

impl<'p> RowText<'p> {
    /// Lays the columns out so that every row fits.
    pub fn new(profile: &'p Profile, table: &Table, text: &ReportText) -> RowText<'p> {
        let period = |&event: &usize| {
            profile
                .events
                .get(event)
                .map_or(0, |event| event.period_total)
        };
        let totals: Vec<u64> = table.events.iter().map(period).collect();
        RowText {
            profile,
            columns: Columns::new(profile, table, text),
            graph: text.graph,
            about: about(profile, table, text),
            total: totals.first().copied().unwrap_or(0),
            totals,
        }
    }

    /// Takes percentages of these sums of periods, one for each event; of all samples, where there are none.
    pub fn weigh_in(&mut self, totals: Option<&[u64]>) {
        let totals = totals.unwrap_or(&self.totals);
        self.columns.weigh_in(totals);
        self.total = totals.first().copied().unwrap_or(0);
    }

    /// The lines above the table as one.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The names of the columns, over those of the rows.
    pub fn heading(&self) -> String {
        let mut text = Vec::new();
        self.columns.heading(&mut text);
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        String::from_utf8_lossy(line).replacen('#', " ", 1)
    }

    /// A row's line, after two blanks.
    pub fn row(&self, table: &Table, index: usize) -> String {
        let Some(row) = table.row(index) else {
            return String::new();
        };
        let mut text = Vec::new();
        let weighed = WeighedRow {
            row,
            cells: table.cells(index),
            extras: table.extras(index),
        };
        self.columns
            .row(&mut text, &mut self.columns.row_cache(), weighed);
        String::from_utf8_lossy(&text).trim_end().to_owned()
    }

    /// The leading event's part of all samples that a row has, in hundredths.
    pub fn percent(&self, table: &Table, index: usize) -> f64 {
        self.columns.leader_percent(table.cells(index))
    }

    /// The whole of branches of a call graph, where that is not the branch above.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// A frame of a call graph.
    pub fn frame(&self, table: &Table, frame: FrameId) -> String {
        let mut text = Vec::new();
        if let Some(graph) = &self.graph {
            GraphLabels::new(self.profile, table, graph, None).name(&mut text, frame);
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The object of a frame of a call graph.
    pub fn object(&self, frame: FrameId) -> String {
        let dso = self
            .profile
            .frames
            .get(frame.index())
            .and_then(|frame| frame.dso);
        let dso = dso.and_then(|dso| self.profile.dsos.get(dso.index()));
        sanitize(dso.map_or("[unknown]", |dso| dso.short.as_str())).into_owned()
    }

    /// The weight of a branch of a call graph, as a part of `whole` where percentages are shown.
    pub fn weight(&self, table: &Table, weight: SampleTotals, whole: u64) -> String {
        let mut text = Vec::new();
        if let Some(graph) = &self.graph {
            GraphLabels::new(self.profile, table, graph, None).number(&mut text, weight, whole);
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// The lines above a table as one.
fn about(profile: &Profile, table: &Table, text: &ReportText) -> String {
    let mut lines = Vec::new();
    summary::heading(&mut lines, profile, table, text);
    let lines = String::from_utf8_lossy(&lines).into_owned();
    let facts = lines
        .lines()
        .map(|line| line.trim_start_matches('#').trim())
        .filter(|line| !line.is_empty());
    facts.collect::<Vec<_>>().join(", ")
}
