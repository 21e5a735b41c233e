//! The report as a page: one HTML file with a time line, a flame graph, a call tree and a table of functions, that needs
//! nothing but itself.
//!
//! It is the page of [`crate::html::flamegraph`] and more: the samples go in by time, thread and CPU ([`cells`]), so that the page
//! can show those of any stretch. What it can do stands in `docs/report-html.md`.

mod cells;

use std::io::{self, Write};

use oxperf_analysis::flame::FlameTree;
use oxperf_analysis::timeline::Timeline;

use crate::html::tree::{self, Encoded};
use crate::html::{self, Assets, Heading, graph_scripts, script_json};
use crate::text::unit::WeightUnit;

/// The page.
const ASSETS: Assets = Assets {
    template: concat!(
        include_str!("flamegraph/begin.html"),
        include_str!("report_page/timeline.html"),
        include_str!("flamegraph/graph.html"),
        include_str!("report_page/tabs.html"),
        include_str!("flamegraph/functions.html"),
        "  </div>\n",
        include_str!("flamegraph/end.html"),
        include_str!("report_page/help.html"),
        "<!--@data-->\n<!--@script-->\n</body>\n</html>\n",
    ),
    style: concat!(
        include_str!("flamegraph/page.css"),
        include_str!("report_page/page.css")
    ),
    script: SCRIPT,
    // The test `digests_are_those_of_the_assets` says the new ones after a change.
    style_digest: "Ogn8YwwbazWdEK4gfr0gNFxXNlevgcBIsS61lqIMTtI=",
    script_digest: "CypQvUy3cg/1iHiI2nUWU0oevtjN5C5vTAvfZxjif08=",
};
/// Its program: every file in the scope of one function.
const SCRIPT: &str = concat!(
    graph_scripts!(),
    include_str!("report_page/cells.js"),
    include_str!("report_page/rows.js"),
    include_str!("report_page/timeline.js"),
    include_str!("report_page/timeline_input.js"),
    include_str!("report_page/calls.js"),
    include_str!("report_page/report.js"),
    include_str!("report_page/main.js"),
    "})();\n"
);

/// The page of a report.
///
/// ```
/// use oxperf_present::html::report_page::ReportPage;
/// let page = ReportPage { title: "make -j2", subtitle: "build-7", lost: &[], events: &[] };
/// let mut html = Vec::new();
/// page.write(&mut html)?;
/// assert!(html.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ReportPage<'a> {
    /// The recorded program, such as its command line.
    pub title: &'a str,
    /// One line of facts: host, time.
    pub subtitle: &'a str,
    /// A sentence for each kind of loss; shown above all else.
    pub lost: &'a [String],
    /// The events.
    pub events: &'a [ReportEvent<'a>],
}

/// An event of a report.
#[derive(Clone, Debug)]
pub struct ReportEvent<'a> {
    /// Its name.
    pub name: &'a str,
    /// The unit of the tree's values.
    pub unit: WeightUnit<'a>,
    /// Number of its samples.
    pub samples: u64,
    /// The merged call tree.
    pub tree: FlameTree,
    /// The samples by time; its cells name nodes of `tree`.
    pub timeline: Timeline,
}

impl ReportPage<'_> {
    /// The most cells of an event that a page takes in without a delay one would feel.
    pub const MAX_CELLS: usize = 1_500_000;

    /// Writes the page. Give a buffered writer: it is written in many small pieces.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let heading = Heading {
            title: self.title,
            subtitle: self.subtitle,
            lost: self.lost,
        };
        let encoded: Vec<(usize, Encoded, cells::Encoded)> = (0..)
            .zip(self.events)
            .map(|(index, event)| {
                let tree = tree::encode(&event.tree);
                let cells = cells::encode(&event.timeline, &tree);
                (index, tree, cells)
            })
            .collect();
        ASSETS.write(&heading, out, |out| {
            out.write_all(b"<script type=\"application/json\" id=\"head\">{\"events\":")?;
            script_json::write_array(&encoded, out, |(index, tree, cells), out| {
                self.events[*index].write_head(tree, cells.count, out)
            })?;
            out.write_all(b"}</script>")?;
            encoded.iter().try_for_each(|(index, tree, cells)| {
                out.write_all(b"\n")?;
                html::write_block(&format!("nodes-{index}"), &tree.bytes, out)?;
                out.write_all(b"\n")?;
                html::write_block(&format!("cells-{index}"), &cells.bytes, out)
            })
        })
    }
}

impl ReportEvent<'_> {
    /// Everything of an event but its packed numbers.
    fn write_head(&self, tree: &Encoded, cells: usize, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"{\"name\":")?;
        script_json::write_string(self.name, out)?;
        write!(out, ",\"samples\":{},", self.samples)?;
        html::write_tree_head(&self.tree, self.unit, tree, out)?;
        out.write_all(b",\"timeline\":{")?;
        self.write_timeline(cells, out)?;
        out.write_all(b"}}")
    }

    fn write_timeline(&self, cells: usize, out: &mut impl Write) -> io::Result<()> {
        let Timeline {
            start,
            stretch,
            stretches,
            threads,
            lanes,
            ..
        } = &self.timeline;
        // Seconds and nanoseconds: together they can exceed the page's exact numbers.
        match start {
            Some(start) => write!(
                out,
                "\"start\":[{},{}]",
                start / 1_000_000_000,
                start % 1_000_000_000
            )?,
            None => out.write_all(b"\"start\":null")?,
        }
        write!(
            out,
            ",\"stretch\":{stretch},\"stretches\":{stretches},\"cells\":{cells}"
        )?;
        out.write_all(b",\"threads\":{\"pid\":")?;
        script_json::write_array(threads, out, |thread, out| write!(out, "{}", thread.pid.0))?;
        out.write_all(b",\"tid\":")?;
        script_json::write_array(threads, out, |thread, out| write!(out, "{}", thread.tid.0))?;
        out.write_all(b",\"name\":")?;
        script_json::write_array(threads, out, |thread, out| {
            script_json::write_string(&thread.name, out)
        })?;
        out.write_all(b"},\"lanes\":{\"thread\":")?;
        script_json::write_array(lanes, out, |lane, out| write!(out, "{}", lane.thread))?;
        out.write_all(b",\"cpu\":")?;
        script_json::write_array(lanes, out, |lane, out| {
            write!(out, "{}", lane.cpu.map_or(-1, i64::from))
        })?;
        out.write_all(b"}")
    }
}

#[cfg(test)]
mod tests;
