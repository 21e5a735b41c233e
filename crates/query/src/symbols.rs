//! The sources of names, as the user chooses them.

use std::path::{Path, PathBuf};

use oxperf_data::Reader;
use oxperf_data::directory::KERNEL_COPY_NAME;
use oxperf_itrace::CodeSearchPaths;
use oxperf_objects::SearchPaths;
use oxperf_resolve::{RecordedSymbols, SymbolSource};
use oxperf_symbols::{Demangling, KernelSource, StoreOptions, SymbolPrefilter, SymbolStore};

use crate::{GuestOptions, QueryError, code_paths};

/// The sources of names and the form of names.
#[derive(Clone, Debug, Default)]
pub struct SymbolOptions {
    /// The places of the recorded files.
    pub search_paths: SearchPaths,
    /// Names as in the source, or as the linker has them.
    pub demangling: Demangling,
    /// The kernel's names are demangled, too.
    pub demangle_kernel: bool,
    /// Call chains show inlined functions.
    pub inlines: bool,
    /// Source files are shown with their whole paths.
    pub whole_source_paths: bool,
    /// A copy of `/proc/kallsyms` with the kernel's names.
    pub kallsyms: Option<PathBuf>,
    /// The kernel's image.
    pub vmlinux: Option<PathBuf>,
    /// The files of guests.
    pub guests: GuestOptions,
}

impl SymbolOptions {
    /// The tables and files that names come from.
    ///
    /// # Errors
    /// A named file of kernel symbols cannot be read.
    pub fn store(&self) -> Result<SymbolStore, QueryError> {
        self.store_with(None)
    }

    /// A store that leaves objects without names that cannot hold a function of this name.
    ///
    /// # Errors
    /// A named file of kernel symbols cannot be read.
    pub fn store_of_function(&self, function: &str) -> Result<SymbolStore, QueryError> {
        self.store_with(Some(SymbolPrefilter::of(function)))
    }

    fn store_with(&self, only_with: Option<SymbolPrefilter>) -> Result<SymbolStore, QueryError> {
        for path in [&self.kallsyms, &self.vmlinux].into_iter().flatten() {
            if let Err(error) = std::fs::File::open(path) {
                let path = path.clone();
                return Err(QueryError::UnreadableKernelSymbols { path, error });
            }
        }
        Ok(SymbolStore::new(StoreOptions {
            places: self.search_paths.clone(),
            demangling: self.demangling,
            kernel: self.kernel_source(),
            guests: self.guests.symbol_places(),
            kernel_demangling: self.demangle_kernel.then_some(self.demangling),
            only_with,
        }))
    }

    /// These options for a recording: where they name no symbols of the kernel, a directory has them with the copy of its
    /// kernel, if it holds one.
    #[must_use]
    pub fn of_recording(&self, recording: &Path) -> SymbolOptions {
        let mut options = self.clone();
        if options.kallsyms.is_none() && options.vmlinux.is_none() {
            let list = recording.join(KERNEL_COPY_NAME).join("kallsyms");
            options.kallsyms = Some(list).filter(|list| list.is_file());
        }
        options
    }

    fn kernel_source(&self) -> KernelSource {
        match (&self.kallsyms, &self.vmlinux) {
            (Some(path), _) => KernelSource::Kallsyms(path.clone()),
            (None, Some(path)) => KernelSource::Vmlinux(path.clone()),
            // The running kernel is not the one whose files lie below another root.
            (None, None) if self.search_paths.root.is_some() => KernelSource::Nothing,
            (None, None) => KernelSource::default(),
        }
    }

    /// Names from the recording where it holds them, else from `store`.
    pub fn recorded<S: SymbolSource>(&self, reader: &Reader<'_>, store: S) -> RecordedSymbols<S> {
        RecordedSymbols::new(reader, self.demangling, store)
    }

    /// The places of the code that hardware trace ran through; `recording` is the recording's own path.
    pub fn code_search_paths(&self, recording: &Path, reader: &Reader<'_>) -> CodeSearchPaths {
        code_paths::find(self, recording, reader)
    }
}
