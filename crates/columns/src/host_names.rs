//! Names of what only the recorded machine can name.

use std::sync::Arc;

use oxperf_machine::{Dso, DsoKind, Objects};
use oxperf_resolve::SymbolSource;
use oxperf_symbols::{DebugInfo, SymbolTable};

/// Leaves files with a build id without names: they can be named elsewhere, by build id and offset. The kernel, code that
/// programs made and files without one cannot.
pub(crate) struct HostNames<'s>(pub(crate) &'s dyn SymbolSource);

impl HostNames<'_> {
    fn is_named_elsewhere(dso: &Dso) -> bool {
        dso.kind == DsoKind::File && dso.build_id.is_some()
    }
}

impl SymbolSource for HostNames<'_> {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        match HostNames::is_named_elsewhere(dso) {
            true => None,
            false => self.0.table(dso, objects),
        }
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        match HostNames::is_named_elsewhere(dso) {
            true => None,
            false => self.0.source(dso, objects),
        }
    }
}
