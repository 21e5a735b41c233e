//! The text of `report --stdio`: a table for each event, call graphs below their rows.
//!
//! The layout is perf 7.2's to the byte. Names from the recording are shown as [`crate::visible`] makes them.

mod columns;
mod graph;
mod list;
mod percent;
mod summary;

use std::io::{self, Write};

use oxperf_analysis::hist::{SortKey, Table};
use oxperf_analysis::profile::Profile;

use columns::Columns;
use graph::Graphs;

pub use graph::{GraphText, GraphValue};
pub use summary::{prologue, tip};

/// Bytes that are gathered before they are written.
const BUFFER: usize = 1 << 17;

/// What the tables show.
#[derive(Clone, Debug)]
pub struct ReportText {
    /// The keys that the rows were told apart by, in the order of their columns.
    pub keys: Vec<SortKey>,
    /// Show how many samples ran in each row.
    pub samples: bool,
    /// Rows below this part of all samples, in hundredths, are left out.
    pub min_percent: f64,
    /// How call graphs are drawn; `None` draws none.
    pub graph: Option<GraphText>,
}

/// Writes one table: what was sampled, the columns, the rows and two blank lines.
pub fn table(out: &mut dyn Write, profile: &Profile, table: &Table, text: &ReportText) -> io::Result<()> {
    if table.events.iter().all(|&event| profile.events.get(event).is_none_or(|event| event.sample_count == 0))
    {
        return Ok(());
    }
    let mut writer = TableWriter {
        columns: Columns::new(profile, table, text),
        graphs: text.graph.as_ref().map(|graph| Graphs::new(profile, table, graph)),
        buffer: Vec::with_capacity(BUFFER + BUFFER / 2),
        out,
    };
    summary::heading(&mut writer.buffer, profile, table);
    writer.columns.heading(&mut writer.buffer);
    writer.rows(table, text.min_percent)?;
    writer.buffer.extend_from_slice(b"\n\n");
    writer.out.write_all(&writer.buffer)
}

struct TableWriter<'a> {
    columns: Columns<'a>,
    graphs: Option<Graphs<'a>>,
    buffer: Vec<u8>,
    out: &'a mut dyn Write,
}

impl TableWriter<'_> {
    fn rows(&mut self, table: &Table, min_percent: f64) -> io::Result<()> {
        let mut trees = table.trees().iter().peekable();
        for (index, row) in table.rows().iter().enumerate() {
            let cells = table.cells(index);
            let tree = trees.next_if(|(at, _)| *at as usize == index);
            if self.columns.leader_percent(cells) < min_percent {
                continue;
            }
            self.columns.row(&mut self.buffer, row, cells);
            if let (Some((_, tree)), Some(graphs), Some(leader)) = (tree, &self.graphs, cells.first()) {
                graphs.draw(&mut self.buffer, tree, leader.all);
            }
            if self.buffer.len() >= BUFFER {
                self.out.write_all(&self.buffer)?;
                self.buffer.clear();
            }
        }
        Ok(())
    }
}
