//! The owner of cached answers: the files that they were found in, each in one state.
//!
//! A build id says which file was meant, and proves nothing: whoever makes a file gives it any. So an answer holds for the
//! very file alone that it was found in (device, number, size, times), and nothing is kept of files that somebody else than
//! root and the user can write to, or that only a process sees.

use std::fmt::Write;

use oxperf_abi::BuildId;
use oxperf_objects::{Elf, FileVersion, Found, ObjectOrigin};

use super::{CacheEntry, Kind, Topic, open, seal};
use crate::demangle::Demangling;

/// An object with all that answers about it depend on.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// The id that the answers are found by.
    id: BuildId,
    /// Further state that has to be as it was.
    state: Vec<u8>,
    demangling: Demangling,
}

impl Identity {
    /// The identity of an object by the files that answers about it come from; `None` where nothing is to be kept of one.
    pub(crate) fn of(files: &[(&Found, &Elf<'_>)], demangling: Demangling) -> Option<Identity> {
        let mut state = format!("{demangling:?}\n");
        for (file, elf) in files {
            let (id, contents, version) = (elf.build_id(), &file.contents, keepable(file)?);
            let _ = writeln!(
                state,
                "{} {} {id:?} {version:?}",
                contents.len(),
                contents.is_mapped()
            );
        }
        let (file, elf) = files.first()?;
        let id = elf
            .build_id()
            .or_else(|| stand_in(file.contents.version()?))?;
        Some(Identity {
            id,
            state: state.into_bytes(),
            demangling,
        })
    }

    /// The demangling of names.
    pub(crate) fn demangling(&self) -> Demangling {
        self.demangling
    }

    /// These bytes for another run.
    pub(crate) fn keep(&self, topic: Topic, kind: &Kind, content: &[u8]) -> CacheEntry {
        CacheEntry {
            of: self.id,
            topic,
            bytes: seal(kind, &self.state, content),
        }
    }

    /// The answers of an earlier run, as `read` reads it.
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

/// The state of a file of which answers may be kept.
pub(crate) fn keepable(file: &Found) -> Option<FileVersion> {
    let seen_by_all = file.origin != ObjectOrigin::LiveProcess;
    file.contents
        .version()
        .filter(|version| seen_by_all && version.is_ours())
}

/// A substitute for the build id of a file that has none.
fn stand_in(
    FileVersion {
        file: [device, inode],
        ..
    }: FileVersion,
) -> Option<BuildId> {
    BuildId::new(&[&b"file"[..], &device.to_be_bytes(), &inode.to_be_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use oxperf_objects::Contents;

    use super::*;

    /// A copy has the build id, and is another file.
    #[test]
    fn answers_hold_for_the_very_file() {
        let folder = std::env::temp_dir().join(format!("oxperf-identity-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let copy = folder.join("copy");
        std::fs::copy(std::env::current_exe().unwrap(), &copy).unwrap();
        let state = |path: &std::path::Path, origin| {
            let contents = Contents::open(path).unwrap();
            let found = Found {
                path: path.to_owned(),
                origin,
                contents,
            };
            let elf = Elf::parse(&found.contents).unwrap();
            Identity::of(&[(&found, &elf)], Demangling::On).map(|identity| identity.state)
        };
        let here = state(
            &std::env::current_exe().unwrap(),
            ObjectOrigin::RecordedPath,
        )
        .unwrap();
        let there = state(&copy, ObjectOrigin::RecordedPath).unwrap();
        assert_ne!(here, there);
        assert_eq!(state(&copy, ObjectOrigin::LiveProcess), None);
        std::fs::OpenOptions::new()
            .write(true)
            .open(&copy)
            .unwrap()
            .set_modified(std::time::UNIX_EPOCH)
            .unwrap();
        assert_ne!(
            state(&copy, ObjectOrigin::RecordedPath).unwrap(),
            there,
            "written to"
        );
        if oxperf_objects::FileVersion::is_ours(&Contents::open(&copy).unwrap().version().unwrap())
            && std::os::unix::fs::chown(&copy, Some(12345), None).is_ok()
        {
            assert_eq!(
                state(&copy, ObjectOrigin::RecordedPath),
                None,
                "a file of somebody else"
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_without_a_build_id_is_known_by_its_place() {
        let here = Contents::open(&std::env::current_exe().unwrap()).unwrap();
        let version = here.version().unwrap();
        let [device, inode] = version.file;
        assert_ne!(
            stand_in(version),
            stand_in(FileVersion {
                file: [device, inode + 1],
                ..version
            })
        );
        assert_eq!(Contents::from_memory(Vec::new()).version(), None);
    }
}
