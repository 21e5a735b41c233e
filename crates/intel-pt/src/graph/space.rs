//! The meaning of addresses now: ranges of the current address space and their sections.

use super::section::{Key, SECTION_BITS, Sections};
use crate::code::Code;
use crate::packet::ExecMode;

/// The width and the owner of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CodeContext {
    pub(crate) mode: ExecMode,
    pub(crate) guest: bool,
}

impl CodeContext {
    /// The context of a processor of which nothing is known.
    pub(crate) const UNKNOWN: CodeContext = CodeContext {
        mode: ExecMode::Bits64,
        guest: false,
    };
}

/// A range of addresses within one section.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    length: u64,
    section: u32,
    /// The place of `start` in its section.
    index: u32,
    context: CodeContext,
}

/// A byte of a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) section: u32,
    pub(super) index: u32,
}

impl Range {
    #[inline]
    fn find(&self, ip: u64, context: CodeContext) -> Option<Place> {
        let distance = ip.wrapping_sub(self.start);
        (distance < self.length && self.context == context).then(|| Place {
            section: self.section,
            index: self.index + distance as u32,
        })
    }
}

/// The ranges that were met since addresses last changed their meaning.
#[derive(Debug, Default)]
pub(super) struct Space {
    generation: Option<u64>,
    ranges: Vec<Range>,
    /// The range that was asked for last.
    last: usize,
}

impl Space {
    /// Forgets the ranges if the generation is another one; says whether it is.
    #[inline]
    pub(super) fn follow_generation(&mut self, generation: u64) -> bool {
        if self.generation == Some(generation) {
            return false;
        }
        self.generation = Some(generation);
        self.ranges.clear();
        self.last = 0;
        true
    }

    #[inline]
    pub(super) fn find(&mut self, ip: u64, context: CodeContext) -> Option<Place> {
        match self.ranges.get(self.last)?.find(ip, context) {
            Some(place) => Some(place),
            None => self.search(ip, context),
        }
    }

    fn search(&mut self, ip: u64, context: CodeContext) -> Option<Place> {
        let mut places = self.ranges.iter().map(|range| range.find(ip, context));
        self.last = places.position(|place| place.is_some())?;
        self.ranges[self.last].find(ip, context)
    }

    /// Adds the range around `ip`. `None` if the mapping does not hold it.
    pub(super) fn add(
        &mut self,
        ip: u64,
        context: CodeContext,
        code: &Code<'_>,
        sections: &mut Sections,
    ) -> Option<Place> {
        let distance = ip
            .checked_sub(code.start)
            .filter(|&distance| distance < code.bytes.len() as u64)?;
        let offset = code.offset.checked_add(distance)?;
        let part = offset >> SECTION_BITS;
        let bias = code.start.wrapping_sub(code.offset);
        let section = sections.section(Key {
            image: code.image,
            bias,
            part,
            mode: context.mode,
        });
        let first = code.offset.max(part << SECTION_BITS);
        let behind =
            (code.offset.saturating_add(code.bytes.len() as u64)).min((part + 1) << SECTION_BITS);
        let index = (first & ((1 << SECTION_BITS) - 1)) as u32;
        let range = Range {
            start: bias.wrapping_add(first),
            length: behind - first,
            section,
            index,
            context,
        };
        self.last = self.ranges.len();
        self.ranges.push(range);
        range.find(ip, context)
    }
}
