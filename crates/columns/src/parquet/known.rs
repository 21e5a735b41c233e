//! What a folder has of a recording, as the metadata of its files tells.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use oxperf_query::RecordingPart;
use parquet::file::reader::{FileReader, SerializedFileReader};

use super::file::{FileNote, unwritable};
use crate::error::ColumnsError;
use crate::schema::{SAMPLES, TABLES, TableSchema};

/// The name of the recording's number in the metadata of files.
const RECORDING: &str = "oxperf.recording";
/// The name of the part that a file has of it.
const PART: &str = "oxperf.part";
/// The name of what stacks are numbered by.
const STACKS: &str = "oxperf.stack_id";
/// The name of the table.
pub(super) const TABLE: &str = "oxperf.table";

/// A recording that is exported, or a part of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExportedRecording {
    /// The recording's number.
    pub recording_id: i64,
    /// The part; `None` for all of it.
    pub part: Option<RecordingPart>,
    /// How its stacks are numbered.
    pub stacks: StackNumbers,
}

/// What the numbers of stacks are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StackNumbers {
    /// Names of functions and objects.
    Named,
    /// Build ids and offsets.
    Raw,
}

impl StackNumbers {
    const fn name(self) -> &'static str {
        match self {
            StackNumbers::Named => "named",
            StackNumbers::Raw => "raw",
        }
    }
}

/// A file of an export.
struct KnownFile {
    path: PathBuf,
    exported: ExportedRecording,
}

impl ExportedRecording {
    /// What the metadata of files says of it.
    pub(super) fn notes(self) -> impl Iterator<Item = FileNote> {
        let recording = (RECORDING, self.recording_id.to_string());
        let stacks = (STACKS, self.stacks.name().to_owned());
        let part = self.part.map(|part| (PART, part.to_string()));
        [recording, stacks].into_iter().chain(part)
    }

    /// `true` if both have samples in common.
    fn overlaps(self, other: ExportedRecording) -> bool {
        let parts = self.part.zip(other.part);
        self.recording_id == other.recording_id
            && parts.is_none_or(|(part, other)| part.overlaps(other))
    }

    /// Refuses a recording whose samples the folder has, for they would count twice, and one whose stacks have other numbers
    /// than those of the folder. Files that cannot be read are passed over.
    ///
    /// # Errors
    /// It is refused, or the folder cannot be listed.
    pub fn refuse_known(self, folder: &Path) -> Result<(), ColumnsError> {
        let samples = files(folder, Some(&SAMPLES))?;
        if let Some(other) = samples
            .iter()
            .find(|file| file.exported.stacks != self.stacks)
        {
            return Err(ColumnsError::OtherStacks {
                path: other.path.clone(),
                stacks: other.exported.stacks.name(),
                own: self.stacks.name(),
            });
        }
        let known = samples.iter().find(|file| file.exported.overlaps(self));
        let Some(known) = known else { return Ok(()) };
        let all = files(folder, None)?;
        let same = all.iter().filter(|file| file.exported == known.exported);
        Err(ColumnsError::Present {
            path: known.path.clone(),
            part: known.exported.part,
            files: same.map(|file| file.path.clone()).collect(),
        })
    }

    /// Removes what an export of the same left that was killed while its files got their names. Samples get theirs last, and
    /// the folder has none of these.
    pub(super) fn remove_remains(self, folder: &Path) -> Result<(), ColumnsError> {
        // A folder may have very many files: those of the table that gets its name first tell whether there is any.
        let first = files(folder, TABLES.last().copied())?;
        if !first.iter().any(|file| file.exported == self) {
            return Ok(());
        }
        let all = files(folder, None)?;
        let mut own = all.iter().filter(|file| file.exported == self);
        own.try_for_each(|file| {
            fs::remove_file(&file.path).map_err(|error| unwritable(&file.path, &error))
        })
    }
}

/// The files of a folder that tell what they are of, by their names those of a table alone.
fn files(folder: &Path, table: Option<&TableSchema>) -> Result<Vec<KnownFile>, ColumnsError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unwritable(folder, &error)),
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        let start = table.map_or("", |table| table.name);
        name.is_some_and(|name| name.starts_with(start) && name.ends_with(".parquet"))
    });
    let mut files: Vec<KnownFile> = paths.filter_map(known_file).collect();
    // A folder lists its files in no order.
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn known_file(path: PathBuf) -> Option<KnownFile> {
    let reader = SerializedFileReader::new(File::open(&path).ok()?).ok()?;
    let notes = reader.metadata().file_metadata().key_value_metadata()?;
    let note = |name: &str| {
        let note = notes.iter().find(|note| note.key == name)?;
        note.value.as_deref()
    };
    let exported = ExportedRecording {
        recording_id: note(RECORDING)?.parse().ok()?,
        part: note(PART).and_then(|part| part.parse().ok()),
        stacks: match note(STACKS)? {
            "raw" => StackNumbers::Raw,
            _ => StackNumbers::Named,
        },
    };
    Some(KnownFile { path, exported })
}
