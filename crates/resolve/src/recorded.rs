//! Symbols that the recording holds: simpleperf notes those that samples hit.

use std::sync::Arc;

use oxperf_data::Reader;
use oxperf_data::features::{
    FileDetail, FileKind, RecordedFile, SimpleperfFiles, SimpleperfFiles2,
};
use oxperf_machine::{CodeMapping, Dso, Objects};
use oxperf_symbols::{
    DebugInfo, Demangling, SymbolBinding, SymbolEntry, SymbolName, SymbolTable, build,
};
use rustc_hash::FxHashMap;

use crate::SymbolSource;

/// Answers with the recording's own symbols, and asks another source about the rest.
pub struct RecordedSymbols<S> {
    files: FxHashMap<String, RecordedFile>,
    demangling: Demangling,
    otherwise: S,
}

impl<S: SymbolSource> RecordedSymbols<S> {
    /// Takes the symbols from a recording. What cannot be decoded is as if it were not there.
    pub fn new(reader: &Reader<'_>, demangling: Demangling, otherwise: S) -> RecordedSymbols<S> {
        let features = reader.features();
        let older = features
            .get::<SimpleperfFiles>()
            .ok()
            .flatten()
            .map(|files| files.0);
        let newer = features
            .get::<SimpleperfFiles2>()
            .ok()
            .flatten()
            .map(|files| files.0);
        let files = older.into_iter().chain(newer).flatten();
        let named = files
            .filter(|file| !file.symbols.is_empty())
            .map(|file| (file.path.clone(), file));
        RecordedSymbols {
            files: named.collect(),
            demangling,
            otherwise,
        }
    }

    /// The source that is asked about the rest.
    pub fn otherwise(&self) -> &S {
        &self.otherwise
    }

    fn build(&self, file: &RecordedFile, code: Option<CodeMapping>) -> Option<Arc<SymbolTable>> {
        let shift = shift(file, code)?;
        let entries = file.symbols.iter().map(|symbol| SymbolEntry {
            start: symbol.start.wrapping_add(shift),
            size: Some(u64::from(symbol.size)),
            name: SymbolName::plain(symbol.name.as_bytes()),
            binding: SymbolBinding::Global,
            is_data: false,
        });
        Some(Arc::new(build(entries.collect(), self.demangling)))
    }
}

impl<S: SymbolSource> SymbolSource for RecordedSymbols<S> {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        let recorded = self.files.get(&dso.name);
        let recorded = recorded.and_then(|file| self.build(file, dso.code));
        recorded.or_else(|| self.otherwise.table(dso, objects))
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        self.otherwise.source(dso, objects)
    }
}

/// The distance from the addresses of a file's symbols to those of places in it, modulo 2^64: file offsets, or the
/// addresses themselves for kernels and code made at run time. `None` where the recording does not tell.
fn shift(file: &RecordedFile, code: Option<CodeMapping>) -> Option<u64> {
    let at = |offset: u64| Some(offset.wrapping_sub(file.min_vaddr));
    match (file.kind, &file.detail) {
        (FileKind::KERNEL | FileKind::DEX | FileKind::SYMBOL_MAP, _) => Some(0),
        (FileKind::ELF, _) if code.is_some_and(|map| map.bias == 0) => Some(0),
        (FileKind::ELF, FileDetail::FileOffset(offset)) => at(*offset),
        // Older recorders took the code's mapping for that of the lowest address.
        (FileKind::ELF, _) => code.and_then(|map| at(map.file_offset)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(kind: FileKind, detail: FileDetail) -> RecordedFile {
        RecordedFile {
            kind,
            min_vaddr: 0x3000,
            detail,
            ..RecordedFile::default()
        }
    }

    #[test]
    fn addresses_become_places() {
        let elf = |detail| file(FileKind::ELF, detail);
        assert_eq!(
            shift(&elf(FileDetail::FileOffset(0x1000)), None),
            Some(0x2000_u64.wrapping_neg())
        );
        assert_eq!(shift(&elf(FileDetail::None), None), None);
        assert_eq!(
            shift(&file(FileKind::DEX, FileDetail::DexOffsets(vec![])), None),
            Some(0)
        );
        assert_eq!(
            shift(&file(FileKind::KERNEL_MODULE, FileDetail::None), None),
            None
        );
    }
}
