//! The flame graph: one HTML file that draws a merged call tree and needs nothing but itself.
//!
//! The page's own code and look are the files beside this one; they are put into the page as they are, and its content
//! policy names them by digest, so that nothing a name says can ever run. The tree goes in as packed numbers
//! ([`encode`]), names as JSON. What the page can do stands in `docs/flamegraph.md`.

mod base64;
mod encode;
mod json;
mod markup;

use std::io::{self, Write};

use oxperf_analysis::flame::FlameTree;

use encode::Encoded;

/// The page with marks for what is put in.
const TEMPLATE: &str = include_str!("flamegraph/page.html");
/// Its look.
const STYLE: &str = include_str!("flamegraph/page.css");
/// Its program: every file in the scope of one function.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("flamegraph/tree.js"),
    include_str!("flamegraph/names.js"),
    include_str!("flamegraph/colour.js"),
    include_str!("flamegraph/search.js"),
    include_str!("flamegraph/draw.js"),
    include_str!("flamegraph/tables.js"),
    include_str!("flamegraph/page.js"),
    include_str!("flamegraph/address.js"),
    include_str!("flamegraph/words.js"),
    include_str!("flamegraph/keys.js"),
    include_str!("flamegraph/pointer.js"),
    include_str!("flamegraph/start.js"),
    "})();\n"
);
/// SHA-256 of [`STYLE`] in base64. The test `digests_are_those_of_the_assets` says the new one after a change.
const STYLE_DIGEST: &str = "6s9d7d+N+lH4Q2JG8Svp+VlefA9drIPUv3WQT12/Wdc=";
/// SHA-256 of [`SCRIPT`] in base64.
const SCRIPT_DIGEST: &str = "azdbOXV2PThk/AGyirtkuSKa9OUxdIX+kU2qnb2B+AA=";

/// What a flame graph shows.
///
/// ```
/// use oxperf_analysis::flame::FlameTree;
/// use oxperf_present::flamegraph::{FlamePage, FlameUnit};
/// let page = FlamePage {
///     title: "make -j2",
///     subtitle: "cycles, 0 samples",
///     unit: FlameUnit::Count("cycles"),
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
    /// What was recorded, such as the command line.
    pub title: &'a str,
    /// One line of facts: event, samples, host, time.
    pub subtitle: &'a str,
    /// What the tree's values count.
    pub unit: FlameUnit<'a>,
    /// A sentence for each kind of loss; shown above the graph.
    pub lost: &'a [String],
    /// The merged call tree.
    pub tree: &'a FlameTree,
}

/// What the values of a tree count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameUnit<'a> {
    /// Nanoseconds, as the periods of cpu-clock and task-clock are.
    Nanoseconds,
    /// Occurrences of the event of this name.
    Count(&'a str),
}

impl<'a> FlameUnit<'a> {
    /// The unit of an event's periods, by its name: clocks count nanoseconds, everything else itself.
    ///
    /// ```
    /// use oxperf_present::flamegraph::FlameUnit;
    /// assert_eq!(FlameUnit::of_event("task-clock:u"), FlameUnit::Nanoseconds);
    /// assert_eq!(FlameUnit::of_event("cycles"), FlameUnit::Count("cycles"));
    /// ```
    pub fn of_event(name: &'a str) -> Self {
        match name.split(':').next() {
            Some("cpu-clock" | "task-clock") => FlameUnit::Nanoseconds,
            _ => FlameUnit::Count(name),
        }
    }
}

impl FlamePage<'_> {
    /// The most nodes that a browser draws without a delay one would feel: fold larger trees to it.
    pub const MAX_NODES: usize = 500_000;

    /// Writes the page. Give a buffered writer: it is written in many small pieces.
    ///
    /// # Errors
    ///
    /// What the writer returns.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let encoded = encode::encode(self.tree);
        for piece in markup::pieces(TEMPLATE) {
            match piece {
                markup::Piece::Text(text) => out.write_all(text.as_bytes())?,
                markup::Piece::Mark(mark) => self.write_mark(mark, &encoded, out)?,
            }
        }
        Ok(())
    }

    fn write_mark(&self, mark: &str, encoded: &Encoded, out: &mut impl Write) -> io::Result<()> {
        match mark {
            "policy" => write_policy(out),
            "title" => markup::write_text(self.title, out),
            "subtitle" => markup::write_text(self.subtitle, out),
            "style" => write!(out, "<style>{STYLE}</style>"),
            "script" => write!(out, "<script>{SCRIPT}</script>"),
            "lost" => self.write_lost(out),
            "data" => self.write_data(encoded, out),
            _ => Ok(()),
        }
    }

    fn write_lost(&self, out: &mut impl Write) -> io::Result<()> {
        if self.lost.is_empty() {
            return Ok(());
        }
        out.write_all(b"<div class=\"note lost\" role=\"note\" aria-label=\"What was lost\"><ul>")?;
        for note in self.lost {
            out.write_all(b"<li><bdi>")?;
            markup::write_text(note, out)?;
            out.write_all(b"</bdi></li>")?;
        }
        out.write_all(b"</ul></div>")
    }

    fn write_data(&self, encoded: &Encoded, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"<script type=\"application/json\" id=\"head\">")?;
        self.write_head(encoded, out)?;
        out.write_all(b"</script>\n<script type=\"text/plain\" id=\"nodes\">")?;
        base64::write(&encoded.bytes, out)?;
        out.write_all(b"</script>")
    }

    /// Everything but the nodes, as JSON; `frames` are in the order in which the nodes number them.
    fn write_head(&self, encoded: &Encoded, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{{\"nodes\":{},\"mean\":{},\"unit\":", encoded.nodes, encoded.mean)?;
        self.write_unit(out)?;
        self.write_folded(out)?;
        out.write_all(b",\"names\":")?;
        json::write_array(&encoded.names, out, |&name, out| {
            json::write_string(self.tree.names.get(name as usize).map_or("", String::as_str), out)
        })?;
        out.write_all(b",\"dsos\":")?;
        json::write_array(&self.tree.dsos, out, |dso, out| {
            out.write_all(b"{\"name\":")?;
            json::write_string(&dso.name, out)?;
            out.write_all(b",\"path\":")?;
            json::write_string(&dso.path, out)?;
            write!(out, ",\"kernel\":{}}}", dso.kernel)
        })?;
        write_frames(encoded, out)?;
        out.write_all(b"}")
    }

    fn write_unit(&self, out: &mut impl Write) -> io::Result<()> {
        let (time, name) = match self.unit {
            FlameUnit::Nanoseconds => (true, "ns"),
            FlameUnit::Count(name) => (false, name),
        };
        write!(out, "{{\"time\":{time},\"name\":")?;
        json::write_string(name, out)?;
        out.write_all(b"}")
    }

    fn write_folded(&self, out: &mut impl Write) -> io::Result<()> {
        let Some(folded) = self.tree.folded else { return Ok(()) };
        let (nodes, limit, value) = (folded.nodes, folded.limit, folded.weight.value);
        write!(out, ",\"folded\":{{\"nodes\":{nodes},\"limit\":{limit},\"value\":{value}}}")
    }
}

/// Nothing may be loaded, and of inline code only the page's own two blocks count.
fn write_policy(out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         script-src 'sha256-{SCRIPT_DIGEST}'; style-src 'sha256-{STYLE_DIGEST}'; img-src data:; \
         base-uri 'none'; form-action 'none'\">"
    )
}

fn write_frames(encoded: &Encoded, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b",\"frames\":{\"name\":")?;
    json::write_array(&encoded.frames, out, |frame, out| write!(out, "{}", frame.name))?;
    out.write_all(b",\"dso\":")?;
    json::write_array(&encoded.frames, out, |frame, out| write!(out, "{}", frame.dso))?;
    out.write_all(b",\"kind\":")?;
    json::write_array(&encoded.frames, out, |frame, out| write!(out, "{}", frame.kind))?;
    out.write_all(b"}")
}

#[cfg(test)]
mod tests;
