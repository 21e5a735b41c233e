//! The changes between two recordings: the page of [`crate::html::flamegraph`] with both trees in one, and colours for
//! growth and shrinkage.

use std::io::{self, Write};

use oxperf_analysis::flame::ChangedTree;

use crate::html::numbers::Numbers;
use crate::html::{self, Assets, Heading, graph_scripts, tree};
use crate::text::unit::WeightUnit;

/// The page.
const ASSETS: Assets = Assets {
    template: concat!(
        include_str!("flamegraph/begin.html"),
        include_str!("flamegraph/graph.html"),
        include_str!("flamegraph/functions.html"),
        include_str!("flamegraph/end.html"),
        include_str!("diff_page/help.html"),
        "<!--@data-->\n<!--@script-->\n</body>\n</html>\n",
    ),
    style: concat!(
        include_str!("flamegraph/page.css"),
        include_str!("diff_page/page.css")
    ),
    script: SCRIPT,
    // The test `digests_are_those_of_the_assets` says the new ones after a change.
    style_digest: "q68HjaQrZi0iEVsX+pVb3bfhKjUr/JSouryihZN3om4=",
    script_digest: "A8E0+lUFPGc6g6PSoAnAQNMm7fVUcZZWZhxYTljHfDE=",
};
/// Its program: every file in the scope of one function.
const SCRIPT: &str = concat!(
    graph_scripts!(),
    include_str!("diff_page/change.js"),
    include_str!("diff_page/main.js"),
    "})();\n"
);

/// The page of two recordings.
///
/// ```
/// use oxperf_analysis::flame::ChangedTree;
/// use oxperf_present::html::diff_page::DiffPage;
/// use oxperf_present::text::unit::WeightUnit;
/// let changed = ChangedTree::default();
/// let unit = WeightUnit::Count("cycles");
/// let page = DiffPage { title: "old → new", subtitle: "cycles", unit, lost: &[], changed: &changed };
/// let mut html = Vec::new();
/// page.write(&mut html)?;
/// assert!(html.starts_with(b"<!DOCTYPE html>"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DiffPage<'a> {
    /// The names of the recordings.
    pub title: &'a str,
    /// One line of facts: event, samples.
    pub subtitle: &'a str,
    /// The unit of the tree's values.
    pub unit: WeightUnit<'a>,
    /// A sentence for each kind of loss; shown above the graph.
    pub lost: &'a [String],
    /// The trees of both recordings as one.
    pub changed: &'a ChangedTree,
}

impl DiffPage<'_> {
    /// Writes the page. Give a buffered writer: it is written in many small pieces.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let encoded = tree::encode(&self.changed.tree);
        let before = self.before(&encoded);
        let heading = Heading {
            title: self.title,
            subtitle: self.subtitle,
            lost: self.lost,
        };
        ASSETS.write(&heading, out, |out| {
            out.write_all(b"<script type=\"application/json\" id=\"head\">{")?;
            html::write_tree_head(&self.changed.tree, self.unit, &encoded, out)?;
            out.write_all(b"}</script>\n")?;
            html::write_block("nodes", &encoded.bytes, out)?;
            out.write_all(b"\n")?;
            html::write_block("before", &before, out)
        })
    }

    /// Each node's own value in the old recording, in the order of the page's nodes.
    fn before(&self, encoded: &tree::Encoded) -> Vec<u8> {
        let mut values = vec![0; encoded.nodes + 1];
        for (&place, &value) in encoded.places.iter().zip(&self.changed.before) {
            if let Some(slot) = values.get_mut(place as usize) {
                *slot = value;
            }
        }
        let mut numbers = Numbers::with_capacity(values.len() * 3);
        values.iter().skip(1).for_each(|&value| numbers.put(value));
        numbers.bytes
    }
}

#[cfg(test)]
mod tests {
    use oxperf_analysis::flame::{FlameFrame, FlameKind, FlameNode, FlameTree, FlameWeight};

    use super::*;

    #[test]
    fn digests_are_those_of_the_assets() {
        assert_eq!(
            (ASSETS.style_digest, ASSETS.script_digest),
            (&*html::digest(ASSETS.style), &*html::digest(SCRIPT))
        );
    }

    #[test]
    fn values_before_follow_the_nodes_of_the_page() {
        let node = |parent, frame, value| FlameNode {
            parent,
            frame,
            own: FlameWeight { value, samples: 1 },
            total: FlameWeight::default(),
        };
        let frame = |name| FlameFrame {
            name,
            dso: None,
            kind: FlameKind::Function,
        };
        let mut tree = FlameTree {
            names: ["a", "b", "c"].map(str::to_owned).into(),
            frames: (0..3).map(frame).collect(),
            nodes: vec![
                node(None, 0, 0),
                node(Some(0), 1, 10),
                node(Some(0), 2, 200),
            ],
            ..FlameTree::default()
        };
        tree.sum_totals();
        let changed = ChangedTree {
            tree,
            before: vec![1, 2, 300],
        };
        let unit = WeightUnit::Count("cycles");
        let page = DiffPage {
            title: "t",
            subtitle: "s",
            unit,
            lost: &[],
            changed: &changed,
        };
        // The widest child comes first: a, c, b.
        assert_eq!(page.before(&tree::encode(&changed.tree)), [1, 0xac, 2, 2]);
    }
}
