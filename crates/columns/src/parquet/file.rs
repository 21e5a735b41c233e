//! One Parquet file of a table, written row group by row group.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::errors::Result;
use parquet::file::writer::SerializedFileWriter;

use super::{column, schema};
use crate::error::ColumnsError;
use crate::rows::TableRows;

/// A name and a value in the metadata of files.
pub(super) type FileNote = (&'static str, String);

/// A file on its way; it has no name yet that anybody looks for.
pub(super) struct TableFile {
    writer: SerializedFileWriter<BufWriter<File>>,
    temporary: Temporary,
}

/// A file that is removed unless it gets its name.
struct Temporary(PathBuf);

/// Files on their way that an export leaves alone, because others have made them or died over them.
const MOST_OTHERS: u32 = 10_000;

impl Temporary {
    /// A new file for a table. Others may write into the folder, on other machines too: no name of theirs is taken.
    fn create(folder: &Path, table: &str) -> std::result::Result<(Temporary, File), ColumnsError> {
        let names = (0..MOST_OTHERS)
            .map(|number| folder.join(format!(".{table}.{}.{number}.tmp", std::process::id())));
        for path in names {
            match File::create_new(&path) {
                Ok(file) => return Ok((Temporary(path), file)),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&path, &error)),
            }
        }
        Err(unwritable(
            folder,
            &"all names of temporary files are taken",
        ))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // It may have its name already.
        let _ = std::fs::remove_file(&self.0);
    }
}

impl TableFile {
    /// Begins a file for rows like these.
    pub(super) fn create(
        folder: &Path,
        rows: &TableRows,
        notes: &[FileNote],
    ) -> std::result::Result<TableFile, ColumnsError> {
        let (temporary, file) = Temporary::create(folder, rows.table().name)?;
        let writer = || -> Result<_> {
            let properties = Arc::new(schema::properties(rows, notes)?);
            let out = BufWriter::with_capacity(1 << 16, file);
            SerializedFileWriter::new(out, schema::of_rows(rows)?, properties)
        };
        match writer() {
            Ok(writer) => Ok(TableFile { writer, temporary }),
            Err(error) => Err(unwritable(&temporary.0, &error)),
        }
    }

    /// Writes rows as a row group.
    pub(super) fn write(&mut self, rows: &TableRows) -> std::result::Result<(), ColumnsError> {
        self.write_group(rows)
            .map_err(|error| unwritable(&self.temporary.0, &error))
    }

    fn write_group(&mut self, rows: &TableRows) -> Result<()> {
        let mut group = self.writer.next_row_group()?;
        for (schema, values) in rows.columns() {
            if let Some(mut writer) = group.next_column()? {
                column::write(values, schema.may_be_null(), &mut writer)?;
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file, which is whole then.
    pub(super) fn end(mut self) -> std::result::Result<EndedFile, ColumnsError> {
        let mut end = || -> Result<()> {
            self.writer.finish()?;
            let out = self.writer.inner_mut();
            out.flush()?;
            out.get_ref().sync_all()?;
            Ok(())
        };
        match end() {
            Ok(()) => Ok(EndedFile(self.temporary)),
            Err(error) => Err(unwritable(&self.temporary.0, &error)),
        }
    }
}

/// A file that is whole and has no name yet.
pub(super) struct EndedFile(Temporary);

impl EndedFile {
    /// Gives it the first of these names that is free.
    pub(super) fn name(
        self,
        names: impl Iterator<Item = PathBuf>,
    ) -> std::result::Result<PathBuf, ColumnsError> {
        let EndedFile(Temporary(path)) = &self;
        for name in names {
            match name_file(path, &name) {
                Ok(()) => return Ok(name),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unwritable(&name, &error)),
            }
        }
        Err(unwritable(path, &"all names are taken"))
    }
}

/// Gives a file its name, unless another has it.
fn name_file(from: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            // Some file systems have no second names. There, the time between the question and the answer is not covered.
            match to.try_exists()? {
                true => Err(std::io::ErrorKind::AlreadyExists.into()),
                false => std::fs::rename(from, to),
            }
        }
        done => done,
    }
}

pub(super) fn unwritable(path: &Path, reason: &dyn std::fmt::Display) -> ColumnsError {
    ColumnsError::Unwritable {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}
