//! HTML pages: one file each, that needs nothing but itself; here the parts that all have in common.
//!
//! A page is a template with marks. Its code and look are put in as they are, and its content policy names them by
//! digest, so that nothing a name says can ever run. Trees go in as packed numbers ([`tree`]), names as JSON.

mod base64;
pub mod diff_page;
pub mod flamegraph;
mod markup;
mod numbers;
pub mod report_page;
mod script_json;
mod tree;

use std::io::{self, Write};

use oxperf_analysis::flame::FlameTree;

use crate::text::unit::WeightUnit;
use tree::Encoded;

/// The program that every page with a graph begins with, up to where a page's own files go on. Paths are those of the
/// files that call this, which lie beside each other.
macro_rules! graph_scripts {
    () => {
        concat!(
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
        )
    };
}
pub(crate) use graph_scripts;

/// The fixed parts of a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assets {
    /// The page with marks for what is put in.
    pub(crate) template: &'static str,
    /// Its look.
    pub(crate) style: &'static str,
    /// Its program.
    pub(crate) script: &'static str,
    /// SHA-256 of `style` in base64.
    pub(crate) style_digest: &'static str,
    /// SHA-256 of `script` in base64.
    pub(crate) script_digest: &'static str,
}

/// The lines of a page above its graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heading<'a> {
    pub(crate) title: &'a str,
    pub(crate) subtitle: &'a str,
    pub(crate) lost: &'a [String],
}

impl Assets {
    /// Writes a page; `data` writes what its program reads.
    pub(crate) fn write<W: Write>(
        &self,
        heading: &Heading<'_>,
        out: &mut W,
        data: impl Fn(&mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        for piece in markup::pieces(self.template) {
            match piece {
                markup::Piece::Text(text) => out.write_all(text.as_bytes())?,
                markup::Piece::Mark("policy") => self.write_policy(out)?,
                markup::Piece::Mark("style") => write!(out, "<style>{}</style>", self.style)?,
                markup::Piece::Mark("script") => write!(out, "<script>{}</script>", self.script)?,
                markup::Piece::Mark("title") => markup::write_text(heading.title, out)?,
                markup::Piece::Mark("subtitle") => markup::write_text(heading.subtitle, out)?,
                markup::Piece::Mark("lost") => write_lost(heading.lost, out)?,
                markup::Piece::Mark("data") => data(out)?,
                markup::Piece::Mark(_) => {}
            }
        }
        Ok(())
    }

    /// Nothing may be loaded, and of inline code only the page's own two blocks count.
    fn write_policy(&self, out: &mut impl Write) -> io::Result<()> {
        let (script, style) = (self.script_digest, self.style_digest);
        write!(
            out,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             script-src 'sha256-{script}'; style-src 'sha256-{style}'; img-src data:; \
             base-uri 'none'; form-action 'none'\">"
        )
    }
}

fn write_lost(lost: &[String], out: &mut impl Write) -> io::Result<()> {
    if lost.is_empty() {
        return Ok(());
    }
    out.write_all(b"<div class=\"note lost\" role=\"note\" aria-label=\"What was lost\"><ul>")?;
    for note in lost {
        out.write_all(b"<li><bdi>")?;
        markup::write_text(note, out)?;
        out.write_all(b"</bdi></li>")?;
    }
    out.write_all(b"</ul></div>")
}

/// Writes a block of packed numbers under an id.
pub(crate) fn write_block(id: &str, bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
    write!(out, "<script type=\"text/plain\" id=\"{id}\">")?;
    base64::write(bytes, out)?;
    out.write_all(b"</script>")
}

/// Writes everything of a tree but its nodes, as the members of a JSON object; `frames` are in the order in which the
/// nodes number them.
pub(crate) fn write_tree_head(
    tree: &FlameTree,
    unit: WeightUnit<'_>,
    encoded: &Encoded,
    out: &mut impl Write,
) -> io::Result<()> {
    write!(
        out,
        "\"nodes\":{},\"mean\":{},\"unit\":",
        encoded.nodes, encoded.mean
    )?;
    write_unit(unit, out)?;
    write_folded(tree, out)?;
    out.write_all(b",\"names\":")?;
    script_json::write_array(&encoded.names, out, |&name, out| {
        script_json::write_string(
            tree.names.get(name as usize).map_or("", String::as_str),
            out,
        )
    })?;
    out.write_all(b",\"dsos\":")?;
    script_json::write_array(&tree.dsos, out, |dso, out| {
        out.write_all(b"{\"name\":")?;
        script_json::write_string(&dso.name, out)?;
        out.write_all(b",\"path\":")?;
        script_json::write_string(&dso.path, out)?;
        write!(out, ",\"kernel\":{}}}", dso.kernel)
    })?;
    write_frames(encoded, out)
}

fn write_unit(unit: WeightUnit<'_>, out: &mut impl Write) -> io::Result<()> {
    let (time, name) = match unit {
        WeightUnit::Nanoseconds => (true, "ns"),
        WeightUnit::Count(name) => (false, name),
    };
    write!(out, "{{\"time\":{time},\"name\":")?;
    script_json::write_string(name, out)?;
    out.write_all(b"}")
}

fn write_folded(tree: &FlameTree, out: &mut impl Write) -> io::Result<()> {
    let Some(folded) = tree.folded else {
        return Ok(());
    };
    let (nodes, limit, value) = (folded.nodes, folded.limit, folded.weight.value);
    write!(
        out,
        ",\"folded\":{{\"nodes\":{nodes},\"limit\":{limit},\"value\":{value}}}"
    )
}

fn write_frames(encoded: &Encoded, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b",\"frames\":{\"name\":")?;
    script_json::write_array(&encoded.frames, out, |frame, out| {
        write!(out, "{}", frame.name)
    })?;
    out.write_all(b",\"dso\":")?;
    script_json::write_array(&encoded.frames, out, |frame, out| {
        write!(out, "{}", frame.dso)
    })?;
    out.write_all(b",\"kind\":")?;
    script_json::write_array(&encoded.frames, out, |frame, out| {
        write!(out, "{}", frame.kind)
    })?;
    out.write_all(b"}")
}

/// The digest of an asset as content policies write it, for the tests that hold the constants against the files.
#[cfg(test)]
pub(crate) fn digest(text: &str) -> String {
    use sha2::Digest;
    let mut out = Vec::new();
    let written = base64::write(&sha2::Sha256::digest(text), &mut out);
    assert!(written.is_ok());
    String::from_utf8(out).unwrap_or_default()
}
