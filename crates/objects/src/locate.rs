//! The search: every place in perf's order, every candidate checked for identity, every refusal kept.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxperf_abi::BuildId;

use crate::cache::CacheFile;
use crate::contents::Contents;
use crate::crc::crc32;
use crate::debuginfod::{Fetcher, Part};
use crate::elf::{AlternateLink, DebugLink, Elf};
use crate::error::Rejection;
use crate::object_query::{ObjectKind, ObjectQuery};
use crate::origin::{DebugFileOrigin, ObjectOrigin};
use crate::search_paths::SearchPaths;
use crate::vdso;

/// A file that was found and whose identity fits.
#[derive(Debug)]
pub struct Found {
    /// Its path; the recorded name for an image from memory.
    pub path: PathBuf,
    /// The kind of place that gave it.
    pub origin: ObjectOrigin,
    /// Its bytes: an ELF file.
    pub contents: Contents,
}

/// Every place that was tried in vain, with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NotFound {
    /// Paths in the order of the search.
    pub tried: Vec<(PathBuf, Rejection)>,
}

impl NotFound {
    /// A file that was there but of another version: its build id differs.
    pub fn other_version(&self) -> Option<(&Path, BuildId)> {
        self.tried.iter().find_map(|(path, why)| match why {
            Rejection::BuildIdDiffers { found } => Some((path.as_path(), *found)),
            _ => None,
        })
    }

    /// A file that the system would not open or map, for another reason than that it is not there. Files below `/proc` do
    /// not count: those of other users' processes are always refused.
    pub fn unreadable(&self) -> Option<(&Path, io::ErrorKind)> {
        self.tried.iter().find_map(|(path, why)| match why {
            Rejection::Unreadable(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Rejection::Unreadable(kind) if !path.starts_with("/proc") => {
                Some((path.as_path(), *kind))
            }
            _ => None,
        })
    }
}

/// Finds binaries by what a recording says about them.
#[derive(Clone, Debug, Default)]
pub struct Locator {
    places: SearchPaths,
    /// Asks the servers that the places name; clones share what it knows.
    fetcher: Option<Arc<Fetcher>>,
}

impl Locator {
    /// Searches these places.
    pub fn new(places: SearchPaths) -> Locator {
        let fetcher = places
            .debuginfod
            .clone()
            .map(|servers| Arc::new(Fetcher::new(servers)));
        Locator { places, fetcher }
    }

    /// The places that are searched.
    pub fn places(&self) -> &SearchPaths {
        &self.places
    }

    /// The binary that ran: from the build-id cache, else from its recorded path, else as the process sees it that had
    /// it mapped and still lives. A kernel module's has addresses, from 0 on for its code.
    ///
    /// # Errors
    /// The files that were tried, when no place has a file of that identity.
    pub fn image(&self, wanted: &ObjectQuery<'_>) -> Result<Found, NotFound> {
        let mut tried = Tried::default();
        let kind = if wanted.kind == ObjectKind::Vdso {
            CacheFile::Vdso
        } else {
            CacheFile::Elf
        };
        let open = |path: &Path| {
            let contents = open_image(path, wanted.build_id)?;
            Ok(if wanted.kind == ObjectKind::KernelModule {
                contents.linked()
            } else {
                contents
            })
        };
        let found = self
            .cached(wanted, wanted.build_id, kind)
            .and_then(|path| tried.keep(ObjectOrigin::BuildIdCache, path, open))
            .or_else(|| match self.places.recorded(wanted.path) {
                Ok(path) => tried.keep(ObjectOrigin::RecordedPath, path, open),
                Err(why) => tried.refuse(recorded_name(wanted), why),
            })
            .or_else(|| {
                let elsewhere = self.places.elsewhere(wanted);
                elsewhere
                    .into_iter()
                    .find_map(|(origin, path)| tried.keep(origin, path, open))
            })
            .or_else(|| self.own_vdso(wanted, &mut tried))
            .or_else(|| self.fetched(wanted, wanted.build_id, Part::Executable, &mut tried, &open));
        found.ok_or(tried.0)
    }

    fn cached(
        &self,
        wanted: &ObjectQuery<'_>,
        build_id: Option<BuildId>,
        kind: CacheFile,
    ) -> Option<PathBuf> {
        self.places.cache()?.file(wanted.path, build_id?, kind)
    }

    /// A separate debug file with the full symbol table. The image, where it is there, says which file that is: by its
    /// debug link, and by its build id where none was recorded.
    ///
    /// # Errors
    /// The files that were tried, when there is none of that identity.
    pub fn debug_file(
        &self,
        wanted: &ObjectQuery<'_>,
        image: Option<&Elf<'_>>,
    ) -> Result<Found, NotFound> {
        self.separate(wanted, image, &|file| {
            if file.has_symtab() {
                Ok(())
            } else {
                Err(Rejection::NoSymbols)
            }
        })
    }

    /// A separate debug file that `suits`.
    fn separate(
        &self,
        wanted: &ObjectQuery<'_>,
        image: Option<&Elf<'_>>,
        suits: &dyn Fn(&Elf<'_>) -> Result<(), Rejection>,
    ) -> Result<Found, NotFound> {
        let mut tried = Tried::default();
        let link = image.and_then(Elf::debug_link);
        let id = wanted.build_id.or_else(|| image.and_then(Elf::build_id));
        let candidates = match wanted.kind {
            ObjectKind::Vdso => Vec::new(),
            ObjectKind::User | ObjectKind::KernelModule => {
                self.places.debug_files(wanted.path, id, link)
            }
        };
        let open = |path: &Path| {
            let contents = open_debug_file(path, id, link, suits)?;
            Ok(if wanted.kind == ObjectKind::KernelModule {
                contents.linked()
            } else {
                contents
            })
        };
        let cached = self
            .cached(wanted, id, CacheFile::Debug)
            .map(|path| (DebugFileOrigin::Cache, path));
        let separate = cached.into_iter().chain(candidates);
        let found = separate
            .map(|(place, path)| (ObjectOrigin::DebugFile(place), path))
            .chain(self.beside_the_copy(wanted, image.filter(|image| suits(image).is_err())))
            .find_map(|(origin, path)| tried.keep(origin, path, open))
            .or_else(|| {
                // Nothing is fetched for what the image has itself.
                let asked = id.filter(|_| image.is_none_or(|image| suits(image).is_err()));
                self.fetched(wanted, asked, Part::DebugInfo, &mut tried, &open)
            });
        found.ok_or(tried.0)
    }

    /// The recorded path, where the cache has a copy that lacks something: one build id may belong to a binary before
    /// and after `strip`, and the cache keeps the first that it met.
    fn beside_the_copy(
        &self,
        wanted: &ObjectQuery<'_>,
        lacking: Option<&Elf<'_>>,
    ) -> Option<(ObjectOrigin, PathBuf)> {
        self.cached(wanted, lacking.and(wanted.build_id), CacheFile::Elf)?;
        self.places
            .recorded(wanted.path)
            .ok()
            .map(|path| (ObjectOrigin::RecordedPath, path))
    }

    /// The file of that identity that a server has, where servers may be asked.
    fn fetched(
        &self,
        wanted: &ObjectQuery<'_>,
        id: Option<BuildId>,
        part: Part,
        tried: &mut Tried,
        open: &dyn Fn(&Path) -> Result<Contents, Rejection>,
    ) -> Option<Found> {
        let (fetcher, id) = (
            self.fetcher.as_ref()?,
            id.filter(|_| wanted.kind != ObjectKind::Vdso)?,
        );
        match fetcher.fetch(id, part) {
            Ok(path) => tried.keep(ObjectOrigin::Debuginfod, path, open),
            Err(why) => tried.refuse(fetcher.place(id, part), why.into()),
        }
    }

    /// A separate file with DWARF debug information, found as [`Locator::debug_file`] is; where a root is set, also the
    /// file of this machine whose build id is the recorded one.
    ///
    /// # Errors
    /// The files that were tried, when there is none of that identity.
    pub fn debug_info(
        &self,
        wanted: &ObjectQuery<'_>,
        image: Option<&Elf<'_>>,
    ) -> Result<Found, NotFound> {
        let suits = |file: &Elf<'_>| {
            if file.has_debug_section(".debug_info") {
                Ok(())
            } else {
                Err(Rejection::NoDebugInfo)
            }
        };
        self.separate(wanted, image, &suits).or_else(|tried| {
            let mut tried = Tried(tried);
            let id = wanted.build_id;
            let here = id.and_then(|id| self.places.debug_of_this_machine(id));
            let origin = ObjectOrigin::DebugFile(DebugFileOrigin::BuildId);
            let open = |path: &Path| open_debug_file(path, id, None, &suits);
            let found = here.and_then(|path| tried.keep(origin, path, open));
            found.ok_or(tried.0)
        })
    }

    /// A file that another one names by its path on the recorded machine; nothing proves its identity.
    ///
    /// # Errors
    /// The reason why it cannot be had.
    pub fn companion(&self, path: &[u8]) -> Result<Found, Rejection> {
        let path = self.places.recorded(path)?;
        let contents = Contents::open(&path)?;
        Ok(Found {
            path,
            origin: ObjectOrigin::DebugFile(DebugFileOrigin::Link),
            contents,
        })
    }

    /// The file that holds what the debug information of `referrer` has in common with others.
    ///
    /// # Errors
    /// The files that were tried, when there is none of that identity.
    pub fn alternate(&self, referrer: &Path, link: AlternateLink<'_>) -> Result<Found, NotFound> {
        let mut tried = Tried::default();
        let open = |path: &Path| open_image(path, Some(link.build_id));
        let candidates = self.places.alternates(referrer, link);
        let found = candidates
            .into_iter()
            .find_map(|(place, path)| tried.keep(ObjectOrigin::DebugFile(place), path, open));
        found.ok_or(tried.0)
    }

    fn own_vdso(&self, wanted: &ObjectQuery<'_>, tried: &mut Tried) -> Option<Found> {
        // That of 32-bit programs has another name, and is not in this process.
        if wanted.kind != ObjectKind::Vdso || wanted.path != b"[vdso]" || !self.places.own_vdso {
            return None;
        }
        // Recorders seldom write the vdso's build id. A given root says that the recording is from elsewhere.
        let open = |_: &Path| {
            if wanted.build_id.is_none() && self.places.root.is_some() {
                return Err(Rejection::NothingToCompare);
            }
            let contents = vdso::own_image()?;
            check_identity(&contents, wanted.build_id)?;
            Ok(contents)
        };
        tried.keep(ObjectOrigin::OwnMemory, recorded_name(wanted), open)
    }
}

fn recorded_name(wanted: &ObjectQuery<'_>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(wanted.path).into_owned())
}

/// Collects the refusals of a search.
#[derive(Default)]
struct Tried(NotFound);

impl Tried {
    fn keep(
        &mut self,
        origin: ObjectOrigin,
        path: PathBuf,
        open: impl Fn(&Path) -> Result<Contents, Rejection>,
    ) -> Option<Found> {
        match open(&path) {
            Ok(contents) => Some(Found {
                path,
                origin,
                contents,
            }),
            Err(why) => self.refuse(path, why),
        }
    }

    fn refuse(&mut self, path: PathBuf, why: Rejection) -> Option<Found> {
        self.0.tried.push((path, why));
        None
    }
}

fn open_image(path: &Path, id: Option<BuildId>) -> Result<Contents, Rejection> {
    let contents = Contents::open(path)?.unpacked().into_elf();
    check_identity(&contents, id)?;
    Ok(contents)
}

/// A debug file proves its identity by build id, or by the checksum in the link where no id was recorded.
fn open_debug_file(
    path: &Path,
    id: Option<BuildId>,
    link: Option<DebugLink<'_>>,
    suits: &dyn Fn(&Elf<'_>) -> Result<(), Rejection>,
) -> Result<Contents, Rejection> {
    let contents = Contents::open(path)?;
    let file = check_identity(&contents, id)?;
    suits(&file)?;
    if let (None, Some(link)) = (id, link) {
        let found = crc32(&contents);
        if found != link.crc {
            return Err(Rejection::ChecksumDiffers { found });
        }
    }
    Ok(contents)
}

/// The recorded build id must be the file's. Without a recorded one every ELF file of that name will do.
fn check_identity(contents: &[u8], id: Option<BuildId>) -> Result<Elf<'_>, Rejection> {
    let file = Elf::parse(contents)?;
    let Some(recorded) = id else { return Ok(file) };
    match file.build_id() {
        Some(found) if same_id(recorded, found) => Ok(file),
        Some(found) => Err(Rejection::BuildIdDiffers { found }),
        None => Err(Rejection::NoBuildId),
    }
}

/// Returns whether two ids are the same; recordings may pad a short one with zeros to 20 bytes.
fn same_id(recorded: BuildId, found: BuildId) -> bool {
    recorded.padded() == found.padded()
}
