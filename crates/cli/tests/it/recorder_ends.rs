//! How recordings end: with the workload, by signals, with a reader that stopped, and what is in the file then.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::recorder::{
    BUSY, Folder, OXPERF, assert_said, data_size, ended, finish, said, send, until, workload,
};

/// Every call of the system is a sample, also those that write the samples.
#[test]
fn a_recorder_that_feeds_itself_ends_with_the_workload() {
    let folder = Folder::new("feeding");
    for (name, options) in [
        ("plain", "-o f.data"),
        ("packed", "-z -o f.data"),
        ("stream", "-o - > f.data"),
    ] {
        let script = format!(
            "mount -t tracefs none /sys/kernel/tracing || exit 99
             ulimit -f 200000; exec \"$0\" record -N -a -e raw_syscalls:sys_enter {options} -- sleep 0.1"
        );
        let output = folder.run("unshare", &["-m", "sh", "-c", &script, OXPERF]);
        let said = said(&output);
        if !output.status.success()
            && (said.contains("mount") || said.contains("unshare") || said.contains("event"))
        {
            eprintln!("SKIPPED: {said}");
            return;
        }
        assert!(output.status.success(), "{name}: {said}");
        assert!(
            fs::metadata(folder.join("f.data")).unwrap().len() < 50 << 20,
            "{name}"
        );
    }
}

#[test]
fn what_is_a_second_old_outlives_the_recorder() {
    let folder = Folder::new("killed");
    if !folder.records() {
        return;
    }
    for packed in [false, true] {
        let path = folder.join("perf.data");
        let mut words = vec!["record", "-N", "-F", "50", "-e", "task-clock:u"];
        words.extend(packed.then_some("-z"));
        words.extend(["--", "sh", "-c", BUSY]);
        let mut recorder = folder.command(OXPERF, &words).spawn().unwrap();
        // At this rate no ring ever reaches its mark.
        let mut sizes = vec![0];
        until("nothing more in the file", || {
            let size = data_size(&path);
            if size > *sizes.last().unwrap() {
                sizes.push(size);
            }
            sizes.len() > 2
        });
        let busy = workload(&recorder);
        recorder.kill().unwrap();
        send("-KILL", busy);
        ended(&mut recorder);
        let file = fs::read(&path).unwrap();
        assert!(
            file[72..104].iter().all(|&byte| byte == 0),
            "no feature is there before the end"
        );
        assert!(packed || folder.samples("perf.data") > 0);
    }
}

#[test]
fn a_stream_is_at_most_a_second_behind() {
    let folder = Folder::new("stream");
    if !folder.records() {
        return;
    }
    let words = [
        "record",
        "-N",
        "-F",
        "50",
        "-e",
        "task-clock:u",
        "-o",
        "-",
        "--",
        "sh",
        "-c",
        BUSY,
    ];
    let mut recorder = folder.command(OXPERF, &words).spawn().unwrap();
    let mut out = recorder.stdout.take().unwrap();
    let (mut stream, mut piece) = (Vec::new(), [0; 4096]);
    // Each drain ends with the mark of a round, a record of eight bytes.
    let round = [68, 0, 0, 0, 0, 0, 8, 0];
    while stream.windows(8).filter(|bytes| *bytes == round).count() < 2 {
        let length = out.read(&mut piece).unwrap();
        assert!(length > 0, "it ended");
        stream.extend(&piece[..length]);
    }
    send("-TERM", recorder.id());
    out.read_to_end(&mut stream).unwrap();
    assert_eq!(ended(&mut recorder).signal(), Some(15));
}

/// A workload that shrugs off whatever it can.
const STUBBORN: &str = "trap '' TERM INT; while :; do sleep 0.05; done";

fn stubborn(folder: &Folder) -> Child {
    let words = [
        "record",
        "-N",
        "-e",
        "task-clock:u",
        "--",
        "sh",
        "-c",
        STUBBORN,
    ];
    let recorder = folder.command(OXPERF, &words).spawn().unwrap();
    let pid = workload(&recorder);
    // Bits 2 and 15 of the signals that it ignores.
    until("the trap", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let ignored = status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:\t"))
            .unwrap_or("0");
        u64::from_str_radix(ignored, 16).unwrap() & 0x4002 == 0x4002
    });
    recorder
}

fn check_stubborn(folder: &Folder, recorder: Child, busy: u32) {
    let output = finish(recorder);
    assert_eq!(output.status.signal(), Some(15), "{}", said(&output));
    assert_said(&output, "was killed");
    assert!(!Path::new(&format!("/proc/{busy}/exe")).exists());
    assert!(
        folder
            .run(OXPERF, &["data", "check", "-i", "perf.data"])
            .status
            .success()
    );
}

#[test]
fn a_workload_that_does_not_end_is_killed_after_a_while() {
    let folder = Folder::new("grace");
    if folder.records() {
        let recorder = stubborn(&folder);
        let busy = workload(&recorder);
        send("-TERM", recorder.id());
        check_stubborn(&folder, recorder, busy);
    }
}

#[test]
fn a_second_signal_ends_the_recorder_at_once() {
    let folder = Folder::new("second");
    if folder.records() {
        let recorder = stubborn(&folder);
        let busy = workload(&recorder);
        send("-TERM", recorder.id());
        sleep(Duration::from_millis(500));
        send("-INT", recorder.id());
        check_stubborn(&folder, recorder, busy);
    }
}

#[test]
fn a_reader_that_reads_nothing_does_not_hold_the_recorder() {
    let folder = Folder::new("reader");
    if !folder.records() {
        return;
    }
    let words = [
        "record",
        "-N",
        "-F",
        "max",
        "-g",
        "-e",
        "task-clock:u",
        "-o",
        "-",
        "--",
        "sh",
        "-c",
        BUSY,
    ];
    let mut recorder = folder.command(OXPERF, &words).spawn().unwrap();
    let out = recorder.stdout.take();
    let busy = workload(&recorder);
    sleep(Duration::from_millis(1500));
    send("-TERM", recorder.id());
    sleep(Duration::from_millis(500));
    // It may have ended where the pipe held everything.
    let _ = Command::new("kill")
        .arg(recorder.id().to_string())
        .stderr(Stdio::null())
        .status();
    ended(&mut recorder);
    drop(out);
    until("the workload goes on", || {
        !Path::new(&format!("/proc/{busy}/exe")).exists()
    });
}
