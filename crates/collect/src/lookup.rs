//! The names of a moment: symbols, with the machine whose objects they belong to.

use oxperf_machine::Machine;
use oxperf_resolve::{DsoAddress, InlineStep, Name, Names};
use oxperf_symbols::SourceLine;

/// Looks up the names of located addresses.
#[derive(Clone, Copy)]
pub(super) struct SymbolLookup<'a, 's> {
    pub(super) names: &'a Names<'s>,
    pub(super) machine: &'a Machine,
}

impl<'a, 's> SymbolLookup<'a, 's> {
    /// The symbol of a place.
    pub(super) fn name(self, place: &DsoAddress) -> Option<Name<'a>> {
        self.names.name(self.machine.objects(), place)
    }

    /// The source line of a place, by the debug information of its object.
    pub(super) fn line(self, place: &DsoAddress) -> Option<SourceLine> {
        let source = self.names.source(self.machine.objects(), place.dso)?;
        source.line(place.address)
    }

    /// The functions that a place belongs to, innermost first.
    pub(super) fn steps(self, place: &DsoAddress, name: &Name<'_>) -> Vec<InlineStep> {
        self.names.steps(self.machine.objects(), place, name)
    }
}
