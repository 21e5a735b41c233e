//! The folder of an export: a file a table, beside those of earlier exports.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::file::{FileNote, TableFile, unwritable};
use super::known::ExportedRecording;
use crate::error::ColumnsError;
use crate::rows::TableRows;
use crate::samples::RowSink;
use crate::schema::{TABLES, TableSchema};

/// A folder that tables are written into.
pub struct Folder {
    path: PathBuf,
    exported: ExportedRecording,
    notes: Vec<FileNote>,
    /// The file of each table, in the order of [`TABLES`].
    files: [Option<TableFile>; TABLES.len()],
}

/// A file that was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenFile {
    /// Its table.
    pub table: &'static TableSchema,
    /// Its path.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

impl Folder {
    /// Makes the folder if it is missing.
    ///
    /// # Errors
    /// It cannot be made, or has samples of this recording: they would count twice.
    pub fn open(path: &Path, exported: ExportedRecording) -> Result<Folder, ColumnsError> {
        exported.refuse_known(path)?;
        fs::create_dir_all(path).map_err(|error| unwritable(path, &error))?;
        Ok(Folder {
            path: path.to_owned(),
            exported,
            notes: exported.notes().collect(),
            files: Default::default(),
        })
    }

    /// Ends all files and gives them their names: those of samples last, so that whoever sees samples finds all that they
    /// refer to. A table without rows has a file, too: engines refuse a table that no file has.
    ///
    /// # Errors
    /// A file cannot be ended or named, or another export of the recording was faster; no file has a name then.
    pub fn finish(mut self) -> Result<Vec<WrittenFile>, ColumnsError> {
        for table in TABLES {
            self.take(&TableRows::new(table, |_| true))?;
        }
        let files = TABLES.into_iter().zip(self.files);
        let ended = files.filter_map(|(table, file)| Some((table, file?.end())));
        let ended: Vec<_> = ended.collect();
        // Others may add to the folder: one after another, so that each sees what the others have added. Where a file
        // system knows no locks, the time between looking and naming is not covered.
        let lock = File::open(&self.path);
        let _ = lock.as_ref().map(File::lock);
        self.exported.refuse_known(&self.path)?;
        self.exported.remove_remains(&self.path)?;
        let mut written = Written::default();
        // Samples are the first of all tables.
        for (table, file) in ended.into_iter().rev() {
            let path = file?.name(names(&self.path, table))?;
            let size = fs::metadata(&path).map_or(0, |found| found.len());
            written.files.push(WrittenFile { table, path, size });
        }
        let mut written = written.keep();
        // The names, too, are to survive a crash.
        let _ = lock.and_then(|folder| folder.sync_all());
        written.reverse();
        Ok(written)
    }
}

/// Files that got their names, which they lose again unless all do: a part of an export would be taken for the whole.
#[derive(Debug, Default)]
struct Written {
    files: Vec<WrittenFile>,
}

impl Written {
    fn keep(mut self) -> Vec<WrittenFile> {
        std::mem::take(&mut self.files)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        for file in &self.files {
            // What cannot be removed was told by the failure before.
            let _ = fs::remove_file(&file.path);
        }
    }
}

impl RowSink for Folder {
    fn take(&mut self, rows: &TableRows) -> Result<(), ColumnsError> {
        let place = TABLES.into_iter().position(|table| table == rows.table());
        let Some(file) = place.and_then(|place| self.files.get_mut(place)) else {
            return Ok(());
        };
        let file = match file {
            Some(file) => file,
            None => file.insert(TableFile::create(&self.path, rows, &self.notes)?),
        };
        match rows.is_empty() {
            true => Ok(()),
            false => file.write(rows),
        }
    }
}

/// The names that a file of a table can have: `samples.parquet`, `samples-2.parquet` and so on.
fn names<'f>(folder: &'f Path, table: &'static TableSchema) -> impl Iterator<Item = PathBuf> + 'f {
    (1..u32::MAX).map(move |number| match number {
        1 => folder.join(format!("{}.parquet", table.name)),
        _ => folder.join(format!("{}-{number}.parquet", table.name)),
    })
}
