//! Filters of `script --dlfilter`: a shared object that calls every function of the interface.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oxperf_testkit::Recording;

use crate::support::scratch;

/// The filter, built by the machine's compiler, if it has one.
fn filter(folder: &Path) -> Option<PathBuf> {
    built(folder, "filter")
}

fn built(folder: &Path, name: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/dlfilter/{name}.c"));
    let built = folder.join(format!("{name}.so"));
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&built)
        .arg(source)
        .status();
    if !compiled.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: there is no C compiler");
        return None;
    }
    Some(built)
}

/// A folder with a recording and its kernel's symbols: those of a golden case.
fn folder(name: &str) -> PathBuf {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/filters");
    let folder = scratch(module_path!()).join(name);
    fs::create_dir_all(&folder).unwrap();
    let notation = fs::read_to_string(case.join("recording.txt")).unwrap();
    fs::write(
        folder.join("perf.data"),
        Recording::parse(&notation).unwrap().to_file(),
    )
    .unwrap();
    fs::copy(case.join("kallsyms"), folder.join("kallsyms")).unwrap();
    folder
}

fn script(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command.current_dir(folder).args([
        "script",
        "-i",
        "perf.data",
        "--kallsyms",
        "kallsyms",
        "--symfs",
        ".",
    ]);
    command.args(words).output().unwrap()
}

#[test]
fn a_filter_decides_and_what_it_prints_stands_in_its_place() {
    let folder = folder("dlfilter-decides");
    let Some(_) = filter(&folder) else { return };
    let output = script(
        &folder,
        &["--dlfilter", "filter.so", "--dlarg", "2", "-F", "ip,sym"],
    );
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.first(), Some(&"start with 1 arguments"));
    assert_eq!(lines.last(), Some(&"stop: 4 early, 4 late"));
    let samples: Vec<&&str> = lines
        .iter()
        .filter(|line| line.starts_with(" ffffffff"))
        .collect();
    assert_eq!(
        samples,
        [
            &" ffffffff81000310 copy_page",
            &" ffffffff81000410 schedule"
        ],
        "every second"
    );
    let at = lines
        .iter()
        .position(|line| line.starts_with("cycles size 208 ip ffffffff81000310 tid 7 cpu 0"))
        .unwrap();
    assert!(
        lines[at + 1].starts_with("  reader copy_page+10 [ffffffff81000300-"),
        "{}",
        lines[at + 1]
    );
    assert!(
        lines[at + 2].starts_with("  attr 0 1, "),
        "{}",
        lines[at + 2]
    );
    assert_eq!(lines[at + 3], "  again copy_page");
    assert_eq!(lines[at + 4], " ffffffff81000310 copy_page");
}

#[test]
fn filters_know_what_is_filtered_later() {
    let folder = folder("dlfilter-later");
    let Some(_) = filter(&folder) else { return };
    let output = script(
        &folder,
        &["--dlfilter", "filter.so", "-c", "reader", "-F", "ip"],
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.matches("filtered later").count(), 2, "{text}");
    assert!(text.ends_with("stop: 4 early, 2 late\n"), "{text}");
}

#[test]
fn filters_that_cannot_be_used_are_refused_by_name() {
    let folder = folder("dlfilter-refused");
    let Some(_) = filter(&folder) else { return };
    fs::write(folder.join("text.so"), "no object").unwrap();
    for (words, expected) in [
        (
            ["--dlfilter", "text.so", "-F", "ip"].as_slice(),
            "dlfilter text.so: cannot load the filter: ",
        ),
        (
            &[
                "--dlfilter",
                "filter.so",
                "--dlarg",
                "1",
                "--dlarg",
                "refuse",
            ],
            "its start failed with -5",
        ),
    ] {
        let output = script(&folder, words);
        assert_eq!(output.status.code(), Some(255));
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn filters_are_listed_with_what_they_say() {
    let folder = folder("dlfilter-list");
    let Some(_) = filter(&folder) else { return };
    let output = script(&folder, &["--list-dlfilters"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        text,
        format!(
            "List of available dlfilters:\n  {:<36} prints what it gets\n",
            "filter.so"
        )
    );
}

/// Whatever the program may do, as root here or by capabilities of its file, the filter may do what the user can.
#[test]
fn a_filter_has_no_privileges() {
    let folder = folder("dlfilter-rights");
    let Some(_) = built(&folder, "rights") else {
        return;
    };
    let output = script(&folder, &["--dlfilter", "rights.so", "-F", "ip"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert!(
            text.contains(&format!("{set}:\t0000000000000000\n")),
            "{text}{output:?}"
        );
    }
    assert!(
        text.contains("NoNewPrivs:\t1\n") && text.contains("user 1\n"),
        "{text}"
    );
}

/// A message to the helper: its length, its kind, what it says.
fn message(kind: u8, words: &[u64]) -> Vec<u8> {
    let length = 1 + 8 * u32::try_from(words.len()).unwrap();
    let words = words.iter().flat_map(|word| word.to_le_bytes());
    length
        .to_le_bytes()
        .into_iter()
        .chain([kind])
        .chain(words)
        .collect()
}

/// How the helper ends that is sent these bytes and no more, and the kinds of the messages that it sent.
fn helper(folder: &Path, sent: &[u8]) -> (Output, Vec<u8>) {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
    command
        .current_dir(folder)
        .args(["dlfilter-helper", "./filter.so"])
        .stdin(OwnedFd::from(theirs));
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(command);
    ours.write_all(sent).unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    let ended = child.wait_with_output().unwrap();
    let (mut answered, mut kinds) = (Vec::new(), Vec::new());
    // What the helper did not read makes the kernel say that it went away, behind all that it wrote.
    let _ = ours.read_to_end(&mut answered);
    let mut rest = answered.as_slice();
    while let Some((length, message)) = rest.split_first_chunk() {
        kinds.push(message[0]);
        rest = &message[u32::from_le_bytes(*length) as usize..];
    }
    (ended, kinds)
}

#[test]
fn the_helper_ends_in_order_whatever_it_is_sent() {
    const START: u8 = 1;
    const STARTED: u8 = 2;
    const SAMPLE: u8 = 3;
    const DECIDED: u8 = 4;
    const QUESTION: u8 = 5;
    const ANSWER: u8 = 6;
    const STOP: u8 = 7;
    let folder = folder("dlfilter-protocol");
    let Some(_) = filter(&folder) else { return };
    let start = message(START, &[0]);
    // Early or late, 25 numbers, the event's name and three lists that are not there.
    let sample = message(
        SAMPLE,
        &std::array::from_fn::<u64, 30, _>(|at| u64::from(at == 0)),
    );
    let mut all: Vec<Vec<u8>> = (0..10).map(|kind| message(kind, &[0; 3])).collect();
    all.extend([
        sample.clone(),
        sample[..40].to_vec(),
        message(ANSWER, &[1, u64::MAX]),
        message(ANSWER, &[]),
    ]);
    all.extend([vec![0xff; 5], vec![0, 0, 0, 0, SAMPLE], Vec::new()]);
    let check = |sent: &[&[u8]]| {
        let (ended, _) = helper(&folder, &sent.concat());
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(
            matches!(ended.status.code(), Some(0 | 255)),
            "{sent:?}: {:?}: {said}",
            ended.status
        );
        assert!(ended.status.success() || !said.is_empty(), "{sent:?}");
    };
    for first in &all {
        check(&[first]);
        check(&[&start, first]);
        check(&[&start, &sample, first]);
        check(&[&start, &sample, &message(ANSWER, &[0]), first]);
    }
    let (ended, kinds) = helper(&folder, &[start.clone(), message(STOP, &[])].concat());
    assert!(ended.status.success());
    assert_eq!(kinds, [STARTED, DECIDED]);
    let (_, kinds) = helper(&folder, &[start, sample].concat());
    assert_eq!(kinds[..2], [STARTED, QUESTION], "the filter got the sample");
}
