//! The tables of large objects, for the next run: sorting half a million symbols takes longer than many a report.

use std::sync::{Arc, Mutex, PoisonError};

use oxperf_abi::BuildId;
use oxperf_objects::Found;

use super::identity::Identity;
use super::table::{decode, encode};
use super::{CacheEntry, Topic};
use crate::table::SymbolTable;

const KIND: &[u8; 8] = b"oxsym\0\0\x02";
/// Smaller tables are made as quickly as they are read.
const WORTHWHILE: usize = 4096;

/// The tables that are to be cached.
#[derive(Debug, Default)]
pub(crate) struct ObjectTables {
    learned: Mutex<Vec<CacheEntry>>,
}

impl ObjectTables {
    /// The table as another run has kept it.
    pub(crate) fn recalled(
        identity: &Identity,
        files: &[Arc<Found>],
        recall: impl Fn(BuildId, Topic) -> Option<Vec<u8>>,
    ) -> Option<SymbolTable> {
        let read = |bytes: &[u8]| decode(bytes, files.to_vec(), identity.demangling());
        identity.recall(Topic::Symbols, KIND, recall, read)
    }

    /// Keeps a table for another run, if that saves time.
    pub(crate) fn keep(&self, identity: &Identity, table: &SymbolTable) {
        if table.len() < WORTHWHILE {
            return;
        }
        let mut content = Vec::new();
        encode(table, &mut content);
        let learned = identity.keep(Topic::Symbols, KIND, &content);
        self.learned
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(learned);
    }

    /// The answers that another run can use.
    pub(crate) fn learned(&self) -> Vec<CacheEntry> {
        self.learned
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use oxperf_objects::{Contents, Elf, ObjectOrigin};

    use super::*;
    use crate::demangle::Demangling;
    use crate::elf::elf_table;

    fn here() -> Arc<Found> {
        let path = std::env::current_exe().unwrap();
        let contents = Contents::open(&path).unwrap();
        Arc::new(Found {
            path,
            origin: ObjectOrigin::RecordedPath,
            contents,
        })
    }

    /// Everything that a reader can see of a table.
    fn seen(table: &SymbolTable) -> Vec<String> {
        let symbols = table
            .ids()
            .map(|id| format!("{:?} {:?}", table.symbol(id), table.linkage_name(id)));
        symbols
            .chain([format!("{:?}", table.aliases.len())])
            .collect()
    }

    #[test]
    fn a_program_has_the_same_symbols_in_the_next_run() {
        let file = here();
        let elf = Elf::parse(&file.contents).unwrap();
        let identity = Identity::of(&[(&file, &elf)], Demangling::On).unwrap();
        let table = elf_table(&elf, &elf, vec![Arc::clone(&file)], Demangling::On);
        let tables = ObjectTables::default();
        tables.keep(&identity, &table);
        let learned = tables.learned();
        assert!(
            table.len() >= WORTHWHILE && learned.len() == 1,
            "{} symbols",
            table.len()
        );
        let recalled = |identity: &Identity, bytes: &[u8]| {
            ObjectTables::recalled(identity, &[Arc::clone(&file)], |of, topic| {
                let asked = (of, topic) == (learned[0].of, learned[0].topic);
                asked.then(|| bytes.to_vec())
            })
        };
        assert_eq!(
            seen(&recalled(&identity, &learned[0].bytes).unwrap()),
            seen(&table)
        );
        let other = Identity::of(&[(&file, &elf)], Demangling::Off).unwrap();
        assert!(recalled(&other, &learned[0].bytes).is_none());
        let damaged = &learned[0].bytes[..learned[0].bytes.len() - 1];
        assert!(recalled(&identity, damaged).is_none());
    }
}
