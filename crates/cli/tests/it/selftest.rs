//! `test`: its list, its choice of checks, its outcomes as text and XML, and its workloads.

use std::collections::HashSet;
use std::fs;
use std::process::{Command, Output};

use oxperf_objects::{Contents, Elf};
use oxperf_symbols::{Demangling, elf_table};

use crate::support::{lossy, scratch, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");

fn run(arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .arg("test")
        .args(arguments)
        .current_dir(scratch(module_path!()))
        .output()
        .unwrap()
}

/// Runs checks; gives the lines, of which perf writes all to standard error.
fn lines(arguments: &[&str]) -> Vec<String> {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    lossy(&output.stderr).lines().map(str::to_owned).collect()
}

#[test]
fn workloads_are_listed_and_their_symbols_stand_in_the_program() {
    let listed = stdout(&run(&["--list-workloads"]));
    let names = "noploop thloop named_threads leafloop sqrtloop brstack datasym landlock traploop inlineloop jitdump \
                 context_switch_loop deterministic";
    assert_eq!(
        listed.lines().collect::<Vec<_>>(),
        names.split_whitespace().collect::<Vec<_>>()
    );
    let contents = Contents::open(PROGRAM.as_ref()).unwrap();
    let image = Elf::parse(&contents).unwrap();
    let table = elf_table(&image, &image, Vec::new(), Demangling::On);
    let found: HashSet<String> = table
        .ids()
        .filter_map(|id| Some(table.symbol(id)?.name.to_owned()))
        .collect();
    for symbol in [
        "noploop",
        "test_loop",
        "thfunc",
        "leafloop",
        "parent",
        "leaf",
        "__sqrtloop",
        "brstack",
        "brstack_bench",
        "brstack_foo",
        "brstack_bar",
        "workload_datasym_buf1",
        "trap_bench",
        "named_threads_thread1",
        "named_threads_thread25",
        "context_switch_loop_proc1",
        "context_switch_loop_proc2",
        "deterministic",
    ] {
        assert!(found.contains(symbol), "{symbol}");
    }
}

#[test]
fn workloads_run_and_end() {
    for words in [
        &["noploop", "0.01"][..],
        &["thloop", "0.01", "3"],
        &["named_threads", "3", "2"],
        &["leafloop", "0.01"],
        &["sqrtloop", "0.01"],
        &["brstack", "10"],
        &["datasym", "0.01"],
        &["landlock"],
        &["traploop", "10"],
        &["inlineloop", "0.01"],
        &["context_switch_loop", "10"],
        &["deterministic"],
    ] {
        let output = run(&[&["-w"], words].concat());
        assert!(
            output.status.success(),
            "{words:?}: {}",
            lossy(&output.stderr)
        );
    }
    for (words, code, message) in [
        (&["nosuch"][..], 255, "No workload found: nosuch\n"),
        (&["thloop", "0"], 1, "Error: seconds (0) must be >= 1\n"),
        (
            &["named_threads", "26"],
            1,
            "Error: num threads must be 1 - 25\n",
        ),
    ] {
        let output = run(&[&["-w"], words].concat());
        assert_eq!(output.status.code(), Some(code), "{words:?}");
        assert_eq!(lossy(&output.stderr), message);
    }
}

#[test]
fn a_log_of_made_code_is_one() {
    let folder = scratch(module_path!()).join("jitdump");
    fs::create_dir_all(&folder).unwrap();
    let child = Command::new(PROGRAM)
        .args(["test", "-w", "jitdump"])
        .current_dir(&folder)
        .spawn()
        .unwrap();
    let path = folder.join(format!("jit-{}.dump", child.id()));
    assert!(child.wait_with_output().unwrap().status.success());
    let log = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    assert!(log.starts_with(b"DTiJ"));
    assert!(log.windows(12).any(|name| name == b"jit_workload"));
}

#[test]
fn checks_are_listed_by_number_and_by_part_of_a_name() {
    let listed = |words: &[&str]| stdout(&run(&[&["list"], words].concat()));
    assert_eq!(
        listed(&["DUMMY"]),
        " 25: Use a dummy software event to keep tracking\n"
    );
    assert_eq!(
        listed(&["write only"]),
        " 21: Watchpoint\n 21.2: Write Only Watchpoint\n"
    );
    assert_eq!(listed(&["Symbols"]), " 67: Symbols\n");
    assert!(listed(&[]).lines().count() > 70);
}

#[test]
fn outcomes_are_lines_of_perfs_form() {
    let expected = [
        " 14: Roundtrip evsel->name                                           : Ok",
        " 59: Demangle Rust                                                   : Skip (user override)",
        "",
        "=== Test Summary ===",
        "Passed main tests : 1",
        "Passed subtests   : 0",
        "Skipped tests     : 1",
        "Failed tests      : 0",
    ];
    assert_eq!(lines(&["-s", "59,1", "14", "59"]), expected);
    assert_eq!(lines(&["-F", "-s", "59", "14", "59"]), expected);
    let twice = lines(&["-S", "-r", "2", "14"]);
    assert_eq!(twice[..2], [expected[0], expected[0]]);
    assert_eq!(lines(&["no such check"])[2..], {
        [
            "Passed main tests : 0",
            "Passed subtests   : 0",
            "Skipped tests     : 0",
            "Failed tests      : 0",
        ]
    });
}

#[test]
fn a_check_that_fails_is_reported_with_its_remedy() {
    let said = lines(&["--dso", "no-such-object", "67"]);
    assert!(said[0].ends_with(": FAILED!"), "{said:?}");
    assert!(
        said.iter().any(|line| line.contains("remedy: ")),
        "{said:?}"
    );
    assert_eq!(
        said[said.len() - 2..],
        ["List of failed tests:", "   67: Symbols"]
    );
}

#[test]
fn details_list_the_symbols_that_scripts_look_for() {
    let said = lines(&["-vv", "-F", "Symbols"]);
    assert_eq!(said[0], "--- start ---");
    let is_listed = |name: &str| {
        let end = format!(" {name}");
        said.iter().any(|line| line.ends_with(&end))
    };
    assert!(is_listed("noploop") && is_listed("test_loop") && is_listed("workload_datasym_buf1"));
    assert!(said.iter().any(|line| line.ends_with(": Ok")));
}

#[test]
fn outcomes_are_written_as_xml() {
    let path = scratch(module_path!()).join("outcomes.xml");
    let option = format!("--junit={}", path.display());
    lines(&[&option, "-s", "59", "--dso", "no&such", "14", "59", "67"]);
    let xml = fs::read_to_string(path).unwrap();
    for part in [
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n",
        "tests=\"3\" failures=\"1\" skipped=\"1\">",
        "<testcase classname=\"Roundtrip evsel-&gt;name\" name=\"Roundtrip evsel-&gt;name\" time=\"",
        "<skipped message=\"user override\"/>",
        "<failure message=\"FAILED\">",
        "no&amp;such",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
    assert_eq!(
        xml.matches("<testcase ").count(),
        xml.matches("</testcase>").count()
    );
}
