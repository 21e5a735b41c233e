//! Tables on request: each object's is built once, by the first who asks.

mod kernel;
mod options;
mod unavailable;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use oxperf_abi::{BuildId, Pid};
use oxperf_objects::{
    Contents, Elf, Found, Locator, ObjectKind, ObjectOrigin, ObjectQuery, Rejection,
};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::cache::identity::Identity;
use crate::cache::objects::ObjectTables;
use crate::cache::{CacheEntry, CacheLookup, Topic};
use crate::choice::{ChosenSymbol, NotChosen, SymbolChoice, choose_in_object};
use crate::demangle::Demangling;
use crate::elf::elf_table;
use crate::kallsyms::RunningKernel;
use crate::module::{ModuleMapping, module_base, module_table};
use crate::names_from::NamesFrom;
use crate::perf_map::perf_map_table;
use crate::reference_symbol::ReferenceSymbol;
use crate::source::DebugInfo;
use crate::symbol_prefilter::SymbolPrefilter;
use crate::table::SymbolTable;

pub use options::{GuestPlaces, KernelSource, StoreOptions};
pub use unavailable::{BuildIdMismatch, Unavailable, Unreadable};

/// A table, or the reason why there is none.
pub type Lookup = Result<Arc<SymbolTable>, Unavailable>;

/// Debug information, or the reason why there is none.
pub type SourceLookup = Result<Arc<DebugInfo>, Unavailable>;

/// All tables of one analysis. Share it between threads: each table is built once.
#[derive(Debug, Default)]
pub struct SymbolStore {
    options: StoreOptions,
    locator: Locator,
    tables: Slots<Lookup>,
    sources: Slots<SourceLookup>,
    running: RunningKernel,
    large: ObjectTables,
    recall: OnceLock<CacheLookup>,
}

/// Answers by question; each is found once.
type Slots<T> = Mutex<HashMap<Key, Arc<OnceLock<T>>>>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Object {
        path: Box<[u8]>,
        build_id: Option<BuildId>,
        kind: ObjectKind,
    },
    Module {
        path: Box<[u8]>,
        build_id: Option<BuildId>,
        start: u64,
    },
    Kernel {
        build_id: Option<BuildId>,
        reference: Option<(Box<[u8]>, u64)>,
    },
    GuestKernel {
        process: Option<Pid>,
        reference: Option<(Box<[u8]>, u64)>,
    },
    PerfMap(PathBuf),
}

impl SymbolStore {
    /// An empty store.
    pub fn new(options: StoreOptions) -> SymbolStore {
        let locator = Locator::new(options.places.clone());
        SymbolStore {
            options,
            locator,
            ..SymbolStore::default()
        }
    }

    /// Finds the binaries behind the tables.
    pub fn locator(&self) -> &Locator {
        &self.locator
    }

    /// The table of a program, a library, a module's file or the vdso, by file offset.
    ///
    /// # Errors
    /// The reason why there is none; the same answer for the same question.
    pub fn object(&self, wanted: &ObjectQuery<'_>) -> Lookup {
        once(&self.tables, object_key(wanted), || {
            self.build_object(wanted)
        })
    }

    /// The source lines and inlined functions of a program, a library or the vdso, by file offset: from the image where
    /// it has debug information, else from a separate file of the same identity.
    ///
    /// # Errors
    /// The reason why there are none; the same answer for the same question.
    pub fn source(&self, wanted: &ObjectQuery<'_>) -> SourceLookup {
        once(&self.sources, object_key(wanted), || {
            self.open_source(wanted, None)
        })
    }

    /// The table of a kernel module's file, by absolute address: where the kernel's list does not name what it holds.
    ///
    /// # Errors
    /// The reason why there is none; the same answer for the same question.
    pub fn module(&self, wanted: &ObjectQuery<'_>, place: ModuleMapping<'_>) -> Lookup {
        once(&self.tables, module_key(wanted, place), || {
            self.build_module(wanted, place)
        })
    }

    /// The source lines and inlined functions of a kernel module, by absolute address.
    ///
    /// # Errors
    /// The reason why there are none; the same answer for the same question.
    pub fn module_source(
        &self,
        wanted: &ObjectQuery<'_>,
        place: ModuleMapping<'_>,
    ) -> SourceLookup {
        once(&self.sources, module_key(wanted, place), || {
            self.open_source(wanted, Some(place))
        })
    }

    /// Chooses among the symbols of a program or a library by name, all names of an address among them.
    ///
    /// # Errors
    /// There is no such symbol, there are several, or there is no file with names.
    pub fn choose(
        &self,
        wanted: &ObjectQuery<'_>,
        name: &str,
        choice: SymbolChoice,
    ) -> Result<ChosenSymbol, NotChosen> {
        let image = self.locator.image(wanted);
        let parsed = image.as_ref().ok().map(elf_of).transpose()?;
        let debug = self.locator.debug_file(wanted, parsed.as_ref()).ok();
        let debug = debug.as_ref().map(elf_of).transpose()?;
        let Some(first) = parsed.as_ref().or(debug.as_ref()) else {
            return Err(Unavailable::NotFound(image.err().unwrap_or_default()).into());
        };
        let carried = debug.is_none() && !first.has_symtab();
        let carried = carried.then(|| first.mini_debug_info()).flatten();
        let carried = carried.as_deref().and_then(|bytes| Elf::parse(bytes).ok());
        let symbols = debug.as_ref().or(carried.as_ref()).unwrap_or(first);
        choose_in_object(first, symbols, name, choice, self.options.demangling)
    }

    /// Builds the tables of many objects with all threads of the current pool. Their lookups are then immediate.
    pub fn prepare(&self, wanted: &[ObjectQuery<'_>]) {
        wanted
            .par_iter()
            .for_each(|wanted| drop(self.object(wanted)));
    }

    /// The table of the kernel, by absolute address, for a recording's kernel identity and reference symbol.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn kernel(
        &self,
        build_id: Option<BuildId>,
        reference: Option<&ReferenceSymbol<'_>>,
    ) -> Lookup {
        let moved = reference.map(|reference| (reference.symbol.into(), reference.address));
        let key = Key::Kernel {
            build_id,
            reference: moved,
        };
        once(&self.tables, key, || self.build_kernel(build_id, reference))
    }

    /// The table of the kernel of the guest that a process runs, by absolute address.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn guest_kernel(
        &self,
        process: Option<Pid>,
        reference: Option<&ReferenceSymbol<'_>>,
    ) -> Lookup {
        let moved = reference.map(|reference| (reference.symbol.into(), reference.address));
        once(
            &self.tables,
            Key::GuestKernel {
                process,
                reference: moved,
            },
            || self.build_guest_kernel(process, reference),
        )
    }

    /// The source lines and inlined functions of the kernel, by absolute address, where an image of it is given.
    ///
    /// # Errors
    /// The reason why there are none.
    pub fn kernel_source(&self, reference: Option<&ReferenceSymbol<'_>>) -> SourceLookup {
        let KernelSource::Vmlinux(path) = &self.options.kernel else {
            return Err(Unavailable::Off);
        };
        let moved = reference.map(|reference| (reference.symbol.into(), reference.address));
        let key = Key::Kernel {
            build_id: None,
            reference: moved,
        };
        once(&self.sources, key, || {
            self.open_kernel_source(path, reference)
        })
    }

    /// The table of an interpreter's text file (`/tmp/perf-PID.map`), by virtual address: below the root where one is
    /// set, else where it was written, which for a process in a container is its own `/tmp`.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn perf_map(&self, path: &Path) -> Lookup {
        once(&self.tables, Key::PerfMap(path.to_owned()), || {
            let places = self.locator.places();
            let mut refused = None;
            for place in places.perf_maps(path) {
                match places.open_written_by_program(&place, Contents::read) {
                    Ok(text) => return filled(perf_map_table(&text), NamesFrom::PerfMap),
                    // What is there and not believed is worth more words than what is not there.
                    Err(why)
                        if refused.is_none() || matches!(why, Rejection::ForeignOwner { .. }) =>
                    {
                        refused = Some(Unavailable::Unusable { path: place, why });
                    }
                    Err(_) => {}
                }
            }
            Err(refused.unwrap_or(Unavailable::Off))
        })
    }

    /// Names come from the separate debug file where there is one, as in perf, else from the image.
    fn build_object(&self, wanted: &ObjectQuery<'_>) -> Lookup {
        let image = self.locator.image(wanted).map(Arc::new);
        let parsed = image.as_ref().ok().map(|image| elf_of(image)).transpose()?;
        let debug = self
            .locator
            .debug_file(wanted, parsed.as_ref())
            .ok()
            .map(Arc::new);
        let files: Vec<Arc<Found>> = image.iter().chain(&debug).map(Arc::clone).collect();
        let debug = debug.as_ref().map(|debug| elf_of(debug)).transpose()?;
        let parts = || parsed.iter().chain(&debug);
        let Some(first) = parts().next() else {
            return Err(Unavailable::NotFound(image.err().unwrap_or_default()));
        };
        let lacks = |words: &SymbolPrefilter| !parts().any(|file| words.may_stand_in(file));
        if self.options.only_with.as_ref().is_some_and(lacks) {
            return Err(Unavailable::NoSymbols);
        }
        let named: Vec<_> = files.iter().map(|file| &**file).zip(parts()).collect();
        let recall = self.recall.get();
        let identity = recall.and_then(|_| Identity::of(&named, self.options.demangling));
        let known = recall.zip(identity.as_ref());
        let known = known
            .and_then(|(CacheLookup(recall), id)| ObjectTables::recalled(id, &files, &**recall));
        let asked_for = self.options.only_with.clone();
        let carried = debug.is_none() && !first.has_symtab();
        let from = match files.last() {
            _ if carried && first.has_mini_debug_info() => NamesFrom::Carried,
            Some(file) => NamesFrom::File(file.origin),
            None => NamesFrom::File(ObjectOrigin::RecordedPath),
        };
        if let Some(table) = known {
            return filled(table.within(first).asked_for(asked_for), from);
        }
        let carried = carried.then(|| first.mini_debug_info()).flatten();
        let carried = carried
            .as_deref()
            .and_then(|carried| Elf::parse(carried).ok());
        let symbols = debug.as_ref().or(carried.as_ref()).unwrap_or(first);
        let table = elf_table(first, symbols, files, self.options.demangling);
        if let Some(identity) = identity {
            self.large.keep(&identity, &table);
        }
        filled(table.asked_for(asked_for), from)
    }

    fn build_module(&self, wanted: &ObjectQuery<'_>, place: ModuleMapping<'_>) -> Lookup {
        let image = self.locator.image(wanted);
        let parsed = image.as_ref().ok().map(elf_of).transpose()?;
        let debug = self.locator.debug_file(wanted, parsed.as_ref()).ok();
        let debug = debug.as_ref().map(elf_of).transpose()?;
        let Some(file) = debug.as_ref().or(parsed.as_ref()) else {
            return Err(Unavailable::NotFound(image.err().unwrap_or_default()));
        };
        let demangling = self.options.kernel_demangling.unwrap_or(Demangling::Off);
        filled(
            module_table(file, module_base(file, place), place.end, demangling),
            NamesFrom::Module,
        )
    }

    /// By file offset, or by absolute address for a module that was at `place`.
    fn open_source(
        &self,
        wanted: &ObjectQuery<'_>,
        place: Option<ModuleMapping<'_>>,
    ) -> SourceLookup {
        let image = self.locator.image(wanted);
        let parsed = image.as_ref().ok().map(elf_of).transpose()?;
        let info = |found: Arc<Found>, image: &Elf<'_>| {
            let info = match place {
                None => {
                    DebugInfo::new(found, image, wanted, &self.locator, self.options.demangling)
                }
                Some(place) => {
                    let moved = module_base(image, place);
                    let demangling = self.options.kernel_demangling.unwrap_or(Demangling::Off);
                    DebugInfo::of_kernel(found, moved, wanted, &self.locator, demangling)
                }
            };
            if let Some(recall) = self.recall.get() {
                info.remember(recall.clone());
            }
            info
        };
        if let (Ok(_), Some(elf)) = (&image, &parsed)
            && elf.has_debug_section(".debug_info")
        {
            // The file is opened again, as it is to stay open on its own.
            let again = self.locator.image(wanted).map_err(Unavailable::NotFound)?;
            return Ok(Arc::new(info(Arc::new(again), elf)));
        }
        let found = match (
            self.locator.debug_info(wanted, parsed.as_ref()),
            image.is_ok(),
        ) {
            (Ok(found), _) => Arc::new(found),
            (Err(_), true) => return Err(Unavailable::NoDebugInfo),
            (Err(_), false) => return Err(Unavailable::NotFound(image.err().unwrap_or_default())),
        };
        // Without the image the debug file's own headers say where code lay.
        let own = elf_of(&found)?;
        Ok(Arc::new(info(
            Arc::clone(&found),
            parsed.as_ref().unwrap_or(&own),
        )))
    }

    /// The answers of this run, so that they can be cached for another run: of debug information by object, only
    /// objects of which something new is known; the symbols of large objects; those of the kernel that runs here by
    /// the boot of the machine. Nothing where files are looked for below a root, which holds what somebody put there.
    pub fn learned(&self) -> Vec<CacheEntry> {
        if self.options.places.root.is_some() {
            return Vec::new();
        }
        let slots = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let infos = slots.values().filter_map(|slot| slot.get()?.as_ref().ok());
        let sources = infos.filter_map(|info| info.learned());
        sources
            .chain(self.running.learned())
            .chain(self.large.learned())
            .collect()
    }

    /// Tells what another run has learned of an object, or in this boot of the kernel, before it is first asked about.
    /// Bytes that do not fit the object, or are damaged, tell nothing. Not where files are looked for below a root.
    pub fn remember(
        &self,
        recall: impl Fn(BuildId, Topic) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) {
        if self.options.places.root.is_none() {
            let _ = self.recall.set(CacheLookup(Arc::new(recall)));
        }
    }
}

fn object_key(wanted: &ObjectQuery<'_>) -> Key {
    Key::Object {
        path: wanted.path.into(),
        build_id: wanted.build_id,
        kind: wanted.kind,
    }
}

fn module_key(wanted: &ObjectQuery<'_>, place: ModuleMapping<'_>) -> Key {
    Key::Module {
        path: wanted.path.into(),
        build_id: wanted.build_id,
        start: place.start,
    }
}

/// The slot is found under the lock, its content is made outside of it.
fn once<T: Clone>(slots: &Slots<T>, key: Key, make: impl FnOnce() -> T) -> T {
    let slot = {
        let mut slots = slots.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(key).or_default())
    };
    slot.get_or_init(make).clone()
}

fn elf_of(found: &Found) -> Result<Elf<'_>, Unavailable> {
    let unusable = |why: oxperf_objects::ElfError| Unavailable::Unusable {
        path: found.path.clone(),
        why: why.into(),
    };
    Elf::parse(&found.contents).map_err(unusable)
}

fn filled(table: SymbolTable, from: NamesFrom) -> Lookup {
    match table.is_empty() {
        true => Err(Unavailable::NoSymbols),
        false => Ok(Arc::new(SymbolTable {
            names_from: Some(from),
            ..table
        })),
    }
}
