//! Events of a profile as the files that show code by address: with lines, objects and every event.

use std::io::{self, Write};

use oxperf_abi::BuildId;
use oxperf_profile::{DsoId, EventProfile, Frame, FrameId, Profile};

use super::mappings::LocatedMapping;
use super::{callgrind, firefox, pprof};
use crate::text::unit::WeightUnit;

/// Events of a profile, ready to be written. The profile keeps addresses apart and knows their source lines.
#[derive(Clone, Copy, Debug)]
pub struct CodeExport<'a> {
    /// The recorded program, such as its command line.
    pub title: &'a str,
    /// A sentence for each kind of loss, where the format has a place for one.
    pub lost: &'a [String],
    /// The profile.
    pub profile: &'a Profile,
    /// The events of it that are exported, at least one.
    pub events: &'a [&'a EventProfile],
    /// Each of the profile's objects.
    pub objects: &'a [ExportedObject],
    /// The address of each of the profile's frames as its object's own tools know it.
    pub addresses: &'a [u64],
    /// True if the functions that were inlined have frames of their own.
    pub inlines: bool,
}

/// An object, and the places where it was mapped.
#[derive(Clone, Debug, Default)]
pub struct ExportedObject {
    /// Its identity, where it is known.
    pub build_id: Option<BuildId>,
    /// True for the program that most samples are of.
    pub is_main: bool,
    /// The address that its own tools give its first byte.
    pub base: u64,
    /// The first mapping of each part of it.
    pub mappings: Vec<ExportedMapping>,
}

/// A mapping of a part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportedMapping {
    /// First address.
    pub start: u64,
    /// Address behind the last.
    pub end: u64,
    /// Offset in the file of the first address.
    pub file_offset: u64,
    /// Added to an address, modulo 2^64, it gives the address in the object, as frames have it.
    pub bias: u64,
}

impl ExportedMapping {
    /// The address in memory of an address of the object, if the mapping shows it.
    pub(super) fn memory_address(&self, dso_address: u64) -> Option<u64> {
        let address = dso_address.wrapping_sub(self.bias);
        (self.start..self.end).contains(&address).then_some(address)
    }
}

impl<'a> CodeExport<'a> {
    /// Writes the events as one of the formats that show code by address. Give a buffered writer: it is written in many
    /// small pieces.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, format: CodeFormat, out: &mut impl Write) -> io::Result<()> {
        match format {
            CodeFormat::Pprof => pprof::write(self, out),
            CodeFormat::Firefox => firefox::write(self, out),
            CodeFormat::Callgrind => callgrind::write(self, out),
        }
    }

    pub(super) fn frame(&self, id: FrameId) -> Option<&'a Frame> {
        self.profile.frames.get(id.index())
    }

    /// The address of a frame in its object.
    pub(super) fn address(&self, id: FrameId) -> u64 {
        self.addresses.get(id.index()).copied().unwrap_or_default()
    }

    /// The first address of a frame's symbol, as its object's own tools know it.
    pub(super) fn entry(&self, id: FrameId) -> Option<u64> {
        let frame = self.frame(id)?;
        let symbol = self.profile.symbols.get(frame.symbol?.index())?;
        let offset = frame.dso_address.wrapping_sub(symbol.start);
        Some(self.address(id).wrapping_sub(offset))
    }

    /// The name of a frame's function, if it is known.
    pub(super) fn function(&self, frame: &Frame) -> Option<&'a str> {
        let symbol = self.profile.symbols.get(frame.symbol?.index())?;
        Some(&symbol.name)
    }

    /// The object of a frame: that of its function where they differ.
    pub(super) fn dso(&self, frame: &Frame) -> Option<DsoId> {
        let symbol = frame
            .symbol
            .and_then(|id| self.profile.symbols.get(id.index()));
        symbol.map(|symbol| symbol.dso).or(frame.dso)
    }

    /// The path of an object.
    pub(super) fn path(&self, dso: DsoId) -> &'a str {
        self.profile
            .dsos
            .get(dso.index())
            .map_or("", |dso| &dso.long)
    }

    /// The identity of an object, where it is known.
    pub(super) fn build_id(&self, dso: DsoId) -> Option<BuildId> {
        self.objects.get(dso.index())?.build_id
    }

    /// The range of a mapping that locations lie in; `None` for code that no mapping shows.
    pub(super) fn mapping(&self, mapping: &LocatedMapping<'_>) -> Option<&'a ExportedMapping> {
        let object = self.objects.get(mapping.dso.index())?;
        object.mappings.get(mapping.part?)
    }

    /// The name that stands for code without a symbol.
    pub(super) fn nameless(&self, dso: Option<DsoId>) -> String {
        match dso.and_then(|dso| self.profile.dsos.get(dso.index())) {
            Some(dso) => format!("[{}]", dso.short.trim_matches(['[', ']'])),
            None => "[unknown]".to_owned(),
        }
    }

    /// The file of a frame's line, if it is known.
    pub(super) fn file(&self, frame: &Frame) -> Option<&'a str> {
        self.source_text(frame.source?.file)
    }

    /// A text of sources, unless it is empty.
    pub(super) fn source_text(&self, id: oxperf_profile::SourceId) -> Option<&'a str> {
        let text = self.profile.sources.get(id.index())?.as_str();
        Some(text).filter(|text| !text.is_empty())
    }

    /// The first event.
    pub(super) fn first_event(&self) -> Option<&'a EventProfile> {
        self.events.first().copied()
    }
}

/// A format that shows code by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeFormat {
    /// The protocol buffer of pprof.
    Pprof,
    /// The JSON of profiler.firefox.com.
    Firefox,
    /// The text of kcachegrind and callgrind_annotate.
    Callgrind,
}

/// A number that each stack has: one of an event's weights.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    /// The place of the event.
    pub(super) event: usize,
    /// The event's name.
    pub(super) name: &'a str,
    /// The sum of periods, and not the number of samples.
    pub(super) is_period: bool,
}

impl<'a> Column<'a> {
    /// The columns of all events: samples, then periods.
    pub(super) fn all(code: &CodeExport<'a>) -> Vec<Column<'a>> {
        let columns = |(event, profile): (usize, &&'a EventProfile)| {
            [false, true].map(|is_period| Column {
                event,
                name: &profile.name,
                is_period,
            })
        };
        code.events.iter().enumerate().flat_map(columns).collect()
    }

    /// The value among the weights of all events.
    pub(super) fn value(&self, weights: &[oxperf_profile::SampleTotals]) -> u64 {
        let weight = weights.get(self.event).copied().unwrap_or_default();
        if self.is_period {
            weight.period
        } else {
            weight.samples
        }
    }

    /// The unit of its event.
    pub(super) fn unit(&self) -> WeightUnit<'a> {
        WeightUnit::of_event(self.name)
    }
}
