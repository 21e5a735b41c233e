//! The flame graph: one HTML file that draws a merged call tree and needs nothing but itself.
//!
//! The page's own code and look are the files beside this one, in parts that other pages take, too. What the page can do
//! stands in `docs/flamegraph.md`.

use std::io::{self, Write};

use oxperf_analysis::flame::FlameTree;

use crate::html::{self, Assets, Heading, graph_scripts, tree};
use crate::text::unit::WeightUnit;

/// The page.
const ASSETS: Assets = Assets {
    template: concat!(
        include_str!("flamegraph/begin.html"),
        include_str!("flamegraph/graph.html"),
        include_str!("flamegraph/functions.html"),
        include_str!("flamegraph/end.html"),
        include_str!("flamegraph/help.html"),
        "<!--@data-->\n<!--@script-->\n</body>\n</html>\n",
    ),
    style: include_str!("flamegraph/page.css"),
    script: SCRIPT,
    // The test `digests_are_those_of_the_assets` says the new ones after a change.
    style_digest: "MCxm5HV7CrhSBwwR0d2btzLP2WNPz7QWztRy4CpMHo4=",
    script_digest: "qSKDDLWlfyWK6OmyUtuETw8WyN0u2ShT+F2Ltlf6HW0=",
};
/// Its program: every file in the scope of one function.
const SCRIPT: &str = concat!(
    graph_scripts!(),
    include_str!("flamegraph/main.js"),
    "})();\n"
);
/// The page of a flame graph.
///
/// ```
/// use oxperf_analysis::flame::FlameTree;
/// use oxperf_present::html::flamegraph::FlamePage;
/// use oxperf_present::text::unit::WeightUnit;
/// let page = FlamePage {
///     title: "make -j2",
///     subtitle: "cycles, 0 samples",
///     unit: WeightUnit::Count("cycles"),
///     lost: &[],
///     tree: &FlameTree::default(),
/// };
/// let mut html = Vec::new();
/// page.write(&mut html)?;
/// assert!(html.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct FlamePage<'a> {
    /// The recorded program, such as its command line.
    pub title: &'a str,
    /// One line of facts: event, samples, host, time.
    pub subtitle: &'a str,
    /// The unit of the tree's values.
    pub unit: WeightUnit<'a>,
    /// A sentence for each kind of loss; shown above the graph.
    pub lost: &'a [String],
    /// The merged call tree.
    pub tree: &'a FlameTree,
}

impl FlamePage<'_> {
    /// The most nodes that a browser draws without a delay one would feel: fold larger trees to it.
    pub const MAX_NODES: usize = 500_000;

    /// Writes the page. Give a buffered writer: it is written in many small pieces.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let encoded = tree::encode(self.tree);
        let heading = Heading {
            title: self.title,
            subtitle: self.subtitle,
            lost: self.lost,
        };
        ASSETS.write(&heading, out, |out| {
            out.write_all(b"<script type=\"application/json\" id=\"head\">{")?;
            html::write_tree_head(self.tree, self.unit, &encoded, out)?;
            out.write_all(b"}</script>\n")?;
            html::write_block("nodes", &encoded.bytes, out)
        })
    }
}

#[cfg(test)]
mod tests;
