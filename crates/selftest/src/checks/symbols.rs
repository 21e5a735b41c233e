//! The check `Symbols`: the symbols of an object, listed.

use std::os::unix::ffi::OsStrExt;

use oxperf_objects::{ObjectKind, ObjectQuery};
use oxperf_symbols::{StoreOptions, SymbolBinding, SymbolStore, SymbolTable};
use std::sync::Arc;

use crate::trial::ensure;
use crate::{Shortfall, Trial};

/// The table of the object, or of this program.
pub(crate) fn table(trial: &Trial<'_>) -> Result<Arc<SymbolTable>, Shortfall> {
    let environment = trial.environment;
    let path = environment.dso.as_ref().unwrap_or(&environment.program);
    let store = SymbolStore::new(StoreOptions::default());
    let wanted = ObjectQuery {
        path: path.as_os_str().as_bytes(),
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    store
        .object(&wanted)
        .map_err(|error| Shortfall::failure(format!("{}: {error}", path.display())))
}

/// Symbols of the object: none begins before the one listed above it, each ends behind its beginning.
pub(crate) fn listed(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let environment = trial.environment;
    let path = environment.dso.as_ref().unwrap_or(&environment.program);
    trial.note(format_args!("Testing {}", path.display()));
    let table = table(trial)?;
    let mut last = 0;
    for symbol in table.ids().filter_map(|id| table.symbol(id)) {
        let binding = match symbol.binding {
            SymbolBinding::Global => 'g',
            SymbolBinding::Weak => 'w',
            SymbolBinding::Local | SymbolBinding::Other(_) => 'l',
        };
        let (start, end) = (symbol.start, symbol.end);
        trial.note(format_args!(" {start:x}-{end:x} {binding} {}", symbol.name));
        ensure(
            start >= last && end >= start,
            format!("{} at {start:x}-{end:x} is out of order", symbol.name),
        )?;
        last = start;
    }
    ensure(
        !table.is_empty(),
        format!("{} has no symbols", path.display()),
    )
}
