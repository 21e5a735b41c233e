//! Recordings under bad conditions: events that never cease, a recorder that is killed, others who do not end, little
//! memory, files, space and rights. Each test runs the program for real and skips aloud what this machine does not allow.

// A test that skips says so.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const OXPERF: &str = env!("CARGO_BIN_EXE_oxperf");
/// What hangs is ended after this long, and fails its test.
const PATIENCE: Duration = Duration::from_secs(60);
/// Runs until it is ended, and ends by itself when nobody does.
const BUSY: &str = "i=0; while [ $i -lt 30000000 ]; do i=$((i+1)); done";
/// A user who owns nothing here.
const SOMEBODY: u32 = 54321;

/// A folder of its own for each test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("oxperf-hostile-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn join(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// A command that runs here, and whose output is read in the end.
    fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&self.0)
            .env("HOME", &self.0)
            .stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, program: &str, words: &[&str]) -> Output {
        finish(self.command(program, words).spawn().unwrap())
    }

    /// A script with the program as `$0`.
    fn shell(&self, script: &str) -> Output {
        self.run("sh", &["-c", script, OXPERF])
    }

    /// How many samples a recording shows.
    fn samples(&self, recording: &str) -> usize {
        let shown = self.run(OXPERF, &["script", "-i", recording, "-F", "ip,event"]);
        String::from_utf8_lossy(&shown.stdout)
            .lines()
            .filter(|line| line.contains("clock"))
            .count()
    }

    /// Whether events can be recorded at all; says so otherwise.
    fn records(&self) -> bool {
        let tried = self.run(
            OXPERF,
            &[
                "record",
                "-N",
                "-e",
                "task-clock:u",
                "-o",
                "try.data",
                "--",
                "true",
            ],
        );
        tried.status.success() || skip(&tried)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Says why a test, or a part, is skipped; false.
fn skip(refused: &Output) -> bool {
    eprintln!("SKIPPED: {}", String::from_utf8_lossy(&refused.stderr));
    false
}

fn is_root() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|us| us.uid() == 0);
    if !root {
        eprintln!("SKIPPED: only root can");
    }
    root
}

/// Waits for a process that has to end.
fn ended(child: &mut Child) -> ExitStatus {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            panic!("it did not end");
        }
        sleep(Duration::from_millis(10));
    }
}

/// Waits for its end, then takes what it said: less than a pipe holds, unless somebody reads.
fn finish(mut child: Child) -> Output {
    let mut out = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.iter_mut()
            .for_each(|out| drop(out.read_to_end(&mut bytes)));
        bytes
    });
    let status = ended(&mut child);
    let mut stderr = Vec::new();
    child
        .stderr
        .take()
        .iter_mut()
        .for_each(|error| drop(error.read_to_end(&mut stderr)));
    Output {
        status,
        stdout: reader.join().unwrap(),
        stderr,
    }
}

fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Waits until something holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(20));
    }
}

/// The workload of a recorder, once there is one.
fn workload(recorder: &Child) -> u32 {
    let pid = recorder.id();
    let mut found = None;
    until("no workload", || {
        let children =
            fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        found = children
            .split_whitespace()
            .next()
            .and_then(|child| child.parse().ok());
        found.is_some()
    });
    found.unwrap()
}

/// Bytes of records that the header of a file names.
fn data_size(path: &str) -> u64 {
    let file = fs::read(path).unwrap_or_default();
    file.get(48..56)
        .map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

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
    assert!(said(&output).contains("was killed"), "{}", said(&output));
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

#[test]
fn little_of_everything_ends_with_a_message() {
    let folder = Folder::new("limits");
    if !folder.records() {
        return;
    }
    for limits in [
        "-n 64",
        "-n 10",
        "-n 5",
        "-v 200000",
        "-v 60000",
        "-f 8",
        "-l 0",
    ] {
        let output = folder.shell(&format!(
            "ulimit {limits}; exec \"$0\" record -N -F 1000 -e task-clock:u -o l.data -- sh -c 'i=0; while [ $i -lt 99999 ]; do i=$((i+1)); done'"
        ));
        let code = output.status.code();
        assert!(
            matches!(code, Some(0 | 127 | 255)),
            "{limits}: {:?} {}",
            output.status,
            said(&output)
        );
        assert!(code == Some(0) || !said(&output).is_empty(), "{limits}");
        assert!(
            !said(&output).contains("panicked"),
            "{limits}: {}",
            said(&output)
        );
    }
    let cut =
        folder.shell("ulimit -f 1; exec \"$0\" record -N -e task-clock:u -o l.data -- sleep 1");
    assert_eq!(cut.status.code(), Some(255));
    assert!(said(&cut).contains("File too large"), "{}", said(&cut));
}

#[test]
fn a_full_disk_keeps_what_was_written() {
    let folder = Folder::new("full");
    if !folder.records() || !is_root() {
        return;
    }
    let script = "mount -t tmpfs -o size=128k none . && cd \"$PWD\" || exit 99
        \"$0\" record -N -F max -e cpu-clock -o f.data -- sh -c 'i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done'
        echo $?; \"$0\" script -i f.data -F ip,event | grep -c clock";
    let output = folder.run("unshare", &["-m", "sh", "-c", script, OXPERF]);
    if output.status.code() == Some(99) {
        skip(&output);
        return;
    }
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.starts_with("255\n"), "{shown} {}", said(&output));
    assert!(
        said(&output).contains("No space left on device. The file holds"),
        "{}",
        said(&output)
    );
    assert!(
        shown.lines().nth(1).is_some_and(|count| count != "0"),
        "{shown}"
    );
}

#[test]
fn other_namespaces_and_clocks() {
    let folder = Folder::new("spaces");
    if !folder.records() {
        return;
    }
    let record = [
        "record",
        "-N",
        "-e",
        "task-clock:u",
        "-o",
        "s.data",
        "--",
        "sh",
        "-c",
        "exit 3",
    ];
    let user = ["-U", "-r"].as_slice();
    let process = ["-p", "-f", "--mount-proc"].as_slice();
    // Steady clocks that are a year ahead of those of the host.
    let time = [
        "-T",
        "--monotonic",
        "31536000",
        "--boottime",
        "31536000",
        "-f",
    ]
    .as_slice();
    for space in [user, process, time] {
        let allowed = folder.run("unshare", &[space, &["true"]].concat());
        if !allowed.status.success() {
            skip(&allowed);
            continue;
        }
        let output = folder.run("unshare", &[space, &[OXPERF], &record].concat());
        assert_eq!(
            output.status.code(),
            Some(3),
            "{space:?}: {}",
            said(&output)
        );
        assert!(
            folder
                .run(OXPERF, &["data", "check", "-i", "s.data"])
                .status
                .success()
        );
    }
}

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
    assert!(
        said(&full).contains("cannot start a process"),
        "{}",
        said(&full)
    );
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
    assert!(
        said(&output).contains("belongs to user"),
        "{}",
        said(&output)
    );
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
