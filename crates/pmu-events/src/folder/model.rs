//! The files of one model, as a row of a mapfile names them.

use super::files::{Files, below, entries, json_files};
use crate::json::{self, Object};
use crate::mapfile::MapRow;
use crate::published::{self, FileContext, Form, StandardEvents};
use crate::store::StoreBuilder;
use std::path::{Path, PathBuf};

/// The PMU of a core without name.
pub(super) const CORE: &str = "cpu";

/// A file of descriptions of groups of metrics.
const GROUPS: &str = "metricgroups.json";

/// Folders of tables that are not of a CPU are looked for to this depth.
const SYSTEM_DEPTH: usize = 4;

/// The texts of the files beside a mapfile, which describe standard events.
pub(super) fn standard_texts(folder: &Path, files: &mut Files) -> Vec<String> {
    let paths = json_files(folder).into_iter();
    paths.filter_map(|path| files.read(&path)).collect()
}

/// The events and metrics of such texts. Their faults are those of files that no CPU is described by alone.
pub(super) fn standard_events(texts: &[String]) -> StandardEvents<'_> {
    let documents = texts.iter().map(|text| json::read(text));
    let lists = documents.flat_map(|document| document.lists);
    let objects = lists.flat_map(|(_, objects)| objects);
    let named = objects.filter_map(|object| Some((name_of(&object)?, object)));
    named.collect()
}

/// Tables below the folder of a mapfile.
pub(super) struct Model<'f> {
    folder: &'f Path,
    standard: &'f StandardEvents<'f>,
    /// What was read already.
    read: Vec<PathBuf>,
}

impl<'f> Model<'f> {
    pub(super) fn new(folder: &'f Path, standard: &'f StandardEvents<'f>) -> Model<'f> {
        Model {
            folder,
            standard,
            read: Vec::new(),
        }
    }

    /// Reads what a row names: a folder of the kernel's tree, or a file of perfmon. Several rows can name one.
    pub(super) fn read_row(
        &mut self,
        row: &MapRow<'_>,
        files: &mut Files,
        store: &mut StoreBuilder,
    ) {
        let Some(path) = below(self.folder, row.path) else {
            files.problem(
                self.folder,
                Some(row.line),
                "a path that stays below the mapfile",
            );
            return;
        };
        if self.read.contains(&path) {
            return;
        }
        self.read.push(path.clone());
        let core = core_of(row);
        if path.is_dir() {
            for file in json_files(&path) {
                self.read_file(&file, &topic_of(&file), core, files, store);
            }
        } else if is_of_events(row) {
            let file = in_perfs_form(&path).unwrap_or(path);
            let topic = row.kind.strip_prefix("hybrid").unwrap_or(row.kind);
            self.read_file(&file, topic, core, files, store);
        }
    }

    /// Reads the tables of PMUs that say themselves what they are: those of folders named `sys`.
    pub(super) fn read_system_tables(&mut self, files: &mut Files, store: &mut StoreBuilder) {
        for folder in system_folders(self.folder, SYSTEM_DEPTH) {
            for file in json_files(&folder) {
                self.read_file(&file, &topic_of(&file), CORE, files, store);
            }
        }
    }

    fn read_file(
        &self,
        file: &Path,
        topic: &str,
        core: &str,
        files: &mut Files,
        store: &mut StoreBuilder,
    ) {
        if let Some(text) = files.read(file) {
            let context = FileContext {
                topic,
                core,
                standard: self.standard,
            };
            read_text(file, &text, &context, files, store);
        }
    }
}

/// Adds what the text of a file holds.
pub(super) fn read_text(
    file: &Path,
    text: &str,
    context: &FileContext<'_>,
    files: &mut Files,
    store: &mut StoreBuilder,
) {
    let mut document = json::read(text);
    if file.ends_with(GROUPS) {
        document
            .root
            .texts()
            .for_each(|(name, text)| store.group(name, text));
    }
    for (list, objects) in &document.lists {
        let form = match &**list {
            "" => Form::Kernel,
            "Events" => Form::Perfmon,
            "events" => Form::Arm,
            _ => continue,
        };
        for object in objects {
            if let Err(fault) = published::add(object, form, context, store) {
                document.faults.push(fault);
            }
        }
    }
    files.faults(file, text, &document);
}

fn name_of(object: &Object<'_>) -> Option<String> {
    let name = object
        .text("EventName")
        .or_else(|| object.text("MetricName"));
    name.map(str::to_ascii_lowercase)
}

/// The topic of a file is its name: `floating-point.json` has floating point.
pub(super) fn topic_of(file: &Path) -> String {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    if name.ends_with("metrics") {
        return "metrics".to_owned();
    }
    name.replace('-', " ")
}

/// The PMU of the cores that a row is for. Perfmon names their role last.
fn core_of(row: &MapRow<'_>) -> &'static str {
    match row.more.rsplit(',').next() {
        Some("Core") => "cpu_core",
        Some("Atom") => "cpu_atom",
        Some("LowPower_Atom") => "cpu_lowpower",
        _ => CORE,
    }
}

/// Returns whether a file of perfmon holds events or metrics, and not figures of another kind.
fn is_of_events(row: &MapRow<'_>) -> bool {
    row.kind != "retire latency"
}

/// The same metrics in perf's form, which perfmon keeps in a folder beside its own.
fn in_perfs_form(file: &Path) -> Option<PathBuf> {
    let stem = file.file_stem()?.to_str()?;
    let path = file
        .with_file_name("perf")
        .join(format!("{stem}_perf.json"));
    path.is_file().then_some(path)
}

fn system_folders(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let Some(depth) = depth.checked_sub(1) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for name in entries(folder).unwrap_or_default() {
        let path = folder.join(&name);
        if path.is_symlink() || !path.is_dir() {
            continue;
        }
        if name == "sys" {
            found.push(path);
        } else {
            found.extend(system_folders(&path, depth));
        }
    }
    found
}
