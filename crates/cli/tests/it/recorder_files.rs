//! Recordings of several files, and the limits of a file: what makes the next one, what they are called, what is in each.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::recorder::{
    BUSY, Folder, OXPERF, assert_said, data_size, finish, said, send, skip, until, workload,
};

const RECORD: [&str; 7] = ["record", "-N", "-F", "1000", "-e", "task-clock", "-o"];

fn words<'a>(options: &[&'a str], program: &[&'a str]) -> Vec<&'a str> {
    [&RECORD[..], &["f.data"], options, &["--"], program].concat()
}

/// The files of a recording, by name.
fn files(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(&folder.0).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("f.data")).collect();
    names.sort();
    names
}

/// Each file is called by a moment, is whole, has samples with names, and perf reads it without a word.
fn check_all(folder: &Folder, names: &[String]) {
    for name in names {
        let moment = name.strip_prefix("f.data.").unwrap();
        assert!(moment.len() == 16 && moment.bytes().all(|byte| byte.is_ascii_digit()));
        let checked = folder.run(OXPERF, &["data", "check", "-i", name]);
        assert!(checked.status.success(), "{name}: {}", said(&checked));
        let shown = ["script", "-i", name, "-F", "comm,event,ip,dso"];
        let script = folder.run(OXPERF, &shown);
        let text = String::from_utf8_lossy(&script.stdout).into_owned();
        let samples = text.lines().filter(|line| line.contains("clock"));
        assert!(
            samples.clone().count() > 0 && samples.clone().all(|line| !line.contains(":-1")),
            "{name}: {text}"
        );
        // Names of mapped files are in each of them.
        assert!(text.contains("bin/"), "{name}: {text}");
        for perf in ["perf", "perf7"] {
            let read = Command::new(perf)
                .args(["script", "-i", name])
                .current_dir(&folder.0)
                .output();
            if let Ok(read) = read {
                assert!(
                    read.status.success() && said(&read).is_empty(),
                    "{perf} {name}: {}",
                    said(&read)
                );
            }
        }
    }
}

#[test]
fn a_signal_begins_the_next_file() {
    let folder = Folder::new("switch-signal");
    if !folder.records() {
        return;
    }
    let words = words(&["--switch-output"], &["sh", "-c", BUSY]);
    let recorder = folder.command(OXPERF, &words).spawn().unwrap();
    let path = folder.join("f.data");
    let busy = workload(&recorder);
    for finished in 1..=2 {
        until("no samples", || data_size(&path) > 20_000);
        send("-USR2", recorder.id());
        until("no next file", || files(&folder).len() == finished + 1);
    }
    until("no samples", || data_size(&path) > 20_000);
    send("-KILL", busy);
    let output = finish(recorder);
    let text = said(&output);
    assert_eq!(text.matches(" record: Dump f.data.").count(), 3, "{text}");
    assert_eq!(text.matches("dump data: Woken up").count(), 2, "{text}");
    assert!(text.contains(" MB f.data.<timestamp> ]"), "{text}");
    let names = files(&folder);
    assert_eq!(names.len(), 3, "{names:?}");
    check_all(&folder, &names);
}

#[test]
fn size_and_time_begin_the_next_file_and_the_newest_are_kept() {
    let folder = Folder::new("switch-size");
    if !folder.records() {
        return;
    }
    for cause in ["--switch-output=10K", "--switch-output=1s"] {
        let words = words(&[cause, "--switch-max-files", "2"], &["sh", "-c", BUSY]);
        let recorder = folder.command(OXPERF, &words).spawn().unwrap();
        let busy = workload(&recorder);
        let mut seen = BTreeSet::new();
        until("no third file", || {
            seen.extend(files(&folder));
            // The file that is being written is among them.
            seen.len() > 3
        });
        send("-KILL", busy);
        let output = finish(recorder);
        let text = said(&output);
        let dumped = text.matches(" record: Dump f.data.").count();
        let names = files(&folder);
        assert!(dumped > 2 && names.len() == 2, "{dumped} {names:?}");
        // The newest are those that were named last.
        let told: Vec<_> = text
            .lines()
            .filter(|line| line.contains(": Dump "))
            .collect();
        let last = told.iter().rev().take(2).rev();
        let last: Vec<_> = last.map(|line| line.split(' ').nth(4).unwrap()).collect();
        assert_eq!(last, names);
        check_all(&folder, &names[..1]);
        names
            .iter()
            .for_each(|name| fs::remove_file(folder.join(name)).unwrap());
    }
}

#[test]
fn a_file_is_called_by_its_moment_and_an_older_one_is_kept() {
    let folder = Folder::new("moment");
    if !folder.records() {
        return;
    }
    fs::write(folder.join("f.data"), "good").unwrap();
    let output = folder.run(OXPERF, &words(&["--timestamp-filename"], &["true"]));
    assert!(output.status.success(), "{}", said(&output));
    let names = files(&folder);
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(names[1], "f.data.old");
    assert_eq!(
        fs::read_to_string(folder.join("f.data.old")).unwrap(),
        "good"
    );
    // A device keeps its name.
    let null = [
        "record",
        "-N",
        "-e",
        "task-clock:u",
        "--timestamp-filename",
        "-o",
        "/dev/null",
        "true",
    ];
    assert!(folder.run(OXPERF, &null).status.success());
    assert!(Path::new("/dev/null").exists());
    let stream = [
        "record",
        "-N",
        "-e",
        "task-clock:u",
        "--timestamp-filename",
        "-o",
        "-",
        "true",
    ];
    let stream = folder.run(OXPERF, &stream);
    assert!(stream.status.success() && said(&stream).contains("not available in pipe mode"));
    let switched = [
        "record",
        "-N",
        "-e",
        "task-clock:u",
        "--switch-output",
        "-o",
        "-",
        "true",
    ];
    assert_eq!(folder.run(OXPERF, &switched).status.code(), Some(234));
}

#[test]
fn a_recording_ends_at_its_size() {
    let folder = Folder::new("max-size");
    if !folder.records() {
        return;
    }
    let words = words(&["--max-size", "30K"], &["sh", "-c", BUSY]);
    let output = folder.run(OXPERF, &words);
    assert_said(&output, "perf size limit reached (");
    let size = fs::metadata(folder.join("f.data")).unwrap().len();
    assert!(size > 30 << 10, "{size}");
    assert!(folder.samples("f.data") > 100);
}

#[test]
fn a_loss_fails_where_none_is_taken() {
    let folder = Folder::new("strict");
    if !folder.records() {
        return;
    }
    // Rings of a page, and a recorder that is stopped while they fill.
    let spin =
        "kill -STOP $PPID; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; kill -CONT $PPID";
    let words = words(&["-m", "1", "--strict-loss"], &["sh", "-c", spin]);
    let output = folder.run(OXPERF, &words);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(255), "{text}");
    assert!(text.contains("--strict-loss takes none"), "{text}");
    // Told by CPU, and the same in the file.
    let lost: u64 = text
        .lines()
        .filter_map(|line| line.strip_prefix("  task-clock on CPU "))
        .map(|line| line.split(": ").nth(1).unwrap().parse::<u64>().unwrap())
        .sum();
    assert!(lost > 0, "{text}");
    let stats = folder.run(OXPERF, &["report", "--stats", "-i", "f.data"]);
    let stats = String::from_utf8_lossy(&stats.stdout).into_owned();
    assert!(stats.contains("LOST_SAMPLES events:"), "{stats}");
    let quiet = folder.run(
        OXPERF,
        &[&RECORD[..], &["g.data", "--strict-loss", "true"]].concat(),
    );
    assert!(quiet.status.success(), "{}", said(&quiet));
}

#[test]
fn an_event_begins_the_next_file() {
    let folder = Folder::new("switch-event");
    if !folder.records() {
        return;
    }
    // An event of all CPUs takes rights.
    let tried = folder.run(
        OXPERF,
        &["record", "-N", "-a", "-e", "cs", "-o", "try.data", "true"],
    );
    if !tried.status.success() {
        skip(&tried);
        return;
    }
    let words = words(
        &["--switch-output-event", "page-faults:u"],
        &["sh", "-c", BUSY],
    );
    let recorder = folder.command(OXPERF, &words).spawn().unwrap();
    let busy = workload(&recorder);
    // Programs that begin have page faults.
    until("no second file", || files(&folder).len() > 1);
    send("-KILL", busy);
    let output = finish(recorder);
    assert_said(&output, "dump data: Woken up");
    let listed = folder.run(OXPERF, &["evlist", "-i", &files(&folder)[0]]);
    assert_eq!(String::from_utf8_lossy(&listed.stdout).trim(), "task-clock");
}

#[test]
fn what_exists_is_described_at_the_end_where_that_is_wanted() {
    let folder = Folder::new("tail");
    if !folder.records() {
        return;
    }
    for option in ["--tail-synthesize", "--overwrite"] {
        let busy = folder.command("sh", &["-c", BUSY]).spawn().unwrap();
        let pid = busy.id().to_string();
        let words = [&RECORD[..], &["f.data", option, "-p", &pid, "sleep", "1"]].concat();
        let output = folder.run(OXPERF, &words);
        send("-KILL", busy.id());
        finish(busy);
        assert!(output.status.success(), "{}", said(&output));
        let dump = folder.run(OXPERF, &["report", "-D", "--disable-order", "-i", "f.data"]);
        let dump = String::from_utf8_lossy(&dump.stdout).into_owned();
        let sample = dump.find("PERF_RECORD_SAMPLE").unwrap();
        assert!(
            dump.find("PERF_RECORD_THREAD_MAP").unwrap() > sample,
            "{option}"
        );
        assert!(!dump[..sample].contains("PERF_RECORD_MMAP2"), "{option}");
        let shown = folder.run(OXPERF, &["script", "-i", "f.data", "-F", "comm,ip,dso"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(
            shown.lines().count() > 0 && shown.contains("bin/"),
            "{option}: {shown}"
        );
    }
}
