//! Recorders with privileges, and what others put in their way.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::recorder::{
    Folder, OXPERF, SOMEBODY, assert_said, data_size, finish, is_root, said, send, skip, until,
};

/// The program as a group of users would have it: with the capabilities of the advice and nothing else.
#[test]
fn capabilities_alone_record_everybody_and_lend_nothing() {
    let folder = Folder::new("caps");
    if !folder.records() || !is_root() {
        return;
    }
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o777)).unwrap();
    let program = folder.join("oxperf");
    fs::copy(OXPERF, &program).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let given = folder.shell("setcap cap_perfmon,cap_sys_ptrace=ep oxperf");
    if !given.status.success() {
        skip(&given);
        return;
    }
    let begin = |script: &str| {
        let id = SOMEBODY.to_string();
        let words = [
            "--reuid",
            &id,
            "--regid",
            &id,
            "--clear-groups",
            "sh",
            "-c",
            script,
            &program,
        ];
        folder.command("setpriv", &words).spawn().unwrap()
    };
    let as_somebody = |script: &str| finish(begin(script));
    let output = as_somebody(
        "exec \"$0\" record -N -a -e cpu-clock -o caps.data -- grep ^Cap /proc/self/status",
    );
    assert!(output.status.success(), "{}", said(&output));
    let sets = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        sets.contains("CapEff:\t0000000000000000\n")
            && sets.contains("CapAmb:\t0000000000000000\n"),
        "{sets}"
    );
    let made = fs::metadata(folder.join("caps.data")).unwrap();
    assert_eq!((made.uid(), made.mode() & 0o777), (SOMEBODY, 0o600));
    // No process to be had for the workload, then no thread for looking at all processes.
    let full = as_somebody(
        "ulimit -u 1 2>/dev/null || ulimit -p 1; exec \"$0\" record -N -e cpu-clock -o u.data -- true",
    );
    assert_eq!(full.status.code(), Some(255));
    assert_said(&full, "cannot start a process");
    let recorder = begin(
        "ulimit -u 1 2>/dev/null || ulimit -p 1; exec \"$0\" record -N -a -e cpu-clock -o alone.data",
    );
    until("nothing in the file", || {
        data_size(&folder.join("alone.data")) > 0
    });
    send("-TERM", recorder.id());
    let alone = finish(recorder);
    assert_eq!(alone.status.signal(), Some(15), "{}", said(&alone));
}

#[test]
fn nothing_is_written_where_others_lead_us() {
    let folder = Folder::new("planted");
    if !folder.records() || !is_root() {
        return;
    }
    fs::write(folder.join("precious"), "").unwrap();
    let planted = folder.join("perf.data");
    symlink("precious", &planted).unwrap();
    lchown(&planted, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let output = folder.run(
        OXPERF,
        &["record", "-N", "-e", "task-clock:u", "--", "true"],
    );
    assert_eq!(output.status.code(), Some(255), "{}", said(&output));
    assert_said(&output, "belongs to user");
    assert_eq!(fs::metadata(folder.join("precious")).unwrap().len(), 0);
    // A file that somebody else made, to read what comes into it.
    fs::remove_file(&planted).unwrap();
    fs::write(&planted, "").unwrap();
    chown(&planted, Some(SOMEBODY), Some(SOMEBODY)).unwrap();
    let output = folder.run(
        OXPERF,
        &["record", "-N", "-e", "task-clock:u", "--", "true"],
    );
    assert!(output.status.success(), "{}", said(&output));
    let made = fs::symlink_metadata(&planted).unwrap();
    assert_eq!((made.uid(), made.mode() & 0o777), (0, 0o600));
}

#[test]
fn targets_that_vanish_or_fork_for_ever() {
    let folder = Folder::new("targets");
    if !folder.records() {
        return;
    }
    let record = |pid: u32| {
        let pid = pid.to_string();
        folder
            .command(OXPERF, &["record", "-N", "-e", "task-clock:u", "-p", &pid])
            .spawn()
            .unwrap()
    };
    let mut target = Command::new("sleep").arg("60").spawn().unwrap();
    let recorder = record(target.id());
    until("nothing in the file", || {
        data_size(&folder.join("perf.data")) > 0
    });
    target.kill().unwrap();
    target.wait().unwrap();
    let output = finish(recorder);
    assert!(output.status.success(), "{}", said(&output));
    let gone = finish(record(target.id()));
    assert_eq!(gone.status.code(), Some(244), "{}", said(&gone));

    fs::remove_file(folder.join("perf.data")).unwrap();
    let mut target = Command::new("sh")
        .args(["-c", "while :; do (exit 0); done"])
        .spawn()
        .unwrap();
    let recorder = record(target.id());
    until("nothing in the file", || {
        data_size(&folder.join("perf.data")) > 0
    });
    send("-INT", recorder.id());
    let output = finish(recorder);
    target.kill().unwrap();
    target.wait().unwrap();
    assert_eq!(output.status.signal(), Some(2), "{}", said(&output));
    assert!(
        folder
            .run(OXPERF, &["data", "check", "-i", "perf.data"])
            .status
            .success()
    );
}
