//! The tables of large objects, for the next run: sorting half a million symbols takes longer than many a report.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use oxperf_abi::BuildId;
use oxperf_objects::{Elf, FileVersion, Found};

use super::table::{decode, encode};
use super::{Learned, Topic, open, seal};
use crate::demangle::Demangling;
use crate::table::SymbolTable;

const KIND: &[u8; 8] = b"oxsym\0\0\x01";
/// Smaller tables are made as quickly as they are read.
const WORTHWHILE: usize = 4096;

/// What is to be kept.
#[derive(Debug, Default)]
pub(crate) struct ObjectTables {
    learned: Mutex<Vec<Learned>>,
}

/// An object with all that its table depends on.
#[derive(Debug)]
pub(crate) struct Identity {
    id: BuildId,
    owner: Vec<u8>,
    demangling: Demangling,
}

impl Identity {
    /// The identity of an object by the files that its names come from, of which one without a build id is known by its
    /// place and times; `None` for one that lies in no file, either.
    pub(crate) fn of(files: &[(&Found, &Elf<'_>)], demangling: Demangling) -> Option<Identity> {
        let mut owner = format!("{demangling:?}\n");
        for (file, elf) in files {
            let (id, contents) = (elf.build_id(), &file.contents);
            let version = contents.version().filter(|_| id.is_none());
            let _ = writeln!(owner, "{} {} {id:?} {version:?}", contents.len(), contents.is_mapped());
        }
        let (file, elf) = files.first()?;
        let id = elf.build_id().or_else(|| stand_in(file.contents.version()?))?;
        Some(Identity { id, owner: owner.into_bytes(), demangling })
    }
}

/// What stands for the build id of a file that has none.
fn stand_in(FileVersion { file: [device, inode], .. }: FileVersion) -> Option<BuildId> {
    BuildId::new(&[&b"file"[..], &device.to_be_bytes(), &inode.to_be_bytes()].concat())
}

impl ObjectTables {
    /// The table as another run has kept it.
    pub(crate) fn recalled(
        identity: &Identity,
        files: &[Arc<Found>],
        recall: impl Fn(BuildId, Topic) -> Option<Vec<u8>>,
    ) -> Option<SymbolTable> {
        let bytes = recall(identity.id, Topic::Symbols)?;
        decode(open(KIND, &identity.owner, &bytes)?, files.to_vec(), identity.demangling)
    }

    /// Keeps a table for another run, if that saves time.
    pub(crate) fn keep(&self, identity: &Identity, table: &SymbolTable) {
        if table.len() < WORTHWHILE {
            return;
        }
        let mut content = Vec::new();
        encode(table, &mut content);
        let bytes = seal(KIND, &identity.owner, &content);
        let learned = Learned { of: identity.id, topic: Topic::Symbols, bytes };
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).push(learned);
    }

    /// What another run can use.
    pub(crate) fn learned(&self) -> Vec<Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use oxperf_objects::{Contents, Origin};

    use super::*;
    use crate::elf::elf_table;

    fn here() -> Arc<Found> {
        let path = std::env::current_exe().unwrap();
        let contents = Contents::open(&path).unwrap();
        Arc::new(Found { path, origin: Origin::RecordedPath, contents })
    }

    /// Everything that a reader can see of a table.
    fn seen(table: &SymbolTable) -> Vec<String> {
        let symbols = table.ids().map(|id| format!("{:?} {:?}", table.symbol(id), table.linkage_name(id)));
        symbols.chain([format!("{:?}", table.aliases.len())]).collect()
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
        assert!(table.len() >= WORTHWHILE && learned.len() == 1, "{} symbols", table.len());
        let recalled = |identity: &Identity, bytes: &[u8]| {
            ObjectTables::recalled(identity, &[Arc::clone(&file)], |of, topic| {
                let asked = (of, topic) == (learned[0].of, learned[0].topic);
                asked.then(|| bytes.to_vec())
            })
        };
        assert_eq!(seen(&recalled(&identity, &learned[0].bytes).unwrap()), seen(&table));
        let other = Identity::of(&[(&file, &elf)], Demangling::Off).unwrap();
        assert!(recalled(&other, &learned[0].bytes).is_none());
        let damaged = &learned[0].bytes[..learned[0].bytes.len() - 1];
        assert!(recalled(&identity, damaged).is_none());
    }

    #[test]
    fn a_file_without_a_build_id_is_known_by_its_state() {
        let FileVersion { file, times } = here().contents.version().unwrap();
        let other = FileVersion { file: [file[0], file[1] + 1], times };
        assert_ne!(stand_in(FileVersion { file, times }), stand_in(other));
        assert_eq!(Contents::from_memory(Vec::new()).version(), None);
    }
}
