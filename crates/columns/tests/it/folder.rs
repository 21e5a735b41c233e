//! Files in a folder: whole or not at all, added to and never broken.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use oxperf_columns::ColumnsError;
use oxperf_columns::parquet::{ExportedRecording, Folder, StackNumbers};
use oxperf_columns::schema::SAMPLES;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;

use super::{RECORDING, Wanted, make};

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn exported(recording_id: i64, part: Option<&str>) -> ExportedRecording {
    ExportedRecording {
        recording_id,
        part: part.map(|part| part.parse().unwrap()),
        stacks: StackNumbers::Named,
    }
}

fn export(folder: &Path, exported: ExportedRecording) {
    let sink = Folder::open(folder, exported).unwrap();
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
    export(&folder, exported(1, None));
    let once = names(&folder);
    assert!(
        once.contains("samples.parquet") && once.contains("stacks.parquet"),
        "{once:?}"
    );
    export(&folder, exported(2, None));
    let twice = names(&folder);
    assert_eq!(twice.len(), 2 * once.len(), "{twice:?}");
    assert!(twice.contains("samples-2.parquet") && twice.is_superset(&once));
}

#[test]
fn what_is_not_finished_leaves_nothing() {
    let folder = scratch("unfinished");
    let sink = Folder::open(&folder, exported(1, None)).unwrap();
    drop(make(RECORDING, &Wanted::ALL, sink));
    assert!(names(&folder).is_empty());
}

#[test]
fn samples_count_once() {
    let folder = scratch("once");
    let is_known = |exported: ExportedRecording| {
        matches!(
            exported.refuse_known(&folder),
            Err(ColumnsError::Present { .. })
        )
    };
    export(&folder, exported(1, None));
    assert!(is_known(exported(1, None)) && is_known(exported(1, Some("1/2"))));
    assert!(!is_known(exported(2, None)));
    export(&folder, exported(2, Some("1/3")));
    assert!(is_known(exported(2, Some("1/3"))) && is_known(exported(2, None)));
    // Parts of two and parts of three are cut at different moments.
    assert!(is_known(exported(2, Some("2/2"))) && !is_known(exported(2, Some("2/3"))));
    // A damaged file is no reason to refuse.
    std::fs::write(folder.join("samples-9.parquet"), b"PAR1").unwrap();
    assert!(!is_known(exported(3, None)));
    let raw = ExportedRecording {
        stacks: StackNumbers::Raw,
        ..exported(3, None)
    };
    assert!(matches!(
        raw.refuse_known(&folder),
        Err(ColumnsError::OtherStacks { .. })
    ));
}

#[test]
fn the_faster_of_two_exports_counts() {
    let folder = scratch("faster");
    let [one, other] = [1, 2].map(|_| {
        let sink = Folder::open(&folder, exported(1, None)).unwrap();
        make(RECORDING, &Wanted::ALL, sink)
    });
    other.finish().unwrap();
    assert!(matches!(one.finish(), Err(ColumnsError::Present { .. })));
    let left = names(&folder);
    assert!(left.iter().all(|name| !name.contains("-2")), "{left:?}");
    assert!(left.iter().all(|name| !name.ends_with("tmp")), "{left:?}");
}

#[test]
fn what_a_killed_export_left_is_replaced() {
    let folder = scratch("killed");
    export(&folder, exported(1, None));
    let whole = names(&folder);
    // Samples get their name last.
    std::fs::remove_file(folder.join("samples.parquet")).unwrap();
    export(&folder, exported(1, None));
    assert_eq!(names(&folder), whole);
}

#[test]
fn files_say_what_they_are() {
    let folder = scratch("notes");
    export(&folder, exported(1, None));
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
