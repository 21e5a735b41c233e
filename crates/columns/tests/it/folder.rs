//! Files in a folder: whole or not at all, added to and never broken.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use oxperf_columns::ColumnsError;
use oxperf_columns::parquet::Folder;
use oxperf_columns::schema::SAMPLES;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::{RECORDING, Wanted, make};

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn export(folder: &Path) {
    let sink = Folder::open(folder, vec![("oxperf.stack_id", "named".to_owned())]).unwrap();
    make(RECORDING, &Wanted::ALL, sink).finish().unwrap();
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_folder_is_added_to() {
    let folder = scratch("added");
    export(&folder);
    let once = names(&folder);
    assert!(
        once.contains("samples.parquet") && once.contains("stacks.parquet"),
        "{once:?}"
    );
    export(&folder);
    let twice = names(&folder);
    assert_eq!(twice.len(), 2 * once.len(), "{twice:?}");
    assert!(twice.contains("samples-2.parquet") && twice.is_superset(&once));
}

#[test]
fn what_is_not_finished_leaves_nothing() {
    let folder = scratch("unfinished");
    let sink = Folder::open(&folder, Vec::new()).unwrap();
    drop(make(RECORDING, &Wanted::ALL, sink));
    assert!(names(&folder).is_empty());
}

#[test]
fn a_recording_counts_once() {
    let folder = scratch("once");
    export(&folder);
    let file =
        SerializedFileReader::new(std::fs::File::open(folder.join("recordings.parquet")).unwrap())
            .unwrap();
    let id = file
        .get_row_iter(None)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .get_long(0)
        .unwrap();
    let again = Folder::open(&folder, Vec::new()).unwrap();
    assert!(matches!(
        again.refuse_known(id),
        Err(ColumnsError::Present { .. })
    ));
    assert!(again.refuse_known(id ^ 1).is_ok());
    // A damaged file is no reason to refuse.
    std::fs::write(folder.join("recordings-9.parquet"), b"PAR1").unwrap();
    assert!(again.refuse_known(id ^ 1).is_ok());
}

#[test]
fn files_say_what_they_are() {
    let folder = scratch("notes");
    export(&folder);
    let file = std::fs::File::open(folder.join("samples.parquet")).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata().file_metadata();
    let notes = metadata.key_value_metadata().unwrap();
    let note = |key: &str| notes.iter().find(|note| note.key == key)?.value.clone();
    assert_eq!(note("oxperf.schema").as_deref(), Some("1"));
    assert_eq!(note("oxperf.table").as_deref(), Some("samples"));
    assert_eq!(note("oxperf.stack_id").as_deref(), Some("named"));
    let columns = metadata.schema_descr().columns().iter();
    let known = |name: &str| SAMPLES.columns.iter().any(|column| column.name == name);
    assert!(columns.clone().all(|column| known(column.name())));
    // Nothing in this recording has a data address.
    assert!(!columns.clone().any(|column| column.name() == "addr"));
    let periods = reader.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let place = columns
            .clone()
            .position(|column| column.name() == "period")
            .unwrap();
        row.get_long(place).unwrap()
    });
    assert_eq!(periods.collect::<Vec<i64>>(), [1, 2, 4, 8]);
}
