//! The source lines and inlined functions of one object, wherever they are told.

use std::path::Path;
use std::sync::Arc;

use oxperf_objects::{Elf, Found, Locator, ObjectQuery};

use super::in_files::InFiles;
use super::object::Object;
use super::{SourceFrame, SourceLine};
use crate::cache::{CacheEntry, CacheLookup};
use crate::demangle::Demangling;
use crate::segments::Segments;

/// The source lines and inlined functions of an object, by offset into the file that ran: the addresses of
/// [`SymbolTable`](crate::SymbolTable). Any number of threads may ask.
///
/// A kernel is known by absolute addresses in the place of offsets, as they were when it was recorded.
#[derive(Debug)]
pub struct DebugInfo {
    told: Told,
    /// Distance of the code above its own addresses, modulo 2^64.
    shift: u64,
}

#[derive(Debug)]
enum Told {
    InFiles(Box<InFiles>),
    /// By the code's own maker: where each line begins, ascending.
    Lines(Box<[(u64, SourceLine)]>),
}

impl DebugInfo {
    /// The debug information in `found`, for the image that ran.
    pub(crate) fn new(
        found: Arc<Found>,
        image: &Elf<'_>,
        wanted: &ObjectQuery<'_>,
        locator: &Locator,
        demangling: Demangling,
    ) -> DebugInfo {
        let files = InFiles::new(found, Segments::of(image), wanted, locator, demangling);
        DebugInfo::at(0, Told::InFiles(Box::new(files)))
    }

    /// The debug information of a kernel's image, or of a module, which ran so far above its own addresses.
    pub(crate) fn of_kernel(
        found: Arc<Found>,
        shift: u64,
        wanted: &ObjectQuery<'_>,
        locator: &Locator,
        demangling: Demangling,
    ) -> DebugInfo {
        let files = InFiles::new(found, Segments::by_address(), wanted, locator, demangling);
        DebugInfo::at(shift, Told::InFiles(Box::new(files)))
    }

    fn at(shift: u64, told: Told) -> DebugInfo {
        DebugInfo { told, shift }
    }

    /// The debug information in the bytes of an ELF file that is its own image; `None` where it is no such file. Split
    /// units and what lies in other files are not looked for.
    pub fn in_memory(bytes: Vec<u8>, demangling: Demangling) -> Option<DebugInfo> {
        let read = InFiles::in_memory(bytes, demangling)?;
        Some(DebugInfo::at(0, Told::InFiles(Box::new(read))))
    }

    /// The lines of code without a file, each with the offset at which it begins, in any order.
    pub fn of_lines(lines: impl IntoIterator<Item = (u64, SourceLine)>) -> DebugInfo {
        let mut lines: Vec<(u64, SourceLine)> = lines.into_iter().collect();
        lines.sort_by_key(|(offset, _)| *offset);
        DebugInfo::at(0, Told::Lines(lines.into()))
    }

    /// The file that it is read from, if it is.
    pub fn path(&self) -> &Path {
        match &self.told {
            Told::InFiles(files) => files.path(),
            Told::Lines(_) => Path::new(""),
        }
    }

    /// Number of units that there are, and how many of them have been read.
    pub fn units(&self) -> (usize, usize) {
        match &self.told {
            Told::InFiles(files) => files.units(),
            Told::Lines(_) => (0, 0),
        }
    }

    /// The files that types are read from, opened.
    pub(super) fn entries(&self) -> Option<&Object> {
        match &self.told {
            Told::InFiles(files) => files.object(),
            Told::Lines(_) => None,
        }
    }

    /// The line that the code at an offset was made from.
    pub fn line(&self, offset: u64) -> Option<SourceLine> {
        self.frames(offset).first()?.line.clone()
    }

    /// The functions that the code at an offset belongs to: the innermost inlined one first, the function that has the
    /// code last. Empty where nothing is known.
    pub fn frames(&self, offset: u64) -> Arc<[SourceFrame]> {
        let offset = offset.wrapping_sub(self.shift);
        match &self.told {
            Told::InFiles(files) => files.frames(offset),
            Told::Lines(lines) => {
                let behind = lines.partition_point(|(start, _)| *start <= offset);
                let line = behind.checked_sub(1).and_then(|last| lines.get(last));
                line.map(|(_, line)| SourceFrame {
                    function: None,
                    line: Some(line.clone()),
                })
                .into_iter()
                .collect()
            }
        }
    }

    /// The lines of the code from `start` to `end`, each with the offset of its first byte, in ascending order.
    pub fn lines_between(&self, start: u64, end: u64) -> Vec<(u64, SourceLine)> {
        let (start, end) = (start.wrapping_sub(self.shift), end.wrapping_sub(self.shift));
        let mut rows: Vec<(u64, SourceLine)> = match &self.told {
            Told::InFiles(files) => files.lines_between(start, end),
            Told::Lines(lines) => {
                let within = lines
                    .iter()
                    .filter(|(offset, _)| (start..end).contains(offset));
                within.cloned().collect()
            }
        };
        rows.iter_mut()
            .for_each(|(offset, _)| *offset = offset.wrapping_add(self.shift));
        rows
    }

    /// Takes over what another run has learned, if it fits, at the first question that it may answer.
    pub(crate) fn remember(&self, recall: CacheLookup) {
        if let Told::InFiles(files) = &self.told {
            files.remember(recall);
        }
    }

    /// Everything known, if it is worth to be kept.
    pub(crate) fn learned(&self) -> Option<CacheEntry> {
        match &self.told {
            Told::InFiles(files) => files.learned(),
            Told::Lines(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_on_until_the_next_begins() {
        let line = |line| SourceLine {
            file: "f.js".into(),
            line,
            column: 0,
        };
        let told = DebugInfo::of_lines([(0x90, line(3)), (0x80, line(1))]);
        assert_eq!(
            [0x7f, 0x80, 0x8f, 0x90, 0x9000].map(|at| told.line(at).map(|line| line.line)),
            [None, Some(1), Some(1), Some(3), Some(3)]
        );
        assert_eq!(told.lines_between(0x81, 0x91), [(0x90, line(3))]);
    }
}
