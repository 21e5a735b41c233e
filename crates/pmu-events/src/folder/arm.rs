//! Arm's published files: one for each CPU, which names its part.

use super::files::{Files, json_files};
use super::model::{CORE, read_text};
use crate::json;
use crate::mapfile::midr;
use crate::published::{FileContext, StandardEvents};
use crate::store::StoreBuilder;
use std::path::{Path, PathBuf};

/// The JSON files of a folder that may be Arm's, and those of `pmu` in it.
pub(super) fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = json_files(root);
    files.extend(json_files(&root.join("pmu")));
    files
}

/// Reads the file of a CPU.
pub(super) fn read(root: &Path, cpu_id: &str, reader: &mut Files, store: &mut StoreBuilder) {
    let Some(part) = part_of(cpu_id) else {
        return;
    };
    for file in files(root) {
        let text = reader.read(&file).unwrap_or_default();
        if text.contains(&format!("\"{part:#x}\"")) {
            read_file(&file, &text, part, reader, store);
        }
    }
}

/// Implementer and part number, as the files have them: 0x41d0c.
fn part_of(cpu_id: &str) -> Option<u64> {
    let midr = midr(cpu_id)?;
    Some((midr >> 24 & 0xff) << 12 | midr >> 4 & 0xfff)
}

fn read_file(file: &Path, text: &str, part: u64, reader: &mut Files, store: &mut StoreBuilder) {
    if json::read(text).root.text("cpuid") != Some(&format!("{part:#x}")) {
        return;
    }
    let context = FileContext {
        topic: "other",
        core: CORE,
        standard: &StandardEvents::new(),
    };
    read_text(file, text, &context, reader, store);
}
