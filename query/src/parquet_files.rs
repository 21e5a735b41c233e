//! The Parquet files among the inputs: which table each belongs to, whether it can be read, and its rows.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::error::{DataFusionError, Result};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use oxperf_columns::schema::{TABLES, TableSchema, VERSION};

use crate::arrow_rows::schema_of;

/// The key in the metadata of files that has the version of the tables.
const VERSION_KEY: &str = "oxperf.schema";
/// The key that has the name of the file's table.
const TABLE_KEY: &str = "oxperf.table";
/// Columns that tables of profiles have, and hardly others: each of the tables has one of them.
const OWN_COLUMNS: [&str; 2] = ["recording_id", "stack_id"];
/// Rows that are read at once.
const BATCH: usize = 1 << 16;

/// The table that a file holds, by its name, or by that of a folder it lies in, and by its content.
pub(crate) fn table_of(path: &Path) -> Option<&'static TableSchema> {
    let table = table_by_name(path).or_else(|| table_by_folder(path));
    table.filter(|table| is_held_by(table, path))
}

/// The table of a file such as `samples.parquet` or `samples-2.parquet`.
fn table_by_name(path: &Path) -> Option<&'static TableSchema> {
    let stem = path.file_stem()?.to_str()?;
    let is_of = |table: &&'static TableSchema| {
        let rest = stem.strip_prefix(table.name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    TABLES.into_iter().find(is_of)
}

/// The table of a folder above a file, as in `stacks/date=2026-01-01/part-0.parquet`.
fn table_by_folder(path: &Path) -> Option<&'static TableSchema> {
    let folders = path.ancestors().skip(1);
    let mut names = folders.filter_map(|folder| folder.file_name()?.to_str());
    names.find_map(TableSchema::named)
}

/// `true` for a file that belongs to the table by its content: files and folders are called `maps` or `events` for other
/// reasons, too.
/// A damaged one is to be named, and not to be passed over.
fn is_held_by(table: &TableSchema, path: &Path) -> bool {
    let Ok(end) = end_of(path) else {
        return true;
    };
    match note(&end, TABLE_KEY) {
        Some(name) => name == table.name,
        // Other writers leave notes out.
        None => {
            let mut fields = end.schema().fields().iter();
            fields.any(|field| OWN_COLUMNS.contains(&field.name().as_str()))
        }
    }
}

/// The end of a file, which says where everything is.
fn end_of(path: &Path) -> Result<ArrowReaderMetadata, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let end = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new());
    end.map_err(|error| error.to_string())
}

/// A note of a file's metadata.
fn note<'m>(end: &'m ArrowReaderMetadata, key: &str) -> Option<&'m str> {
    let notes = end.metadata().file_metadata().key_value_metadata()?;
    let note = notes.iter().find(|note| note.key == key)?;
    note.value.as_deref()
}

/// Reads a file's end.
///
/// # Errors
/// It is damaged, of another version of the tables, or has columns of other types.
pub(crate) fn check(path: &Path, table: &TableSchema) -> Result<(), String> {
    let end = end_of(path)?;
    let version = note(&end, VERSION_KEY).and_then(|version| version.parse::<u32>().ok());
    if let Some(version) = version.filter(|version| *version != VERSION) {
        return Err(format!(
            "its tables are of version {version}, these are of version {VERSION}"
        ));
    }
    let expected = schema_of(table);
    for field in end.schema().fields() {
        let Some((_, wanted)) = expected.column_with_name(field.name()) else {
            continue;
        };
        if !is_readable_as(field.data_type(), wanted.data_type()) {
            return Err(format!(
                "its column {} is of type {}, and not {}",
                field.name(),
                field.data_type(),
                wanted.data_type()
            ));
        }
    }
    Ok(())
}

fn is_readable_as(
    found: &datafusion::arrow::datatypes::DataType,
    wanted: &datafusion::arrow::datatypes::DataType,
) -> bool {
    use datafusion::arrow::datatypes::DataType::{List, Timestamp, Utf8, Utf8View};
    match (found, wanted) {
        (Utf8, Utf8View) | (Timestamp(..), Timestamp(..)) => true,
        (List(found), List(wanted)) => is_readable_as(found.data_type(), wanted.data_type()),
        (found, wanted) => found == wanted,
    }
}

/// Reads all of a file.
///
/// # Errors
/// It is damaged.
pub(crate) fn check_all(path: &Path, table: &TableSchema) -> Result<(), String> {
    check(path, table)?;
    for batch in read(path, &schema_of(table)).map_err(|error| error.to_string())? {
        batch.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// The rows of a file with these columns; those that it does not have are NULL.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn read(
    path: &Path,
    columns: &SchemaRef,
) -> Result<impl Iterator<Item = Result<RecordBatch, ArrowError>>> {
    let damaged = |error: &dyn std::fmt::Display| {
        DataFusionError::Execution(format!("{}: {error}", path.display()))
    };
    let file = File::open(path).map_err(|error| damaged(&error))?;
    let builder =
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| damaged(&error))?;
    let fields = builder.schema().fields().iter().enumerate();
    let places = fields.filter(|(_, field)| columns.column_with_name(field.name()).is_some());
    let places: Vec<usize> = places.map(|(place, _)| place).collect();
    let mask = ProjectionMask::roots(builder.parquet_schema(), places);
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build();
    let reader = reader.map_err(|error| damaged(&error))?;
    let columns = columns.clone();
    Ok(reader.map(move |batch| adapted(&batch?, &columns)))
}

fn adapted(batch: &RecordBatch, columns: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let length = batch.num_rows();
    let arrays = columns
        .fields()
        .iter()
        .map(|field| match batch.column_by_name(field.name()) {
            Some(column) => cast(column, field.data_type()),
            None => Ok(new_null_array(field.data_type(), length)),
        });
    let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(length));
    RecordBatch::try_new_with_options(columns.clone(), arrays, &options)
}

/// The files of each table.
#[derive(Clone, Debug, Default)]
pub(crate) struct ParquetFiles {
    files: Vec<(PathBuf, &'static TableSchema)>,
    /// Those that are passed over, each with the reason.
    pub(crate) damaged: Vec<(PathBuf, String)>,
}

impl ParquetFiles {
    /// These files without those that cannot be read.
    pub(crate) fn new(files: Vec<(PathBuf, &'static TableSchema)>) -> ParquetFiles {
        let mut all = ParquetFiles {
            files,
            damaged: Vec::new(),
        };
        all.leave_out(check);
        all
    }

    /// Leaves out those that a complete reading finds to be damaged; `true` if there are any.
    pub(crate) fn leave_out_damaged(&mut self) -> bool {
        let before = self.files.len();
        self.leave_out(check_all);
        self.files.len() < before
    }

    fn leave_out(&mut self, check: fn(&Path, &TableSchema) -> Result<(), String>) {
        let damaged = &mut self.damaged;
        self.files.retain(|(path, table)| match check(path, table) {
            Ok(()) => true,
            Err(reason) => {
                damaged.push((path.clone(), reason));
                false
            }
        });
    }

    /// The files of a table.
    pub(crate) fn of(&self, table: &TableSchema) -> Arc<[PathBuf]> {
        let files = self.files.iter().filter(|(_, known)| *known == table);
        files.map(|(path, _)| path.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_belong_to_tables_by_their_names() {
        let name = |path: &str| table_by_name(Path::new(path)).map(|table| table.name);
        assert_eq!(name("a/samples.parquet"), Some("samples"));
        assert_eq!(name("a/stacks-12.parquet"), Some("stacks"));
        assert_eq!(name("a/samples_of_mine.parquet"), None);
        assert_eq!(name("a/events2024.parquet"), None);
        assert_eq!(name("maps/other.parquet"), None);
    }

    #[test]
    fn files_belong_to_tables_by_the_nearest_folder() {
        let name = |path: &str| table_by_folder(Path::new(path)).map(|table| table.name);
        let day = "v1/maps/stacks/date=2026-01-01/x.parquet";
        assert_eq!(name(day), Some("stacks"));
        assert_eq!(name("a/events2024/x.parquet"), None);
    }
}
