//! A profile as the files that other tools read.
//!
//! Each format is one file here. Formats of functions share a [`FlameTree`]: what a stack is, which name stands in it and
//! what it weighs is decided once. Formats that show code by address share a [`CodeExport`];
//! OpenTelemetry's profiles stand on it, too ([`OtlpExport`]). Formats with a time line also
//! need the event's [`moments`](EventProfile::moments).

mod callgrind;
mod code;
mod firefox;
mod folded;
mod mappings;
mod otlp;
mod perfetto;
mod pprof;
mod protobuf;
mod speedscope;
mod tables;
mod threads;

use std::io::{self, Write};

use oxperf_analysis::flame::{FlameKind, FlameTree};
use oxperf_profile::{EventProfile, Profile};

use crate::text::unit::WeightUnit;
pub use code::{CodeExport, CodeFormat, ExportedMapping, ExportedObject};
pub use otlp::{
    Attribute, AttributeValue, MessageLimits, OtlpExport, OtlpMessage, OtlpMessages,
    PartialSuccess, status_message,
};

/// A format of another tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A format of one event, by functions.
    Tree(TreeFormat),
    /// A format that shows code by address, with every event.
    Code(CodeFormat),
    /// OpenTelemetry's profiles: every sample of every event, with code by address.
    Otlp,
}

/// A format of merged stacks of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeFormat {
    /// One line a stack, as flame graph programs read it.
    Folded,
    /// The JSON of speedscope.app.
    Speedscope,
    /// The protocol buffer of ui.perfetto.dev.
    Perfetto,
}

impl Format {
    /// All formats, by their names.
    pub const ALL: [(&'static str, Format); 7] = [
        ("folded", Format::Tree(TreeFormat::Folded)),
        ("speedscope", Format::Tree(TreeFormat::Speedscope)),
        ("firefox", Format::Code(CodeFormat::Firefox)),
        ("pprof", Format::Code(CodeFormat::Pprof)),
        ("perfetto", Format::Tree(TreeFormat::Perfetto)),
        ("callgrind", Format::Code(CodeFormat::Callgrind)),
        ("otlp", Format::Otlp),
    ];

    /// The format of this name.
    ///
    /// ```
    /// use oxperf_present::export::{CodeFormat, Format};
    /// assert_eq!(Format::parse("pprof"), Some(Format::Code(CodeFormat::Pprof)));
    /// assert_eq!(Format::parse("gprof"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Format> {
        Format::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, format)| *format)
    }

    /// True for a format that shows single samples with their times or threads, or the time that they took.
    pub const fn needs_moments(self) -> bool {
        !matches!(
            self,
            Format::Tree(TreeFormat::Folded) | Format::Code(CodeFormat::Callgrind)
        )
    }

    /// True for a format that shows code by address.
    pub const fn is_by_address(self) -> bool {
        matches!(self, Format::Code(_) | Format::Otlp)
    }

    /// True for a file that is no text.
    pub const fn is_binary(self) -> bool {
        matches!(
            self,
            Format::Tree(TreeFormat::Perfetto) | Format::Code(CodeFormat::Pprof) | Format::Otlp
        )
    }
}

/// One event of a profile, ready to be written.
#[derive(Clone, Copy, Debug)]
pub struct Exported<'a> {
    /// The recorded program, such as its command line.
    pub title: &'a str,
    /// A sentence for each kind of loss, where the format has a place for one.
    pub lost: &'a [String],
    /// The profile.
    pub profile: &'a Profile,
    /// One of its events.
    pub event: &'a EventProfile,
    /// The merged stacks of the event.
    pub tree: &'a FlameTree,
    /// The node of each of the event's groups, as [`FlameTree::with_places`] gives it.
    pub places: &'a [Option<u32>],
}

impl Exported<'_> {
    /// Writes the event. Give a buffered writer: it is written in many small pieces.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, format: TreeFormat, out: &mut impl Write) -> io::Result<()> {
        match format {
            TreeFormat::Folded => folded::write(self, out),
            TreeFormat::Speedscope => speedscope::write(self, out),
            TreeFormat::Perfetto => perfetto::write(self, out),
        }
    }

    /// The unit of the weights.
    fn unit(&self) -> WeightUnit<'_> {
        WeightUnit::of_event(&self.event.name)
    }

    /// The frames of a stack without its thread's name, innermost first, as indices into the tree's frames.
    fn functions(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let frame = |node: u32| self.tree.nodes.get(node as usize).map(|node| node.frame);
        self.tree
            .outwards(node)
            .filter_map(frame)
            .filter(|&frame| !self.is_thread(frame))
    }

    /// True for a frame that is a thread's name.
    fn is_thread(&self, frame: u32) -> bool {
        self.tree
            .frames
            .get(frame as usize)
            .is_none_or(|frame| frame.kind == FlameKind::Thread)
    }

    /// A frame's name as the reader shall see it, with its object where it has no name of its own.
    fn label(&self, frame: u32) -> String {
        let Some(frame) = self.tree.frames.get(frame as usize) else {
            return String::new();
        };
        match (frame.kind, self.tree.dso_of(frame)) {
            (FlameKind::Unresolved, Some(dso)) => {
                format!("[{}]", dso.name.trim_matches(['[', ']']))
            }
            _ => self.tree.name_of(frame).to_owned(),
        }
    }

    /// The path of a frame's object; nothing where it is not known.
    fn object(&self, frame: u32) -> Option<&str> {
        let frame = self.tree.frames.get(frame as usize)?;
        Some(self.tree.dso_of(frame)?.path.as_str())
    }
}

#[cfg(test)]
mod tests;
