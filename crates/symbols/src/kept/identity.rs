//! What kept answers belong to: the files that they were found in, each in one state.

use std::fmt::Write;

use oxperf_abi::BuildId;
use oxperf_objects::{Elf, FileVersion, Found};

use super::{Kind, Learned, Topic, open, seal};
use crate::demangle::Demangling;

/// An object with all that answers about it depend on.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// What the answers are found by.
    id: BuildId,
    /// What else has to be as it was.
    state: Vec<u8>,
    demangling: Demangling,
}

impl Identity {
    /// The identity of an object by the files that answers about it come from, of which one without a build id is known by
    /// its place and times; `None` for one that lies in no file, either.
    pub(crate) fn of(files: &[(&Found, &Elf<'_>)], demangling: Demangling) -> Option<Identity> {
        let mut state = format!("{demangling:?}\n");
        for (file, elf) in files {
            let (id, contents) = (elf.build_id(), &file.contents);
            let version = contents.version().filter(|_| id.is_none());
            let _ = writeln!(state, "{} {} {id:?} {version:?}", contents.len(), contents.is_mapped());
        }
        let (file, elf) = files.first()?;
        let id = elf.build_id().or_else(|| stand_in(file.contents.version()?))?;
        Some(Identity { id, state: state.into_bytes(), demangling })
    }

    /// How names are shown.
    pub(crate) fn demangling(&self) -> Demangling {
        self.demangling
    }

    /// These bytes for another run.
    pub(crate) fn keep(&self, topic: Topic, kind: &Kind, content: &[u8]) -> Learned {
        Learned { of: self.id, topic, bytes: seal(kind, &self.state, content) }
    }

    /// What another run has kept, as `read` reads it.
    pub(crate) fn recall<T>(
        &self,
        topic: Topic,
        kind: &Kind,
        recall: impl Fn(BuildId, Topic) -> Option<Vec<u8>>,
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Option<T> {
        read(open(kind, &self.state, &recall(self.id, topic)?)?)
    }
}

/// What stands for the build id of a file that has none.
fn stand_in(FileVersion { file: [device, inode], .. }: FileVersion) -> Option<BuildId> {
    BuildId::new(&[&b"file"[..], &device.to_be_bytes(), &inode.to_be_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use oxperf_objects::Contents;

    use super::*;

    #[test]
    fn a_file_without_a_build_id_is_known_by_its_place() {
        let here = Contents::open(&std::env::current_exe().unwrap()).unwrap();
        let FileVersion { file, times } = here.version().unwrap();
        let other = FileVersion { file: [file[0], file[1] + 1], times };
        assert_ne!(stand_in(FileVersion { file, times }), stand_in(other));
        assert_eq!(Contents::from_memory(Vec::new()).version(), None);
    }
}
