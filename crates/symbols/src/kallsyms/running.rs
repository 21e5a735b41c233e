//! The names of the kernel that runs here: as another run has kept them, if nothing has changed since, else from its list.

use std::sync::{Mutex, PoisonError};

use oxperf_abi::BuildId;
use oxperf_objects::{KernelState, Rejection};

use super::cached::{CachedKallsyms, decode, encode};
use super::{kallsyms_table, running_table};
use crate::cache::{CacheEntry, Topic};
use crate::demangle::Demangling;
use crate::reference_symbol::ReferenceSymbol;
use crate::table::SymbolTable;

/// Reads these names, and keeps them for another run.
#[derive(Debug, Default)]
pub(crate) struct RunningKernel {
    learned: Mutex<Option<CacheEntry>>,
}

impl RunningKernel {
    /// The table; `recall` gives what was kept during this boot.
    pub(crate) fn table(
        &self,
        reference: Option<&ReferenceSymbol<'_>>,
        demangling: Demangling,
        recall: Option<&dyn Fn(BuildId, Topic) -> Option<Vec<u8>>>,
    ) -> Result<SymbolTable, Rejection> {
        let state = recall.and_then(|_| KernelState::now());
        let kept = || {
            let (state, recall) = state.as_ref().zip(recall)?;
            decode(state, demangling, &recall(state.boot, Topic::Symbols)?)?.seen_from(reference)
        };
        if let Some(table) = kept() {
            return Ok(table);
        }
        let text = KernelState::list()?;
        let here = running_table(&text, demangling);
        if let Some(state) = state {
            self.keep(state, &here);
        }
        Ok(here
            .seen_from(reference)
            .unwrap_or_else(|| kallsyms_table(&text, reference, demangling)))
    }

    /// Keeps the table for another run, if it shows addresses and nothing has changed while the list was read.
    fn keep(&self, state: KernelState, here: &CachedKallsyms) {
        if !here.table.is_empty() && KernelState::now().as_ref() == Some(&state) {
            let learned = CacheEntry {
                of: state.boot,
                topic: Topic::Symbols,
                bytes: encode(&state, here),
            };
            *self.learned.lock().unwrap_or_else(PoisonError::into_inner) = Some(learned);
        }
    }

    /// The answer that another run can use.
    pub(crate) fn learned(&self) -> Option<CacheEntry> {
        self.learned
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
