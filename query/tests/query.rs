//! The program over recordings of a few samples, and over Parquet files that it writes itself.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int32Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::KeyValue;
use oxperf_testkit::Recording;

/// Two threads, with callers; a record was lost.
const RECORDING: &str = "event cycles sample=IP|TID|TIME|CPU|PERIOD|CALLCHAIN flags=sample_id_all|freq|mmap|comm|task freq=4000
mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000@0xffffffff81000000 [kernel.kallsyms]_text
comm pid=7 tid=7 reader
fork pid=7 ppid=7 tid=8 ptid=7 time=900
comm pid=7 tid=8 writer
mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /nowhere/reader
sample mode=kernel ip=0xffffffff81000310 pid=7 tid=7 cpu=0 time=1000000100 period=100 chain=kernel,0xffffffff81000310,0xffffffff81000220
sample mode=kernel ip=0xffffffff81000220 pid=7 tid=8 cpu=1 time=1000000200 period=100 chain=kernel,0xffffffff81000220
sample mode=kernel ip=0xffffffff81000410 pid=7 tid=7 cpu=0 time=1000000300 period=50 chain=kernel,0xffffffff81000410,0xffffffff81000220
sample mode=user ip=0x400120 pid=7 tid=8 cpu=1 time=2000000400 period=250 chain=user,0x400120
lost lost=3
feature hostname string=vm
feature sample_time u64=1000000100,2000000400";

const KALLSYMS: &str = "ffffffff81000000 T _text
ffffffff81000200 T vfs_read
ffffffff81000300 T copy_page
ffffffff81000400 T schedule
ffffffff81000500 T _etext
";

/// A folder of its own with the recording and its kernel's symbols.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let recording = Recording::parse(RECORDING).unwrap();
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
    fs::write(folder.join("kallsyms"), KALLSYMS).unwrap();
    folder
}

/// More samples than a result holds back, of which a record was lost.
const LONG: &str = "file unfinished=1
event cycles sample=TID|TIME|PERIOD flags=sample_id_all|comm freq=4000
comm pid=7 tid=7 reader
lost lost=3
sample pid=7 tid=7 time=1000 period=1";
const LONG_ROWS: usize = 1_750_000;
/// Where the header says how long the records are.
const DATA_SIZE: std::ops::Range<usize> = 48..56;

/// A folder of its own with the long recording.
fn long_folder(name: &str) -> PathBuf {
    let folder = folder(name);
    let recording = Recording::parse(LONG).unwrap();
    let samples = recording.records().last().unwrap().repeat(LONG_ROWS - 1);
    let mut file = recording.to_file();
    let size = u64::from_le_bytes(file[DATA_SIZE].try_into().unwrap()) + samples.len() as u64;
    file[DATA_SIZE].copy_from_slice(&size.to_le_bytes());
    file.extend(samples);
    fs::write(folder.join("perf.data"), file).unwrap();
    folder
}

fn run(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxperf-query"))
        .args(["--kallsyms", "kallsyms"])
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The result as CSV.
fn csv(folder: &Path, words: &[&str]) -> String {
    let output = run(folder, &[&["--format", "csv"], words].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The message of a statement that is refused.
fn refused(folder: &Path, words: &[&str]) -> String {
    let output = run(folder, words);
    assert!(
        !output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    String::from_utf8(output.stderr).unwrap()
}

/// Writes the tables of the folder's recording as Parquet files into `prof`.
fn export(folder: &Path) -> PathBuf {
    let prof = folder.join("prof");
    fs::create_dir_all(&prof).unwrap();
    for table in ["samples", "stacks", "recordings", "events"] {
        let file = format!("prof/{table}.parquet");
        let sql = format!("SELECT * FROM {table}");
        let output = run(folder, &["--format", "parquet", "-o", &file, &sql]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    prof
}

const TOP: &str =
    "SELECT symbol, sum(period) AS value FROM profile GROUP BY symbol ORDER BY value DESC, symbol";
const TOP_ROWS: &str = "symbol,value\n[reader],250\ncopy_page,100\nvfs_read,100\nschedule,50\n";

#[test]
fn a_recording_is_asked_as_it_is() {
    let folder = folder("recording");
    assert_eq!(csv(&folder, &[TOP]), TOP_ROWS);
    let where_ = "SELECT tid, period FROM samples WHERE comm = 'writer' AND time > 1500000000";
    assert_eq!(csv(&folder, &[where_]), "tid,period\n8,250\n");
    assert_eq!(
        csv(
            &folder,
            &["SELECT count(*) AS n FROM samples WHERE cpu IN (0, 7)"]
        ),
        "n\n2\n"
    );
    let stacks = "SELECT depth, symbol, dso FROM stack_frames WHERE depth = 1 ORDER BY symbol";
    assert_eq!(
        csv(&folder, &[stacks]),
        "depth,symbol,dso\n1,vfs_read,[kernel.kallsyms]\n1,vfs_read,[kernel.kallsyms]\n"
    );
    assert_eq!(
        csv(
            &folder,
            &["SELECT host, samples, lost_records FROM recordings"]
        ),
        "host,samples,lost_records\nvm,4,3\n"
    );
}

#[test]
fn files_give_the_rows_of_the_recording() {
    let folder = folder("files");
    export(&folder);
    assert_eq!(csv(&folder, &["-i", "prof", TOP]), TOP_ROWS);
    for statement in oxperf_columns::statements::STATEMENTS {
        let (own, files) = (
            csv(&folder, &[statement.sql]),
            csv(&folder, &["-i", "prof/*", statement.sql]),
        );
        assert_eq!(own, files, "{}", statement.name);
    }
    // Both together have each sample twice, and each stack once.
    let both = ["-i", "prof", "-i", "perf.data"];
    let sum = csv(
        &folder,
        &[&both[..], &["SELECT sum(period) AS value FROM profile"]].concat(),
    );
    assert_eq!(sum, "value\n1000\n");
    let stacks = csv(
        &folder,
        &[&both[..], &["SELECT count(*) AS n FROM stacks"]].concat(),
    );
    assert_eq!(stacks, "n\n4\n");
}

#[test]
fn losses_stand_under_results() {
    let folder = folder("losses");
    let table = run(&folder, &["SELECT count(*) AS n FROM samples"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert_eq!(
        table,
        "n\n4\n# lost: 3 records that found their ring full\n"
    );
    let json = run(
        &folder,
        &["--format", "json", "SELECT comm, cpu FROM samples LIMIT 1"],
    );
    let json = String::from_utf8(json.stdout).unwrap();
    assert_eq!(
        json,
        "{\"rows\":[{\"comm\":\"reader\",\"cpu\":0}],\"loss\":{\"recordings\":1,\"recordings_not_read_to_end\":0,\
         \"lost_samples\":0,\"lost_records\":3,\"lost_aux\":0,\"cut_stacks\":0,\"damaged\":0,\"damaged_files\":0}}\n"
    );
    let csv = run(
        &folder,
        &["--format", "csv", "SELECT count(*) AS n FROM samples"],
    );
    assert_eq!(csv.stdout, b"n\n4\n");
    assert!(
        String::from_utf8(csv.stderr)
            .unwrap()
            .contains("# lost: 3 records")
    );
    export(&folder);
    let files = run(
        &folder,
        &["-i", "prof", "SELECT count(*) AS n FROM samples"],
    );
    assert!(
        String::from_utf8(files.stdout)
            .unwrap()
            .contains("# lost: 3 records")
    );
}

#[test]
fn losses_stand_under_results_of_any_size() {
    let folder = long_folder("long");
    let all = run(&folder, &["--format", "csv", "SELECT period FROM samples"]);
    let rows = all.stdout.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(rows, LONG_ROWS + 1);
    let told = String::from_utf8(all.stderr).unwrap();
    assert!(told.contains("# lost: 3 records"), "{told}");
    // Of a recording that is not read to its end nobody knows what it lost.
    let first = "SELECT period FROM samples LIMIT 1";
    let table = run(&folder, &[first]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert_eq!(
        table,
        "period\n     1\n# lost: not known, as the recording was not read to its end\n"
    );
    let json = run(&folder, &["--format", "json", first]);
    let json = String::from_utf8(json.stdout).unwrap();
    assert!(
        json.contains("\"recordings\":1,\"recordings_not_read_to_end\":1,"),
        "{json}"
    );
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn patterns_reach_files_below_folders() {
    let folder = folder("patterns");
    let prof = export(&folder);
    let sum = "SELECT sum(period) AS value FROM samples";
    assert_eq!(csv(&folder, &["-i", "prof/**", sum]), "value\n500\n");
    // A folder further below, and a recording that is a folder: it is one, with the file in it.
    fs::create_dir_all(prof.join("day")).unwrap();
    fs::copy(
        prof.join("samples.parquet"),
        prof.join("day/samples.parquet"),
    )
    .unwrap();
    fs::create_dir_all(prof.join("folder.data")).unwrap();
    fs::copy(folder.join("perf.data"), prof.join("folder.data/data")).unwrap();
    assert_eq!(csv(&folder, &["-i", "prof/**", sum]), "value\n1500\n");
}

/// Writes a Parquet file with a column that `maps` has, too.
fn write_pids(path: &Path, table: Option<&str>) {
    let pids: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let batch = RecordBatch::try_from_iter([("pid", pids)]).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    if let Some(table) = table {
        writer
            .append_key_value_metadata(KeyValue::new("oxperf.table".to_owned(), table.to_owned()));
    }
    writer.close().unwrap();
}

#[test]
fn files_of_others_below_folders_of_such_names_are_no_tables() {
    let folder = folder("others");
    let mine = folder.join("maps/mine");
    fs::create_dir_all(&mine).unwrap();
    let count = "SELECT count(*) AS n FROM maps";
    write_pids(&mine.join("processes.parquet"), None);
    let told = refused(&folder, &["-i", "maps/mine", count]);
    assert!(told.contains("maps/mine has neither"), "{told}");
    let told = refused(&folder, &["-i", "maps/mine/*", count]);
    assert!(
        told.contains("nothing that matches 'maps/mine/*'"),
        "{told}"
    );
    let told = refused(&folder, &["-i", "maps/mine/processes.parquet", count]);
    assert!(told.contains("the name of a file says"), "{told}");
    // A name that goes on is another name.
    write_pids(&folder.join("maps2024.parquet"), None);
    let told = refused(&folder, &["-i", "maps2024.parquet", count]);
    assert!(told.contains("the name of a file says"), "{told}");
    // What a file says of itself, and the columns of the tables, count.
    write_pids(&mine.join("exported.parquet"), Some("maps"));
    assert_eq!(csv(&folder, &["-i", "maps/mine", count]), "n\n1\n");
    fs::create_dir_all(folder.join("samples")).unwrap();
    let all = "SELECT * FROM samples";
    let file = "samples/part-0.parquet";
    let written = run(&folder, &["--format", "parquet", "-o", file, all]);
    assert!(written.status.success());
    assert_eq!(
        csv(&folder, &["-i", file, "SELECT count(*) AS n FROM samples"]),
        "n\n4\n"
    );
}

#[test]
fn a_file_of_others_beside_the_tables_is_not_counted() {
    let folder = folder("beside");
    let prof = export(&folder);
    write_pids(&prof.join("samples-2.parquet"), None);
    let count = "SELECT count(*) AS n FROM samples";
    assert_eq!(csv(&folder, &["-i", "prof", count]), "n\n4\n");
}

#[test]
fn samples_without_stacks_are_told_of() {
    let folder = folder("stackless");
    let prof = export(&folder);
    fs::remove_file(prof.join("stacks.parquet")).unwrap();
    let output = run(&folder, &["-i", "prof", TOP]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("none of stacks"), "{told}");
}

#[test]
fn mistakes_are_pointed_at() {
    let folder = folder("mistakes");
    let kind = refused(&folder, &["SELECT sum(comm) AS s FROM samples"]);
    assert!(
        !kind.contains("Internal error") && !kind.contains("bug"),
        "{kind}"
    );
    let one_file = ["--flame", "x.html", "-o", "x.html", "SELECT 1 AS n"];
    assert!(refused(&folder, &one_file).contains("-o and --flame name one file"));
    let column = refused(&folder, &["SELECT smybol\nFROM profile"]);
    assert!(
        column.contains("no column 'smybol' here; did you mean symbol?"),
        "{column}"
    );
    assert!(
        column.contains("1 | SELECT smybol\n  |        ^"),
        "{column}"
    );
    let table = refused(&folder, &["SELECT 1 FROM sampels"]);
    assert!(
        table.contains("no table 'sampels'; did you mean samples?"),
        "{table}"
    );
    let text = refused(&folder, &["SELEC symbol FROM profile"]);
    assert!(
        text.contains("1 | SELEC symbol FROM profile\n  | ^"),
        "{text}"
    );
    let missing = refused(&folder, &["-i", "nothing.data", "SELECT 1"]);
    assert!(missing.contains("nothing.data"), "{missing}");
    let missing = refused(&folder, &["-i", "none/*.parquet", TOP]);
    assert!(missing.contains("none/*.parquet"), "{missing}");
}

#[test]
fn nothing_is_written_but_what_was_asked_for() {
    let folder = folder("writing");
    let statements = [
        "COPY (SELECT 1) TO 'out.csv'",
        "CREATE EXTERNAL TABLE t STORED AS CSV LOCATION 'out.csv'",
        "CREATE TABLE t AS SELECT 1",
        "INSERT INTO samples SELECT * FROM samples",
        "DROP TABLE samples",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'",
        "SET datafusion.execution.batch_size = 1",
    ];
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    for statement in statements {
        let told = refused(&folder, &[statement]);
        assert!(!told.contains("panicked"), "{statement}: {told}");
        assert_eq!(names(&folder), ["kallsyms", "perf.data"], "{statement}");
    }
}

#[test]
fn damaged_files_are_named_and_passed_over() {
    let folder = folder("damaged");
    let prof = export(&folder);
    // A second file that is cut, and a third whose pages are not what they were.
    let whole = fs::read(prof.join("samples.parquet")).unwrap();
    fs::write(prof.join("samples-2.parquet"), &whole[..whole.len() / 2]).unwrap();
    let mut changed = whole.clone();
    changed[4..whole.len() / 3].fill(0xff);
    fs::write(prof.join("samples-3.parquet"), &changed).unwrap();
    let output = run(
        &folder,
        &[
            "-i",
            "prof",
            "SELECT sum(period) AS value, count(time) AS n FROM samples",
        ],
    );
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{told}");
    assert!(told.contains("samples-2.parquet is passed over"), "{told}");
    assert!(told.contains("samples-3.parquet is passed over"), "{told}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(
        table.starts_with("value  n\n  500  4\n") && table.contains("2 damaged files"),
        "{table}"
    );
    // No file is read for what is wrong with a statement.
    for statement in [
        "SELECT smybol FROM samples",
        "SELECT 1 FROM sampels",
        "SELECT lenght(comm) FROM samples",
        "COPY (SELECT 1) TO 'out.csv'",
    ] {
        let told = refused(&folder, &["-i", "prof", statement]);
        assert!(!told.contains("samples-3.parquet"), "{statement}: {told}");
    }
}

#[test]
fn different_stacks_of_one_number_are_an_error() {
    let folder = folder("clash");
    export(&folder);
    let other = "SELECT stack_id, 'other' AS symbol, dso, mode, depth, symbols, dsos FROM stacks";
    let output = run(
        &folder,
        &["--format", "parquet", "-o", "prof/stacks-2.parquet", other],
    );
    assert!(output.status.success());
    let told = refused(&folder, &["-i", "prof", TOP]);
    assert!(
        told.contains(
            "prof/stacks-2.parquet and prof/stacks.parquet have different stacks of one number"
        ),
        "{told}"
    );
}

#[test]
fn stacks_become_pages() {
    let folder = folder("pages");
    let one = "SELECT comm, stack_id, sum(period) AS value FROM samples GROUP BY comm, stack_id";
    let page = |name: &str, sql: &str| {
        let output = run(&folder, &["--flame", name, sql]);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        fs::read_to_string(folder.join(name)).unwrap()
    };
    let graph = page("one.html", one);
    assert!(graph.contains("vfs_read") && graph.contains("3 records that found their ring full"));
    let two = "SELECT stack_id, sum(CASE WHEN cpu = 0 THEN period END) AS before, \
               sum(CASE WHEN cpu = 1 THEN period END) AS after FROM samples GROUP BY stack_id";
    let change = page("two.html", two);
    assert!(change.contains("before") && change.contains("after") && change.contains("vfs_read"));
    let listed = page("list.html", "SELECT symbols AS stack, 1 AS n FROM stacks");
    assert!(listed.contains("copy_page"));
    let statements = oxperf_columns::statements::STATEMENTS;
    let hottest = statements
        .iter()
        .find(|known| known.name == "hottest-stacks");
    let graph = page("hottest.html", hottest.unwrap().sql);
    assert!(graph.contains("of oxperf query") && graph.contains("copy_page"));
    let told = refused(&folder, &["--flame", "none.html", TOP]);
    assert!(
        told.contains("--flame takes a result with a column stack_id"),
        "{told}"
    );
    assert!(!folder.join("none.html").exists());
}

#[test]
fn numbers_of_clocks_are_shown_as_they_are() {
    let folder = folder("clocks");
    let recording = RECORDING.replace("event cycles", "event cpu-clock");
    let recording = Recording::parse(&recording).unwrap();
    fs::write(folder.join("perf.data"), recording.to_file()).unwrap();
    let sql = "SELECT stack_id, count(*) AS samples FROM samples GROUP BY stack_id";
    let output = run(&folder, &["--flame", "count.html", sql]);
    assert!(output.status.success());
    let page = fs::read_to_string(folder.join("count.html")).unwrap();
    assert!(page.contains("\"unit\":{\"time\":false,\"name\":\"samples\"}"));
}

#[test]
fn results_have_the_forms_that_were_asked_for() {
    let folder = folder("forms");
    let sql = "SELECT symbols FROM stacks WHERE depth = 2 AND symbol = 'schedule'";
    assert_eq!(csv(&folder, &[sql]), "symbols\n\"[schedule, vfs_read]\"\n");
    let lines = run(&folder, &["--format", "jsonl", sql]);
    assert_eq!(lines.stdout, b"{\"symbols\":[\"schedule\",\"vfs_read\"]}\n");
    let arrow = run(&folder, &["--format", "arrow", "-o", "out.arrow", sql]);
    assert!(arrow.status.success());
    assert_eq!(&fs::read(folder.join("out.arrow")).unwrap()[..4], [0xff; 4]);
}

#[test]
fn several_results_follow_each_other_where_they_can() {
    let folder = folder("several");
    let two = "SELECT 1 AS a; SELECT 2 AS b";
    assert_eq!(csv(&folder, &[two]), "a\n1\nb\n2\n");
    for words in [
        ["-o", "out"],
        ["--flame", "out"],
        ["--format", "json"],
        ["--format", "parquet"],
        ["--format", "arrow"],
    ] {
        let output = run(&folder, &[&words[..], &[two]].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{words:?}");
        assert!(told.contains("these are 2 statements"), "{words:?}: {told}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert!(!folder.join("out").exists(), "{words:?}");
    }
}
