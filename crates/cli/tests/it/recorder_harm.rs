//! What may happen to a recorder while it records: killed at any moment, stopped, its output full or removed, its program
//! forking or closing descriptors.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::recorder::{
    BUSY, Folder, OXPERF, assert_said, data_size, ended, finish, is_root, said, send, until,
    workload,
};

/// Milliseconds of user time that a process has used.
fn user_time(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let behind_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = behind_name.split_whitespace().nth(11);
    ticks
        .and_then(|ticks| ticks.parse::<u64>().ok())
        .unwrap_or(0)
        * 10
}

/// Records a sample a millisecond of a busy program to a file, or a stream into one.
fn recorder(folder: &Folder, options: &[&str]) -> Child {
    let words = [
        &["record", "-N", "-c", "1000000", "-e", "task-clock:u"],
        options,
        &["--", "sh", "-c", BUSY],
    ]
    .concat();
    let mut command = folder.command(OXPERF, &words);
    command.stdout(Stdio::from(File::create(folder.join("out")).unwrap()));
    command.spawn().unwrap()
}

#[test]
fn killing_costs_a_second_at_most() {
    let folder = Folder::new("second-at-most");
    if !folder.records() {
        return;
    }
    for (name, options) in [
        ("f.data", &["-o", "f.data"][..]),
        ("f.data", &["-z", "-o", "f.data"]),
        ("out", &["-o", "-"]),
    ] {
        let mut recorder = recorder(&folder, options);
        let busy = workload(&recorder);
        until("it runs", || user_time(busy) > 300);
        let before = user_time(busy);
        sleep(Duration::from_secs(1));
        recorder.kill().unwrap();
        send("-KILL", busy);
        ended(&mut recorder);
        let samples = folder.samples(name) as u64;
        // A tick of the program's time counts for the one who has it at its end, and the kernel's part has no samples.
        assert!(
            samples * 10 > before * 7,
            "{options:?}: {samples} of {before}"
        );
    }
}

#[test]
fn killed_at_any_moment_of_its_end_it_leaves_a_file() {
    let folder = Folder::new("killed-at-end");
    if !folder.records() {
        return;
    }
    for moment in 0..12 {
        let mut recorder = recorder(&folder, &["-o", "f.data"]);
        let busy = workload(&recorder);
        until("samples", || data_size(&folder.join("f.data")) > 1000);
        send("-KILL", busy);
        sleep(Duration::from_millis(moment * 2));
        // It may have ended by then.
        let _ = recorder.kill();
        ended(&mut recorder);
        assert!(folder.samples("f.data") > 0, "after {} ms", moment * 2);
        let dump = folder.run(OXPERF, &["report", "--stats", "-i", "f.data"]);
        assert!(dump.status.success(), "{}", said(&dump));
        // The next recording has to tell its file from this one.
        fs::remove_file(folder.join("f.data")).unwrap();
    }
}

#[test]
fn an_output_that_takes_nothing_is_told() {
    let folder = Folder::new("dev-full");
    if !folder.records() {
        return;
    }
    let output = folder.record("-e task-clock:u -o /dev/full true");
    assert_eq!(output.status.code(), Some(255));
    assert_said(&output, "No space left on device");
}

#[test]
fn a_named_pipe_takes_a_stream() {
    let folder = Folder::new("pipe");
    if !folder.records() {
        return;
    }
    assert!(folder.run("mkfifo", &["pipe"]).status.success());
    let words = [
        "record",
        "-N",
        "-e",
        "task-clock",
        "-o",
        "pipe",
        "sh",
        "-c",
        "echo said",
    ];
    let recorder = folder.command(OXPERF, &words).spawn().unwrap();
    let stream = fs::read(folder.join("pipe")).unwrap();
    let output = finish(recorder);
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(output.stdout, b"said\n");
    fs::write(folder.join("f.data"), stream).unwrap();
    let checked = folder.run(OXPERF, &["data", "check", "-i", "f.data"]);
    assert!(checked.status.success(), "{}", said(&checked));
    // Without a reader a signal ends the wait.
    let recorder = folder.command(OXPERF, &words).spawn().unwrap();
    workload(&recorder);
    sleep(Duration::from_millis(300));
    send("-INT", recorder.id());
    let output = finish(recorder);
    assert_said(&output, "nobody reads this pipe");
}

#[test]
fn an_output_that_is_removed_hurts_nobody() {
    let folder = Folder::new("removed");
    if !folder.records() {
        return;
    }
    let recorder = recorder(&folder, &["-o", "f.data"]);
    let busy = workload(&recorder);
    until("samples", || data_size(&folder.join("f.data")) > 1000);
    fs::remove_file(folder.join("f.data")).unwrap();
    fs::write(folder.join("f.data"), "another's").unwrap();
    send("-KILL", busy);
    let output = finish(recorder);
    assert_said(&output, "Captured and wrote");
    let text = fs::read_to_string(folder.join("f.data")).unwrap();
    assert_eq!(text, "another's");
}

#[test]
fn programs_that_fork_or_close_everything_are_recorded() {
    let folder = Folder::new("programs");
    if !folder.records() {
        return;
    }
    let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let closing = format!(
        "n=3; while [ $n -lt 10 ]; do eval \"exec $n>&-\"; n=$((n+1)); done; exec 3</dev/null 4</dev/null; {spin}; exit 4"
    );
    let forking = format!("({spin}) & ({spin}) & {spin}; exit 5");
    for (script, code) in [(closing, 4), (forking, 5)] {
        let words = [
            "record",
            "-N",
            "-e",
            "task-clock:u",
            "-o",
            "f.data",
            "--",
            "sh",
            "-c",
            &script,
        ];
        let output = folder.run(OXPERF, &words);
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        assert!(folder.samples("f.data") > 10, "{script}");
    }
}

#[test]
fn a_recorder_that_was_stopped_goes_on() {
    let folder = Folder::new("stopped");
    if !folder.records() {
        return;
    }
    let recorder = recorder(&folder, &["-o", "f.data"]);
    let busy = workload(&recorder);
    let path = folder.join("f.data");
    until("samples", || data_size(&path) > 1000);
    send("-STOP", recorder.id());
    let used = user_time(busy);
    until("it runs on", || user_time(busy) > used + 300);
    let size = data_size(&path);
    send("-CONT", recorder.id());
    until("the rest", || data_size(&path) > size + 5000);
    send("-INT", recorder.id());
    let output = finish(recorder);
    assert!(!said(&output).contains("lost"), "{}", said(&output));
    assert!(
        folder.samples("f.data") as u64 * 10 > (used + 300) * 7,
        "{}",
        said(&output)
    );
}

/// A CPU that can be taken offline; it is online again when this is dropped.
struct Unplugged;

impl Unplugged {
    const SWITCH: &str = "/sys/devices/system/cpu/cpu1/online";

    /// Not where nobody asked for it: it changes the machine for everybody.
    fn is_possible() -> bool {
        if std::env::var_os("OXPERF_UNPLUG").is_none() {
            eprintln!("SKIPPED: takes CPU 1 offline where OXPERF_UNPLUG is set");
            return false;
        }
        let there = Path::new(Unplugged::SWITCH).exists();
        if !there {
            eprintln!("SKIPPED: CPU 1 cannot be taken offline");
        }
        is_root() && there
    }

    fn now() -> Unplugged {
        fs::write(Unplugged::SWITCH, "0").unwrap();
        Unplugged
    }
}

impl Drop for Unplugged {
    fn drop(&mut self) {
        let _ = fs::write(Unplugged::SWITCH, "1");
    }
}

#[test]
fn a_cpu_that_goes_offline_takes_nothing_with_it() {
    let folder = Folder::new("unplugged");
    if !Unplugged::is_possible() || !folder.records() {
        return;
    }
    for output in [&["-o", "f.data"][..], &["--threads", "-o", "f.data"]] {
        let words = [
            &["record", "-N", "-a", "-F", "1000", "-e", "cpu-clock"],
            output,
            &["--", "sleep", "3"],
        ];
        let command = folder.command(OXPERF, &words.concat()).spawn();
        sleep(Duration::from_secs(1));
        let unplugged = Unplugged::now();
        sleep(Duration::from_secs(1));
        drop(unplugged);
        let ended = finish(command.unwrap());
        assert!(ended.status.success(), "{}", said(&ended));
        let shown = folder.run(OXPERF, &["script", "-i", "f.data", "-F", "cpu"]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let on = |cpu| shown.lines().filter(|line| line.trim() == cpu).count();
        let (always, before) = (on("[000]"), on("[001]"));
        assert!(always > 2000 && before > 300, "{always} and {before}");
    }
}
