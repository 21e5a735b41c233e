//! `export --format parquet`: tables with what its options ask for.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::support::{lossy, scratch};

/// A program with functions that are inlined in each other, and a recording of it.
const INLINED: &str = "inlined";
/// Calls in a trace of Intel PT.
const CALLS: &str = "pt-calls";

/// Exports a recording into an empty folder; code is found if it is asked for by `--symfs`.
fn export(golden: &str, name: &str, options: &[&str]) -> (PathBuf, Output) {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(golden);
    let folder = scratch(module_path!()).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let text = std::fs::read_to_string(golden.join("recording.txt")).unwrap();
    let recording = oxperf_testkit::Recording::parse(&text).unwrap().to_file();
    let file = folder.join("perf.data");
    std::fs::write(&file, recording).unwrap();
    if let Ok(text) = std::fs::read_to_string(golden.join("bin/p.elf.txt")) {
        std::fs::create_dir(folder.join("bin")).unwrap();
        let image = oxperf_testkit::Image::parse(&text).unwrap().to_file();
        std::fs::write(folder.join("bin/p"), image).unwrap();
    }
    // One with debug information is no text.
    if golden.join("src/inlined").is_file() {
        std::fs::create_dir(folder.join("src")).unwrap();
        std::fs::copy(golden.join("src/inlined"), folder.join("src/inlined")).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["export", "--format", "parquet", "-o"])
        .arg(folder.join("tables"))
        .args(options)
        .arg("-i")
        .arg(&file)
        .current_dir(&folder)
        .output()
        .unwrap();
    (folder.join("tables"), output)
}

/// The rows of a table: names of columns, with their values as text.
fn rows(tables: &Path, table: &str) -> Vec<Vec<(String, String)>> {
    let file = File::open(tables.join(format!("{table}.parquet"))).unwrap();
    let rows = SerializedFileReader::new(file).unwrap();
    let rows = rows.get_row_iter(None).unwrap().map(|row| {
        let row = row.unwrap();
        let columns = row.get_column_iter();
        columns
            .map(|(name, value)| (name.clone(), text(value)))
            .collect()
    });
    rows.collect()
}

fn text(value: &Field) -> String {
    match value {
        Field::Str(text) => text.clone(),
        Field::ListInternal(list) => {
            let items: Vec<String> = list.elements().iter().map(text).collect();
            items.join(";")
        }
        other => other.to_string(),
    }
}

fn cell<'r>(row: &'r [(String, String)], name: &str) -> Option<&'r str> {
    let cell = row.iter().find(|(known, _)| known == name);
    cell.map(|(_, value)| value.as_str())
}

#[test]
fn lines_and_inlined_functions_are_lists_beside_the_names() {
    let options = ["--symfs", ".", "--lines", "--inline"];
    let (tables, output) = export(INLINED, "lines", &options);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    let stacks = rows(&tables, "stacks");
    let innermost = stacks
        .iter()
        .find(|row| cell(row, "symbol") == Some("mix"))
        .unwrap();
    let of = |name| cell(innermost, name).unwrap();
    assert_eq!(
        [of("symbols"), of("inlined"), of("depth")],
        ["mix;twice;work;_start", "true;true;false;false", "4"]
    );
    let files: Vec<&str> = of("files").split(';').collect();
    assert_eq!(files.len(), 4);
    assert!(
        files.iter().all(|file| file.ends_with("inlined.c")),
        "{files:?}"
    );
    assert_eq!(of("lines"), "4;10;19;25");
}

#[test]
fn without_the_options_stacks_are_of_functions_alone() {
    let (tables, output) = export(INLINED, "functions", &["--symfs", "."]);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    let stacks = rows(&tables, "stacks");
    let symbols: Vec<&str> = stacks
        .iter()
        .map(|row| cell(row, "symbols").unwrap())
        .collect();
    assert!(symbols.contains(&"work;_start"), "{symbols:?}");
    assert!(!symbols.iter().any(|symbols| symbols.contains("mix")));
    for name in ["files", "lines", "inlined"] {
        assert_eq!(cell(&stacks[0], name), None, "{name}");
    }
}

#[test]
fn labels_stand_with_the_recording() {
    let labels = ["--label", "team=kernel", "--label", "run=7"];
    let (tables, output) = export(INLINED, "labels", &labels);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    let recordings = rows(&tables, "recordings");
    assert_eq!(
        cell(&recordings[0], "labels"),
        Some("team=kernel,run=7"),
        "{recordings:?}"
    );
    let (tables, output) = export(INLINED, "no-label", &["--label", "kernel"]);
    assert_eq!(output.status.code(), Some(129));
    assert!(lossy(&output.stderr).contains("--label 'kernel' is no key=value"));
    assert!(!tables.exists());
}

#[test]
fn calls_of_hardware_trace_are_rows() {
    let options = ["--symfs", ".", "--itrace=cr"];
    let (tables, output) = export(CALLS, "calls", &options);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    let calls = rows(&tables, "calls");
    let told = calls.iter().map(|row| {
        let of = |name| cell(row, name).unwrap();
        [
            of("symbol"),
            of("call_time"),
            of("return_time"),
            of("insn_count"),
            of("cyc_count"),
            of("flags"),
        ]
        .join(" ")
    });
    // As `script --call-tree` has them, in the order in which they end. Flags: 1 and 2 for a call or return that was not
    // seen, 4 for a jump or an interrupt.
    let expected = [
        "leaf 100 120 2 20 0",
        "tail 120 200 2 31 4",
        "outer 120 200 4 31 0",
        "handler 300 350 2 7 4",
        "restore 350 400 1 null 3",
        "leaf 400 500 2 11 0",
        "main 100 500 16 69 3",
        "tail 600 600 2 5 4",
        "outer 600 600 4 5 1",
        "main 600 600 1 null 3",
    ];
    assert_eq!(told.collect::<Vec<String>>(), expected);
    let stacks = rows(&tables, "stacks");
    let stack_of = |id: &str| {
        let stack = stacks.iter().find(|row| cell(row, "stack_id") == Some(id));
        cell(stack.unwrap(), "symbols").unwrap()
    };
    let tail = &calls[1];
    assert_eq!(
        [
            stack_of(cell(tail, "stack_id").unwrap()),
            stack_of(cell(tail, "parent_stack_id").unwrap())
        ],
        ["tail;outer;main", "outer;main"]
    );
    assert_eq!(cell(&calls[6], "parent_stack_id"), Some("null"));
}

#[test]
fn calls_of_parts_are_those_of_the_whole() {
    let calls = |name: &str, part: Option<String>| {
        let mut options = vec!["--symfs", ".", "--itrace=cr"];
        options.extend(part.as_deref().map(|_| "--part"));
        options.extend(part.as_deref());
        let (tables, output) = export(CALLS, name, &options);
        assert!(output.status.success(), "{}", lossy(&output.stderr));
        rows(&tables, "calls")
    };
    let mut whole = calls("whole", None);
    whole.sort();
    for count in [2, 3, 7] {
        let parts = (1..=count).map(|index| {
            let name = format!("part-{index}-of-{count}");
            calls(&name, Some(format!("{index}/{count}")))
        });
        let parts: Vec<_> = parts.collect();
        assert!(parts.iter().filter(|part| !part.is_empty()).count() > 1);
        let mut union: Vec<_> = parts.into_iter().flatten().collect();
        union.sort();
        assert_eq!(union, whole, "{count} parts");
    }
}

#[test]
fn calls_stand_beside_stacks_of_more_columns() {
    let options = ["--symfs", ".", "--itrace=cr", "--lines", "--inline"];
    let (tables, output) = export(CALLS, "calls-and-lines", &options);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    assert_eq!(rows(&tables, "calls").len(), 10);
    let (tables, output) = export(CALLS, "calls-raw", &["--itrace=cr", "--raw"]);
    assert_eq!(output.status.code(), Some(129));
    assert!(lossy(&output.stderr).contains("leave out c and r"));
    assert!(!tables.exists());
}

#[test]
fn tables_without_rows_have_files() {
    let (tables, output) = export(INLINED, "empty", &["--comm", "nobody"]);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    for table in ["samples", "stacks", "maps", "calls"] {
        assert_eq!(rows(&tables, table).len(), 0, "{table}");
    }
    assert_eq!(rows(&tables, "recordings").len(), 1);
}

#[test]
fn what_says_nothing_to_a_format_is_refused() {
    for (format, option, told) in [
        (
            "pprof",
            "--raw",
            "--raw goes with --format parquet, not with pprof",
        ),
        (
            "jsonl",
            "--lines",
            "--lines goes with --format parquet, not with jsonl",
        ),
        (
            "folded",
            "--label=a=b",
            "--label goes with --format parquet, not with folded",
        ),
        (
            "parquet",
            "--push=http://h",
            "--push goes with --format otlp, not with parquet",
        ),
        (
            "otlp",
            "-iother",
            "more than one -i goes with --format parquet, not with otlp",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
            .args(["export", "-i", "none.data", "--format", format, option])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(129), "{format} {option}");
        assert!(
            lossy(&output.stderr).contains(told),
            "{}",
            lossy(&output.stderr)
        );
    }
}
