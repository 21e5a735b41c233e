//! The source lines and inlined functions of one object that is a file: what is already known, else what the files say.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oxperf_objects::{
    Contents, Elf, Found, Locator, ObjectKind, ObjectOrigin, ObjectQuery, SearchPaths,
};

use super::answers::{self, Answers};
use super::object::Object;
use super::{SourceFrame, SourceLine};
use crate::cache::identity::Identity;
use crate::cache::{CacheEntry, CacheLookup, Topic};
use crate::demangle::Demangling;
use crate::segments::Segments;

/// Answers of files with debug information.
///
/// They are read at the first question that was not answered before, units when they are first asked about. Any number
/// of threads may ask.
#[derive(Debug)]
pub(super) struct InFiles {
    found: Arc<Found>,
    program: Box<[u8]>,
    locator: Locator,
    demangling: Demangling,
    image: Segments,
    object: OnceLock<Option<Object>>,
    /// Known answers, those of other runs among them.
    answers: OnceLock<Mutex<Answers>>,
    recall: OnceLock<CacheLookup>,
    /// True if there are answers that were not there at the begin.
    learned: AtomicBool,
}

impl InFiles {
    /// The debug information in `found`, for the image that ran, which has its code at these places.
    pub(super) fn new(
        found: Arc<Found>,
        image: Segments,
        wanted: &ObjectQuery<'_>,
        locator: &Locator,
        demangling: Demangling,
    ) -> InFiles {
        InFiles {
            found,
            program: wanted.path.into(),
            locator: locator.clone(),
            demangling,
            image,
            object: OnceLock::new(),
            answers: OnceLock::new(),
            recall: OnceLock::new(),
            learned: AtomicBool::new(false),
        }
    }

    /// The debug information in the bytes of an ELF file that is its own image; `None` where it is no such file. Split
    /// units and what lies in other files are not looked for.
    pub(super) fn in_memory(bytes: Vec<u8>, demangling: Demangling) -> Option<InFiles> {
        let contents = Contents::from_memory(bytes);
        let found = Found {
            path: PathBuf::new(),
            origin: ObjectOrigin::RecordedPath,
            contents,
        };
        let found = Arc::new(found);
        let image = Elf::parse(&found.contents).ok()?;
        let nowhere = Locator::new(SearchPaths {
            root: Some(PathBuf::from("/dev/null")),
            ..SearchPaths::default()
        });
        let wanted = ObjectQuery {
            path: b"",
            build_id: None,
            kind: ObjectKind::User,
            process: None,
        };
        Some(InFiles::new(
            Arc::clone(&found),
            Segments::of(&image),
            &wanted,
            &nowhere,
            demangling,
        ))
    }

    /// The file that it is read from.
    pub(super) fn path(&self) -> &Path {
        &self.found.path
    }

    /// Number of units that there are, and how many of them have been read.
    pub(super) fn units(&self) -> (usize, usize) {
        self.object().map_or((0, 0), Object::units)
    }

    /// The functions that the code at an offset belongs to: the innermost inlined one first, the function that has the
    /// code last. Empty where nothing is known.
    pub(super) fn frames(&self, offset: u64) -> Arc<[SourceFrame]> {
        let Some(address) = self.image.address(offset) else {
            return Arc::default();
        };
        if let Some(known) = self.answers().frames.get(&address) {
            return Arc::clone(known);
        }
        let found = self.object().and_then(|object| object.frames(address));
        let found: Arc<[SourceFrame]> = found.unwrap_or_default().into();
        self.learned.store(true, Ordering::Relaxed);
        self.answers().frames.insert(address, Arc::clone(&found));
        found
    }

    /// The lines of the code from `start` to `end`, each with the offset of its first byte, in ascending order.
    pub(super) fn lines_between(&self, start: u64, end: u64) -> Vec<(u64, SourceLine)> {
        if let Some(known) = self.answers().stretch(start, end) {
            return known.to_vec();
        }
        let Some((first, object)) = self.image.address(start).zip(self.object()) else {
            return Vec::new();
        };
        let last = first.saturating_add(end.saturating_sub(start));
        let rows = object.lines_between(first, last).into_iter();
        let mut rows: Vec<_> = rows
            .filter_map(|(address, line)| Some((self.image.offset(address)?, line)))
            .collect();
        rows.sort_by_key(|(offset, _)| *offset);
        if self.answers().keep_stretch(start, end, &rows) {
            self.learned.store(true, Ordering::Relaxed);
        }
        rows
    }

    /// Takes over what another run has learned, if it fits, at the first question that it may answer.
    pub(super) fn remember(&self, recall: CacheLookup) {
        let _ = self.recall.set(recall);
    }

    fn recalled(&self) -> Option<Answers> {
        let CacheLookup(recall) = self.recall.get()?;
        self.identity()?
            .recall(Topic::Sources, answers::KIND, &**recall, answers::decode)
    }

    /// Everything known, if it is worth to be kept: not where parts were missing that may be there another time.
    pub(super) fn learned(&self) -> Option<CacheEntry> {
        let is_news =
            self.learned.load(Ordering::Relaxed) && self.object().is_none_or(Object::is_whole);
        let identity = is_news.then(|| self.identity()).flatten()?;
        Some(identity.keep(
            Topic::Sources,
            answers::KIND,
            &answers::encode(&self.answers()),
        ))
    }

    /// The identity of all that an answer depends on.
    fn identity(&self) -> Option<Identity> {
        Identity::of(
            &[(&self.found, &Elf::parse(&self.found.contents).ok()?)],
            self.demangling,
        )
    }

    /// The files, opened.
    pub(super) fn object(&self) -> Option<&Object> {
        let open = || Object::open(&self.found, &self.program, &self.locator, self.demangling);
        self.object.get_or_init(open).as_ref()
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        let answers = self
            .answers
            .get_or_init(|| Mutex::new(self.recalled().unwrap_or_default()));
        answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
