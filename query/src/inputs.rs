//! The inputs by what they are: recordings, and Parquet files with their tables.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxperf::sql::{self, Failure, SqlRequest};
use oxperf_columns::schema::TableSchema;

use crate::parquet_files::{ParquetFiles, table_of};
use crate::recordings::Recording;

/// What was found.
#[derive(Debug)]
pub(crate) struct Inputs {
    pub(crate) recordings: Vec<Recording>,
    pub(crate) files: ParquetFiles,
}

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Recording,
    Parquet,
    Other,
}

/// What is found on the way.
#[derive(Default)]
struct Found {
    seen: HashSet<PathBuf>,
    recordings: Vec<PathBuf>,
    files: Vec<(PathBuf, &'static TableSchema)>,
}

/// Finds the recordings and files that the request names.
///
/// # Errors
/// Something that is named is not there, or is neither.
pub(crate) fn find(request: &SqlRequest) -> Result<Inputs, Failure> {
    let mut found = Found::default();
    for input in &request.inputs {
        let path = Path::new(input);
        if fs::metadata(path).is_ok() || !is_pattern(input) {
            found.add_named(path, request.force)?;
        } else {
            found.add_matches(input)?;
        }
    }
    let recording = |path: PathBuf| Recording {
        path: path.to_string_lossy().into_owned(),
        force: request.force,
        symbols: request.symbols.clone(),
        told: Arc::default(),
    };
    Ok(Inputs {
        recordings: found.recordings.into_iter().map(recording).collect(),
        files: ParquetFiles::new(found.files),
    })
}

fn is_pattern(input: &str) -> bool {
    input.contains(['*', '?', '['])
}

impl Found {
    /// Adds what the user names.
    fn add_named(&mut self, path: &Path, force: bool) -> Result<(), Failure> {
        let kind = kind_of(path);
        if path.is_dir() && kind != Kind::Recording {
            return self.add_folder(path);
        }
        if kind == Kind::Parquet {
            return self.add_parquet(path);
        }
        // A statement may want nothing of it: what is not there, or no recording, is said all the same.
        let input = sql::open_recording(&path.to_string_lossy(), force)?;
        if kind == Kind::Other {
            input.reader()?;
        }
        self.add_recording(path);
        Ok(())
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), Failure> {
        let unreadable = |error| Failure::new(format!("{}: {error}", folder.display()));
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let before = self.seen.len();
        paths.iter().for_each(|path| self.add_match(path));
        if self.seen.len() == before {
            return Err(Failure::new(format!(
                "{} has neither recordings nor Parquet files of 'export --format parquet'",
                folder.display()
            )));
        }
        Ok(())
    }

    fn add_matches(&mut self, pattern: &str) -> Result<(), Failure> {
        let bad =
            |error: glob::PatternError| Failure::new(format!("'{pattern}' is no pattern: {error}"));
        let before = self.seen.len();
        let paths = glob::glob(&with_files(pattern)).map_err(bad)?;
        paths.flatten().for_each(|path| self.add_match(&path));
        if self.seen.len() == before {
            return Err(Failure::new(format!(
                "nothing that matches '{pattern}' is a recording or a Parquet file of 'export --format parquet'"
            )));
        }
        Ok(())
    }

    /// Adds one of many, if it is of use.
    fn add_match(&mut self, path: &Path) {
        match kind_of(path) {
            Kind::Recording => self.add_recording(path),
            Kind::Parquet => {
                // A file that belongs to none of the tables is somebody else's.
                let _ = self.add_parquet(path);
            }
            Kind::Other => {}
        }
    }

    fn add_recording(&mut self, path: &Path) {
        // A pattern may match a recording's folder and the file in it.
        if self.is_new(&first_file(path)) {
            self.recordings.push(path.to_owned());
        }
    }

    fn add_parquet(&mut self, path: &Path) -> Result<(), Failure> {
        let Some(table) = table_of(path) else {
            return Err(Failure::new(format!(
                "{}: the name of a file says which table it holds, as in samples.parquet and stacks-2.parquet; this one \
                 does not",
                path.display()
            )));
        };
        if self.is_new(path) {
            self.files.push((path.to_owned(), table));
        }
        Ok(())
    }

    /// `true` for what was not added under another name.
    fn is_new(&mut self, path: &Path) -> bool {
        self.seen
            .insert(fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()))
    }
}

/// A pattern for the files below folders, where `**` at its end would match the folders alone.
fn with_files(pattern: &str) -> Cow<'_, str> {
    match pattern.ends_with("**") {
        true => format!("{pattern}/*").into(),
        false => pattern.into(),
    }
}

/// The file that a recording begins in: a folder may be one.
fn first_file(path: &Path) -> PathBuf {
    match path.is_dir() {
        true => path.join("data"),
        false => path.to_owned(),
    }
}

/// What a file or a folder is, by its first bytes and its name.
fn kind_of(path: &Path) -> Kind {
    let file = first_file(path);
    if !fs::metadata(&file).is_ok_and(|found| found.is_file()) {
        return Kind::Other;
    }
    let mut magic = [0; 8];
    let read = File::open(&file).and_then(|mut file| file.read_exact(&mut magic));
    if read.is_ok() && [*b"PERFILE2", *b"2ELIFREP"].contains(&magic) {
        return Kind::Recording;
    }
    // A damaged one is to be named, and not to be passed over.
    let has_name = path.extension().is_some_and(|end| end == "parquet");
    if !path.is_dir() && (has_name || magic.starts_with(b"PAR1")) {
        return Kind::Parquet;
    }
    Kind::Other
}
