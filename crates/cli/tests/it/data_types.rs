//! Types of data in `report` and `annotate`, of a small program that is kept with the tests of listings.

use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Output};

use oxperf_testkit::Recording;

use crate::support::{function, scratch};

const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../listing/tests/types/dwarf-5"
);
/// Address at which the recording has the program's file mapped.
const BASE: u64 = 0x10_0000_0000;

/// Returns what `oxperf` writes of such a recording.
fn run(name: &str, samples: &[(&str, u64, usize)], words: &[&str]) -> String {
    let output = output(name, samples, words);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Returns what `oxperf` does with a recording with samples of period 10, so many at each of some instructions.
fn output(name: &str, samples: &[(&str, u64, usize)], words: &[&str]) -> Output {
    let mut text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
         comm pid=1 tid=1 x\n\
         mmap2 mode=user pid=1 tid=1 {BASE:#x}+0x10000@0 prot=5 flags=2 {PROGRAM}\n"
    );
    for (name, offset, count) in samples {
        let ip = BASE + function(PROGRAM.as_ref(), name).start + offset;
        for _ in 0..*count {
            writeln!(
                text,
                "sample mode=user ip={ip:#x} pid=1 tid=1 time=1 period=10"
            )
            .unwrap();
        }
    }
    let folder = scratch(module_path!());
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, Recording::parse(&text).unwrap().to_file()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(words)
        .args(["--stdio", "-i"])
        .arg(&path)
        .env("HOME", "/nonexistent")
        .output()
        .unwrap()
}

const SAMPLES: [(&str, u64, usize); 5] = [
    ("walk", 0x10, 4),
    ("walk", 0x1d, 2),
    ("globals", 0x7, 2),
    ("walk", 0x26, 1),
    ("walk", 0x25, 1),
];

#[test]
fn rows_tell_types_fields_and_lines_of_caches() {
    let rows = |name, keys| {
        let text = run(name, &SAMPLES, &["report", "-s", keys]);
        let rows = text.lines().filter(|line| line.contains('%'));
        rows.map(|row| row.trim_start().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rows("type", "type"),
        [
            "60.00%  struct node",
            "20.00%  int      ",
            "10.00%  (unknown)",
            "10.00%  (stack operation)"
        ]
    );
    assert_eq!(
        rows("typeoff", "typeoff"),
        [
            "40.00%  struct node +0x8 (key)",
            "20.00%  struct node +0 (next)",
            "20.00%  int +0 (no field)",
            "10.00%  (unknown)",
            "10.00%  (stack operation)",
        ]
    );
    assert_eq!(
        rows("typecln", "typecln")[..2],
        [
            "60.00%  struct node: cache-line 0",
            "20.00%  int: cache-line 0"
        ]
    );
}

#[test]
fn fields_are_shown_with_their_costs() {
    let text = run("annotate", &SAMPLES, &["annotate", "--data-type=node"]);

    let head = format!(
        "Annotate type: 'struct node' in {PROGRAM} (6 samples):\n\
         ============================================================================\n\
         \x20Percent     offset       size  field\n\
         \x20 100.00          0       0x40  struct node\t {{\n\
         \x20  33.33          0        0x8      struct node*\tnext;\n\
         \x20  66.67        0x8        0x8      long int\tkey;\n\
         \x20   0.00       0x10        0x8      struct inner\tin {{\n"
    );
    assert!(text.starts_with(&head), "{text}");
    assert!(!text.contains("'int'"), "{text}");
    let all = run("all", &SAMPLES, &["annotate", "--data-type", "-n"]);
    assert!(all.contains("Annotate type: 'int' in "), "{all}");
    assert!(
        all.contains("       4        0x8        0x8      long int\tkey;\n"),
        "{all}"
    );
    let of_function = run(
        "function",
        &SAMPLES,
        &["annotate", "--data-type", "-s", "globals"],
    );
    assert!(
        of_function.starts_with("Annotate type: 'int' in "),
        "{of_function}"
    );
}

#[test]
fn statistics_tell_of_how_much_is_known() {
    let text = run(
        "statistics",
        &SAMPLES,
        &["annotate", "--data-type=node", "--type-stat", "--insn-stat"],
    );

    let rule = "-".repeat(59);
    let head = format!(
        "Annotate data type stats:\n\
         total 5, ok 4 (80.0%), bad 1 (20.0%)\n\
         {rule}\n         1 : no_typeinfo\n\n\
         Annotate Instruction stats\n\
         total 5, ok 4 (80.0%), bad 1 (20.0%)\n\n  Name/opcode         :  Good   Bad\n{rule}\n"
    );
    assert!(text.starts_with(&head), "{text}");
    let of_function = ["annotate", "--data-type", "--type-stat", "-s", "globals"];
    let text = run("statistics-of-function", &SAMPLES, &of_function);
    assert!(
        text.contains("total 1, ok 1 (100.0%), bad 0 (0.0%)"),
        "{text}"
    );
    // Of code, what it works on is shown and not counted.
    let text = run(
        "statistics-of-code",
        &SAMPLES,
        &["annotate", "--type-stat", "--code-with-type"],
    );
    assert!(
        text.starts_with("Annotate data type stats:\ntotal 0, ok 0 (0.0%), bad 0 (0.0%)\n"),
        "{text}"
    );
}

#[test]
fn instructions_have_the_data_beside_them() {
    let beside = |name, more: &[&str]| {
        let words = [&["annotate", "--code-with-type", "-s", "walk"], more].concat();
        let text = run(name, &SAMPLES, &words);
        let found = text
            .lines()
            .find(|line| line.contains("(key)"))
            .unwrap_or_else(|| panic!("{text}"));
        found.trim_end().to_owned()
    };
    assert!(beside("code", &[]).ends_with("\t\t# data-type: struct node +0x8 (key)"));
    assert!(
        beside("code-compact", &["--stdio2"]).ends_with("\t\t# data-type: struct node +0x8 (key)")
    );
    assert!(
        beside("code-lines", &["-l"])
            .contains("\t\t# data-type: struct node +0x8 (key) // types.c:")
    );
}

#[test]
fn functions_that_did_not_run_are_no_samples() {
    let output = output("none", &SAMPLES, &["annotate", "-s", "nosuch"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.starts_with("Error:\nThe ") && told.contains("none data has no samples!"),
        "{told}"
    );
}
