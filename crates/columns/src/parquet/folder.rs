//! The folder of an export: a file a table, beside those of earlier exports.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use parquet::schema::types::Type;

use super::file::{FileNote, TableFile, unwritable};
use crate::error::ColumnsError;
use crate::rows::TableRows;
use crate::samples::RowSink;
use crate::schema::{RECORDINGS, TABLES, TableSchema};

/// A folder that tables are written into.
pub struct Folder {
    path: PathBuf,
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
    /// Makes the folder if it is missing. `notes` stand in the metadata of every file.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(path: &Path, notes: Vec<FileNote>) -> Result<Folder, ColumnsError> {
        fs::create_dir_all(path).map_err(|error| unwritable(path, &error))?;
        Ok(Folder {
            path: path.to_owned(),
            notes,
            files: Default::default(),
        })
    }

    /// Refuses a recording whose number the folder has: its samples would count twice. Files that cannot be read are passed
    /// over.
    ///
    /// # Errors
    /// The folder has it, or cannot be listed.
    pub fn refuse_known(&self, recording_id: i64) -> Result<(), ColumnsError> {
        let entries = fs::read_dir(&self.path).map_err(|error| unwritable(&self.path, &error))?;
        for entry in entries.flatten() {
            let path = entry.path();
            if is_of(&path, &RECORDINGS)
                && let Some(file) = recording_in(&path, recording_id)
            {
                return Err(ColumnsError::Present { path, file });
            }
        }
        Ok(())
    }

    /// Ends all files and gives them their names: those of samples last, so that whoever sees samples finds all that they
    /// refer to. A table without rows has a file, too: engines refuse a table that no file has.
    ///
    /// # Errors
    /// A file cannot be ended or named; no file has a name then.
    pub fn finish(mut self) -> Result<Vec<WrittenFile>, ColumnsError> {
        for table in TABLES {
            self.take(&TableRows::new(table, |_| true))?;
        }
        let files = TABLES.into_iter().zip(self.files);
        let ended = files.filter_map(|(table, file)| Some((table, file?.end())));
        let ended: Vec<_> = ended.collect();
        let mut written = Written::default();
        // Samples are the first of all tables.
        for (table, file) in ended.into_iter().rev() {
            let path = file?.name(names(&self.path, table))?;
            let size = fs::metadata(&path).map_or(0, |found| found.len());
            written.files.push(WrittenFile { table, path, size });
        }
        let mut written = written.keep();
        // The names, too, are to survive a crash.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
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

fn is_of(path: &Path, table: &TableSchema) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(table.name) && name.ends_with(".parquet"))
}

/// The name of a recording's file, if a file of recordings lists its number.
fn recording_in(path: &Path, recording_id: i64) -> Option<String> {
    let reader = SerializedFileReader::new(File::open(path).ok()?).ok()?;
    let schema = reader.metadata().file_metadata().schema();
    let fields = ["recording_id", "file"].map(|name| {
        let mut fields = schema.get_fields().iter();
        fields.find(|field| field.name() == name).cloned()
    });
    let [Some(id), Some(file)] = fields else {
        return None;
    };
    let wanted = Type::group_type_builder(schema.name())
        .with_fields(vec![id, file])
        .build()
        .ok()?;
    let rows = reader.get_row_iter(Some(wanted)).ok()?;
    let listed = rows
        .flatten()
        .find(|row| row.get_long(0).ok() == Some(recording_id))?;
    listed.get_string(1).ok().cloned()
}
