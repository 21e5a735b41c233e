//! `report --html`: from a recording to a page that a browser opens.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::Recording;

use crate::support::scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// A recording of two threads on two CPUs, one after the other.
fn record(name: &str, comm: &str) -> PathBuf {
    let folder = scratch(module_path!()).join("report-html").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let mut text = String::from(
        "event cycles sample=IP|TID|TIME|CPU|CALLCHAIN|PERIOD flags=sample_id_all|freq|mmap|comm|task freq=4000\n",
    );
    writeln!(
        text,
        "comm pid=7 tid=7 {comm}\nfork pid=7 ppid=7 tid=8 ptid=7 time=900"
    )
    .unwrap();
    text.push_str("mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /nowhere/reader\n");
    for nth in 0..100 {
        let (tid, time, ip) = (
            7 + nth / 50,
            1_000_000_000 + nth * 10_000_000,
            0x40_0100 + nth % 3,
        );
        let chain = format!("chain=0xfffffffffffffe00,{ip:#x},0x400200");
        writeln!(
            text,
            "sample mode=user ip={ip:#x} pid=7 tid={tid} cpu={} time={time} period=100 {chain}",
            nth % 2
        )
        .unwrap();
    }
    fs::write(
        folder.join("perf.data"),
        Recording::parse(&text).unwrap().to_file(),
    )
    .unwrap();
    folder
}

fn report(folder: &Path, arguments: &[&str]) -> Output {
    let command = Command::new(PROGRAM)
        .args(["report", "--html", "report.html"])
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .output();
    command.unwrap()
}

#[test]
fn a_page_has_every_sample_that_passes() {
    let folder = record("samples", "reader");
    let output = report(&folder, &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.stdout, b"report.html: open it in a browser\n");
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains(r#""name":"cycles","samples":100,"#));
    assert!(page.contains(r#""tid":[7,8],"name":["reader","reader"]"#));
    assert!(page.contains(r#""start":[1,0],"#));
    report(&folder, &["--tid", "8", "--percentage", "relative"]);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    assert!(page.contains(r#""samples":50,"#) && page.contains(r#""tid":[8],"#));
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let folder = record("nowhere", "reader");
    let output = report(&folder, &["--html", "missing/report.html"]);
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        told.contains("cannot write the page missing/report.html"),
        "{told}"
    );
}

#[test]
fn a_browser_opens_it() {
    let found = |name: &&str| Command::new(name).arg("--version").output().is_ok();
    let (Some(browser), true) = (BROWSERS.iter().find(|name| found(name)), found(&"python3"))
    else {
        eprintln!(
            "SKIPPED: the page was not opened in a browser (chromium and python3 are needed)"
        );
        return;
    };
    let folder = record("browser", "</script><b>x");
    assert!(report(&folder, &[]).status.success());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../xtask/browser/page.py");
    let which = Command::new("sh")
        .args(["-c", &format!("command -v {browser}")])
        .output()
        .unwrap();
    let path = String::from_utf8_lossy(&which.stdout).trim().to_owned();
    let checked = Command::new("python3")
        .args(["-B", script, &path])
        .arg(folder.join("report.html"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(
        checked.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&checked.stderr)
    );
    assert!(
        told.contains("ok     a stretch has a part of the samples"),
        "{told}"
    );
}
