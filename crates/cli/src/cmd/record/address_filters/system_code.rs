//! The symbols and files that filters name, on this system.

use std::cell::OnceCell;
use std::fs::{File, Metadata};
use std::io;

use oxperf_capture::system;
use oxperf_objects::elf::build_id_of_file;
use oxperf_objects::{ObjectKind, ObjectQuery, SearchPaths};
use oxperf_pmu::address_filter::{CodePlaces, CodeRange, Occurrence, SymbolReference};
use oxperf_present::text::sanitize;
use oxperf_symbols::{
    ChosenSymbol, NotChosen, StoreOptions, SymbolChoice, SymbolStore, choose_in_kallsyms,
    listed_kernel_text,
};
use oxperf_sys::process;

use super::missing::Missing;
use crate::cmd::record::RecordCommand;
use crate::environment;
use crate::output::print_error;

/// The kernel's list of its symbols.
const KALLSYMS: &str = "/proc/kallsyms";

/// The symbols and files of this system.
pub(super) struct SystemCode {
    pub(super) store: SymbolStore,
    pub(super) kallsyms: OnceCell<Vec<u8>>,
}

impl SystemCode {
    /// Names come from where readers of the recording will find them.
    pub(super) fn of(command: &RecordCommand) -> SystemCode {
        let cache = command.build_id_cache.clone();
        let places = SearchPaths {
            build_id_cache: cache.or_else(|| environment::build_id_cache(None)),
            debuginfod: command.debuginfod.clone(),
            ..SearchPaths::default()
        };
        SystemCode {
            store: SymbolStore::new(StoreOptions {
                places,
                ..StoreOptions::default()
            }),
            kallsyms: OnceCell::new(),
        }
    }

    fn kallsyms(&self) -> Result<&[u8], Missing> {
        if let Some(text) = self.kallsyms.get() {
            return Ok(text);
        }
        if system::hides_kernel_addresses() {
            return Err(Missing::HiddenKernel);
        }
        let text = std::fs::read(KALLSYMS).map_err(Missing::KernelList)?;
        Ok(self.kallsyms.get_or_init(|| text))
    }

    fn warn_without_symbols(file: &str) {
        print_error(&format!(
            "File '{}' not found or has no symbols.",
            sanitize(file)
        ));
    }
}

impl CodePlaces for SystemCode {
    type Error = Missing;

    fn symbol(&self, file: Option<&str>, symbol: &SymbolReference) -> Result<CodeRange, Missing> {
        let name = symbol.name.as_str();
        let choice = match symbol.occurrence {
            Occurrence::Only => SymbolChoice::Only,
            Occurrence::Global => SymbolChoice::Global,
            Occurrence::Nth(nth) => SymbolChoice::Nth(nth),
        };
        let chosen = match file {
            Some(file) => self.store.choose(&query(file), name, choice),
            None => choose_in_kallsyms(self.kallsyms()?, name, choice),
        };
        let chosen = chosen.map_err(|why| {
            if let (NotChosen::Unavailable(_), Some(file)) = (&why, file) {
                SystemCode::warn_without_symbols(file);
            }
            Missing::Symbol {
                of_kernel: file.is_none(),
                symbol: symbol.clone(),
                why,
            }
        });
        chosen.map(range)
    }

    fn everything(&self, file: Option<&str>) -> Result<CodeRange, Missing> {
        let Some(file) = file else {
            let page = process::page_size() as u64;
            let text = listed_kernel_text(self.kallsyms()?, page);
            let nothing = || Missing::KernelList(io::ErrorKind::InvalidData.into());
            return text.map(range).ok_or_else(nothing);
        };
        if self.store.object(&query(file)).is_err() {
            SystemCode::warn_without_symbols(file);
        }
        let size = regular_file(file).map(|regular| regular.len());
        let size = size.ok_or_else(|| Missing::Size(file.to_owned()))?;
        Ok(CodeRange {
            start: 0,
            size: Some(size),
        })
    }

    fn real_path(&self, file: &str) -> Result<String, Missing> {
        let path = std::fs::canonicalize(file);
        let path = path.and_then(|path| {
            let text = path.into_os_string().into_string();
            text.map_err(|_| io::ErrorKind::InvalidFilename.into())
        });
        path.map_err(|error| Missing::Path(file.to_owned(), error))
    }
}

/// The file that is there now: its build id tells where its names may be.
fn query(file: &str) -> ObjectQuery<'_> {
    let regular = regular_file(file).and_then(|_| File::open(file).ok());
    ObjectQuery {
        path: file.as_bytes(),
        build_id: regular.as_ref().and_then(build_id_of_file),
        kind: ObjectKind::User,
        process: None,
    }
}

/// What the system says of a file, if it is a regular one.
fn regular_file(file: &str) -> Option<Metadata> {
    std::fs::metadata(file).ok().filter(Metadata::is_file)
}

fn range(chosen: ChosenSymbol) -> CodeRange {
    CodeRange {
        start: chosen.start,
        size: chosen.size,
    }
}
