//! Tables in a folder: the kernel's tree `pmu-events/arch`, Intel perfmon's and Arm's published files.

mod arm;
mod files;
mod model;

use crate::error::{TableProblem, TablesError};
use crate::mapfile::Mapfile;
use crate::plain_names;
use crate::published::{FileContext, StandardEvents};
use crate::store::{Store, StoreBuilder};
use files::{Files, entries};
use model::Model;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A folder of tables. Making one looks for its mapfiles; the tables of a CPU are read later.
#[derive(Clone, Debug)]
pub struct TableFolder {
    root: PathBuf,
    mapfiles: Vec<PathBuf>,
    /// The names of events with neither point nor underline, where they are listed; read when a name is first asked for.
    plain_names: OnceLock<Option<BTreeSet<String>>>,
}

/// The tables of a CPU, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) store: Store,
    pub(crate) problems: Vec<TableProblem>,
}

impl TableFolder {
    /// A folder in one of these layouts: with a mapfile in it (an architecture of the kernel's tree, perfmon's root), with
    /// such folders in it or in `arch` in it (the kernel's `pmu-events` and `arch`), or with Arm's files.
    ///
    /// # Errors
    /// It cannot be read, or holds neither.
    pub fn open(root: &Path) -> Result<TableFolder, TablesError> {
        let names = entries(root)?;
        let mut mapfiles = mapfiles_in(root);
        for name in &names {
            mapfiles.extend(mapfiles_in(&root.join(name)));
        }
        for name in entries(&root.join("arch")).unwrap_or_default() {
            mapfiles.extend(mapfiles_in(&root.join("arch").join(name)));
        }
        if mapfiles.is_empty() && arm::files(root).is_empty() {
            return Err(TablesError::NoTables {
                path: root.to_owned(),
            });
        }
        Ok(TableFolder {
            root: root.to_owned(),
            mapfiles,
            plain_names: OnceLock::new(),
        })
    }

    /// Returns whether the tables may have an event of this name in lower case, as far as can be said without reading them:
    /// imported tables have a list of names beside them.
    pub(crate) fn may_have(&self, name: &str) -> bool {
        let names = self
            .plain_names
            .get_or_init(|| plain_names::read(&self.root));
        let names = names.as_ref().filter(|_| plain_names::is_plain(name));
        names.is_none_or(|names| names.contains(name))
    }

    /// Reads the tables of a CPU.
    pub(crate) fn load(&self, cpu_id: &str) -> Loaded {
        let mut files = Files::default();
        let mut store = StoreBuilder::default();
        for mapfile in &self.mapfiles {
            read_mapped(mapfile, cpu_id, &mut files, &mut store);
        }
        if self.mapfiles.is_empty() {
            arm::read(&self.root, cpu_id, &mut files, &mut store);
        }
        Loaded {
            store: store.finish(),
            problems: files.problems,
        }
    }
}

impl Loaded {
    /// What the text of one file holds; `name` is the file's, for its topic and for messages.
    pub(crate) fn of_json(name: &Path, text: &str) -> Loaded {
        let (mut files, mut store) = (Files::default(), StoreBuilder::default());
        let context = FileContext {
            topic: &model::topic_of(name),
            core: model::CORE,
            standard: &StandardEvents::new(),
        };
        model::read_text(name, text, &context, &mut files, &mut store);
        Loaded {
            store: store.finish(),
            problems: files.problems,
        }
    }
}

/// The files of a folder whose name begins with `mapfile.csv`.
fn mapfiles_in(folder: &Path) -> Vec<PathBuf> {
    let names = entries(folder).unwrap_or_default();
    let mapfiles = names.iter().filter(|name| name.starts_with("mapfile.csv"));
    let paths = mapfiles.map(|name| folder.join(name));
    paths.filter(|path| path.is_file()).collect()
}

/// Reads the tables that a mapfile gives for a CPU, and those of PMUs that say themselves what they are.
fn read_mapped(mapfile: &Path, cpu_id: &str, files: &mut Files, store: &mut StoreBuilder) {
    let Some(text) = files.read(mapfile) else {
        return;
    };
    let (map, refused) = Mapfile::parse(&text);
    for line in refused {
        files.problem(mapfile, Some(line), "CPU,version,path,type");
    }
    let rows = map.rows_of(cpu_id);
    let Some(folder) = mapfile.parent() else {
        return;
    };
    if rows.is_empty() {
        return;
    }
    let texts = model::standard_texts(folder, files);
    let standard = model::standard_events(&texts);
    let mut model = Model::new(folder, &standard);
    for row in &rows {
        model.read_row(row, files, store);
    }
    model.read_system_tables(files, store);
}

#[cfg(test)]
mod tests;
