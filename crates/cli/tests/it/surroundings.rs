//! Commands that read recordings, where the machine around them is not as usual: another user, closed descriptors, limits,
//! full disks, missing folders, odd variables. What they say is the same, or a message says why it is not.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oxperf_testkit::Recording;

/// The commands that read, with the recording's path.
const READING: [&[&str]; 8] = [
    &["report", "--stdio", "-i", "RECORDING"],
    &["report", "--header", "--stdio", "-i", "RECORDING"],
    &["script", "-i", "RECORDING"],
    &["annotate", "--stdio", "-i", "RECORDING"],
    &["evlist", "-i", "RECORDING"],
    &["data", "check", "-i", "RECORDING"],
    &["export", "--format", "folded", "-i", "RECORDING"],
    &["diff", "RECORDING", "RECORDING"],
];

/// A folder that everybody may enter, with a recording and a home, as the tests of another user need them.
struct Stage {
    folder: PathBuf,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Stage {
    fn new(name: &str) -> Stage {
        let folder =
            std::env::temp_dir().join(format!("oxperf-surroundings-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for part in ["home", "tmp", "work"] {
            fs::create_dir_all(folder.join(part)).unwrap();
        }
        fs::write(folder.join("perf.data"), recording()).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_oxperf"), folder.join("oxperf")).unwrap();
        Stage { folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Runs words of a command line after the shell's `setup`, in `work`.
    fn run(&self, setup: &str, words: &[&str]) -> Output {
        let words = words
            .iter()
            .map(|word| word.replace("RECORDING", &self.path("perf.data")));
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{setup}\nexec \"$0\" \"$@\"")])
            .arg(self.path("oxperf"))
            .args(words);
        command
            .current_dir(self.folder.join("work"))
            .stdin(Stdio::null());
        command
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("LC_ALL", "C");
        command
            .env("RECORDING", self.path("perf.data"))
            .env("FOLDER", &self.folder);
        command.output().unwrap()
    }

    /// Runs every command that reads; where nothing is to change, its output is as ever and nothing is said of it.
    fn unchanged(&self, setup: &str) {
        for words in READING {
            let (usual, now) = (self.run("", words), self.run(setup, words));
            let said = String::from_utf8_lossy(&now.stderr);
            assert_eq!(
                now.status.code(),
                usual.status.code(),
                "{setup}: {words:?}: {:?}: {said}",
                now.status
            );
            assert_eq!(text(&now), text(&usual), "{setup}: {words:?}: {said}");
            assert_eq!(
                said,
                String::from_utf8_lossy(&usual.stderr),
                "{setup}: {words:?}"
            );
        }
    }

    /// Runs every command that reads; it may fail, with perf's code and a message that has one of these words.
    fn unchanged_or_said(&self, setup: &str, reasons: &[&str]) {
        for words in READING {
            let (usual, now) = (self.run("", words), self.run(setup, words));
            let said = String::from_utf8_lossy(&now.stderr);
            sane(&now, &format!("{setup}: {words:?}"));
            if now.status.code() == usual.status.code() && text(&now) == text(&usual) {
                continue;
            }
            // What `data check` finds out is what it was asked for.
            let stands = format!("{said}{}", text(&now));
            assert!(
                reasons.iter().any(|reason| stands.contains(reason)),
                "{setup}: {words:?}: {:?}: {stands}",
                now.status
            );
        }
    }
}

/// Two samples of a program that every machine has.
fn recording() -> Vec<u8> {
    let text = "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
                comm pid=1 tid=1 sh | time=1\n\
                mmap2 mode=user pid=1 tid=1 0x400000+0x10000@0 prot=5 flags=2 /bin/sh | time=2\n\
                sample mode=user ip=0x400400 pid=1 tid=1 time=3 period=10\n\
                sample mode=user ip=0x400500 pid=1 tid=1 time=4 period=10\n\
                feature hostname string=here\n";
    Recording::parse(text).unwrap().to_file()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// No panic and no signal.
fn sane(output: &Output, what: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    let crashed =
        output.status.signal().is_some() || matches!(output.status.code(), Some(101 | 128..));
    let known = [129, 234, 254, 255];
    let crashed = crashed
        && !output
            .status
            .code()
            .is_some_and(|code| known.contains(&code));
    assert!(
        !crashed && !said.contains("panicked at"),
        "{what}: {:?}: {said}",
        output.status
    );
}

/// Returns true if a way to change the surroundings works here; says so where not.
fn possible(setup: &str) -> bool {
    let tried = Command::new("sh")
        .args(["-c", &format!("{setup}\ntrue")])
        .output()
        .unwrap();
    if !tried.status.success() {
        eprintln!(
            "SKIPPED: {setup}: {}",
            String::from_utf8_lossy(&tried.stderr).trim()
        );
    }
    tried.status.success()
}

/// The same for a program that starts another, such as `unshare`.
fn possible_through(program: &str) -> bool {
    possible(&format!("{program} true"))
}

#[test]
fn variables_do_not_matter() {
    let stage = Stage::new("variables");
    for setup in [
        "unset HOME",
        "unset HOME XDG_CACHE_HOME TMPDIR PATH",
        "HOME=/dev/null/home",
        "HOME=relative",
        "HOME=/dev/null XDG_CACHE_HOME=/dev/null",
        "export LC_ALL=xx_YY.nonsense LANG=tr_TR.UTF-8",
        "export LC_ALL=tr_TR.UTF-8",
        "unset TERM",
        "export TERM=nonsense",
        "export TERM=$(printf '\\033[31m')",
        "export COLUMNS=0 LINES=0",
        "export COLUMNS=-1",
        "export COLUMNS=99999999999999999999",
        "export COLUMNS=wide",
        "export PAGER=/dev/null/pager MANPAGER=",
        "export RAYON_NUM_THREADS=1",
    ] {
        stage.unchanged(setup);
    }
}

#[test]
fn time_zones_and_file_times_crash_nothing() {
    let stage = Stage::new("times");
    let words = ["report", "--header", "--stdio", "-i", "RECORDING"];
    for setup in [
        "export TZ=:/etc/passwd",
        "export TZ=../../../../etc/passwd",
        "export TZ=$(printf 'x%.0s' $(seq 5000))",
        "export TZ='<+99>-99:99:99'",
        "export TZ=UTC-24:59:59",
        "touch -d 1901-01-01 $RECORDING",
        "touch -d 2400-01-01 $RECORDING",
        "touch -d @0 $RECORDING",
    ] {
        let shown = stage.run(setup, &words);
        sane(&shown, setup);
        assert!(
            shown.status.success() && text(&shown).contains("# captured on    : "),
            "{setup}: {shown:?}"
        );
    }
}

#[test]
fn limits_are_met_with_messages() {
    let stage = Stage::new("limits");
    stage.unchanged("ulimit -n 64");
    stage.unchanged_or_said("ulimit -n 16", &["Too many open files"]);
    for files in 4..12 {
        stage.unchanged_or_said(
            &format!("ulimit -n {files}"),
            &["open files", "os error 24"],
        );
    }
}

#[test]
fn closed_descriptors_are_not_taken_for_files() {
    let stage = Stage::new("closed");
    stage.unchanged("exec <&-");
    let convert = [
        "data",
        "convert",
        "--to-perf",
        "made.data",
        "-i",
        "RECORDING",
    ];
    let made = || {
        let bytes = fs::read(stage.folder.join("work/made.data")).unwrap();
        fs::remove_file(stage.folder.join("work/made.data")).unwrap();
        bytes
    };
    assert!(stage.run("", &convert).status.success());
    let usual = made();
    for closed in ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"] {
        let output = stage.run(&format!("exec {closed}"), &convert);
        assert!(output.status.success(), "{closed}: {:?}", output.status);
        // Nothing that was printed stands in it. What the output says of itself holds its command line alone.
        assert!(made() == usual, "{closed}");
        for words in READING {
            sane(&stage.run(&format!("exec {closed}"), words), closed);
        }
    }
}

#[test]
fn an_output_that_is_full_is_said() {
    if !Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: there is no /dev/full");
        return;
    }
    let stage = Stage::new("full");
    for words in READING.iter().chain(&[
        &["--help"][..],
        &["--version"],
        &["report", "--help"],
        &["buildid-list", "-i", "RECORDING"],
    ]) {
        if stage.run("", words).stdout.is_empty() {
            continue;
        }
        let output = stage.run("exec >/dev/full", words);
        let said = String::from_utf8_lossy(&output.stderr);
        sane(&output, &format!("{words:?}"));
        assert!(!output.status.success(), "{words:?}: {said}");
        assert!(
            said.contains("No space left on device"),
            "{words:?}: {said}"
        );
    }
    // Where nothing can be said either, the code still tells.
    let output = stage.run("exec >/dev/full 2>&1", &["script", "-i", "RECORDING"]);
    assert!(!output.status.success());
    // Only messages are lost: the result is whole.
    assert!(
        stage
            .run("exec 2>/dev/full", &["script", "-i", "RECORDING"])
            .status
            .success()
    );
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let stage = Stage::new("pipe");
    for words in READING {
        let words: Vec<String> = words
            .iter()
            .map(|word| word.replace("RECORDING", &stage.path("perf.data")))
            .collect();
        let line = "{ \"$0\" \"$@\"; echo $? >&2; } | true";
        let output = Command::new("sh")
            .args(["-c", line])
            .arg(stage.path("oxperf"))
            .args(words)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said == "0\n" || said == "1\n" || said == "141\n", "{said}");
    }
}

#[test]
fn a_folder_that_was_removed_is_no_reason_to_fail() {
    let stage = Stage::new("removed");
    fs::create_dir_all(stage.folder.join("gone")).unwrap();
    let setup = "mkdir -p $FOLDER/gone; cd $FOLDER/gone; rmdir $FOLDER/gone";
    stage.unchanged(setup);
    let missing = stage.run(setup, &["report", "--stdio"]);
    sane(&missing, setup);
    assert!(
        !missing.status.success() && String::from_utf8_lossy(&missing.stderr).contains("perf.data")
    );
    let refused = stage.run(
        setup,
        &[
            "data",
            "convert",
            "--to-perf",
            "made.data",
            "-i",
            "RECORDING",
        ],
    );
    sane(&refused, setup);
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("made.data"),
        "{refused:?}"
    );
}

#[test]
fn temporary_files_without_a_place_are_said() {
    let stage = Stage::new("temporary");
    let bundle = stage.path("bundled.tar.zst");
    assert!(
        stage
            .run("", &["bundle", "-o", &bundle, "-i", "RECORDING"])
            .status
            .success()
    );
    let words = ["script", "-i", &bundle];
    let usual = text(&stage.run("", &words));
    assert!(usual.contains("cpu-clock"));
    let mut setups = vec!["export TMPDIR=$FOLDER/none", "export TMPDIR=/dev/null"];
    let tmpfs = "unshare -m sh -c 'mount -t tmpfs -o size=8k none /mnt'";
    if possible(tmpfs) {
        setups.push(
            "set -- unshare -m sh -c 'mount -t tmpfs -o size=8k none /mnt; TMPDIR=/mnt exec \"$0\" \"$@\"' \"$0\" \"$@\"; exec \"$@\"",
        );
    }
    for setup in setups {
        stage.unchanged(setup);
        let output = stage.run(setup, &words);
        sane(&output, setup);
        let said = String::from_utf8_lossy(&output.stderr);
        let why = ["No such file", "Not a directory", "No space left"]
            .iter()
            .any(|why| said.contains(why));
        assert!(
            !output.status.success() && said.contains(&bundle) && why,
            "{setup}: {said}"
        );
    }
}

#[test]
fn a_machine_without_proc_is_read_on() {
    if !possible("unshare -m sh -c 'mount -t tmpfs none /proc'") {
        return;
    }
    let stage = Stage::new("proc");
    stage.unchanged(
        "set -- unshare -m sh -c 'mount -t tmpfs none /proc; exec \"$0\" \"$@\"' \"$0\" \"$@\"; exec \"$@\"",
    );
}

#[test]
fn another_user_reads_what_may_be_read() {
    let nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    if !possible_through(nobody) {
        return;
    }
    let stage = Stage::new("user");
    // The program may lie where only its owner looks. Another process copies it: the descriptor that writes could live on in
    // a child of a test beside this one, and the file could not be executed then.
    let copy = [
        "--remove-destination",
        env!("CARGO_BIN_EXE_oxperf"),
        &stage.path("oxperf"),
    ];
    assert!(Command::new("cp").args(copy).status().unwrap().success());
    // Neither the home nor caches may be read, let alone written.
    let closed = "chmod 700 $FOLDER/home $FOLDER/tmp";
    stage.unchanged(&format!("{closed}; exec {nobody} \"$0\" \"$@\""));
    stage.unchanged(&format!(
        "{closed}; exec {nobody} --bounding-set=-all --inh-caps=-all \"$0\" \"$@\""
    ));
    fs::write(stage.folder.join("secret.data"), recording()).unwrap();
    let secret = stage.path("secret.data");
    for words in [
        ["script", "-i", &secret],
        ["evlist", "-i", &secret],
        ["buildid-list", "-i", &secret],
    ] {
        let refused = stage.run(
            &format!("chmod 600 {secret}; exec {nobody} \"$0\" \"$@\""),
            &words,
        );
        sane(&refused, "another's recording");
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(
            !refused.status.success() && said.contains("Permission denied"),
            "{words:?}: {said}"
        );
        assert!(said.contains("secret.data"), "{words:?}: {said}");
    }
    let refused = stage.run(
        &format!("exec {nobody} \"$0\" \"$@\""),
        &[
            "data",
            "convert",
            "--to-perf",
            "made.data",
            "-i",
            "RECORDING",
        ],
    );
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success()
            && said.contains("made.data")
            && said.contains("Permission denied"),
        "{said}"
    );
}

#[test]
fn a_user_namespace_is_read_in() {
    let stage = Stage::new("namespace");
    for namespace in ["unshare -U -r", "unshare -U"] {
        if possible_through(namespace) {
            stage.unchanged(&format!("exec {namespace} \"$0\" \"$@\""));
        }
    }
}

#[test]
fn a_full_disk_is_said_and_keeps_nothing_half() {
    let tmpfs = "unshare -m sh -c 'mount -t tmpfs -o size=8k none /mnt'";
    if !possible(tmpfs) {
        return;
    }
    let stage = Stage::new("disk");
    let within = "set -- unshare -m sh -c 'mount -t tmpfs -o size=8k none /mnt; head -c 8000 /dev/zero >/mnt/x; \"$0\" \"$@\"; \
                  echo code $? >&2; ls /mnt >&2' \"$0\" \"$@\"; exec \"$@\"";
    for (words, output) in [
        (
            &[
                "data",
                "convert",
                "--to-perf",
                "/mnt/made",
                "-i",
                "RECORDING",
            ][..],
            "made",
        ),
        (
            &[
                "data",
                "convert",
                "--to-json",
                "/mnt/made",
                "-i",
                "RECORDING",
            ],
            "made",
        ),
        (
            &[
                "export",
                "--format",
                "firefox",
                "-o",
                "/mnt/made",
                "-i",
                "RECORDING",
            ],
            "made",
        ),
        (&["bundle", "-o", "/mnt/made", "-i", "RECORDING"], "made"),
    ] {
        let ended = stage.run(within, words);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(
            said.contains("No space left on device") && said.contains(output),
            "{words:?}: {said}"
        );
        assert!(
            !said.contains("code 0\n") && !said.contains("code 101"),
            "{words:?}: {said}"
        );
    }
    // Caches that cannot be kept are no reason to say anything.
    stage.unchanged(
        "set -- unshare -m sh -c 'mount -t tmpfs -o size=4k none /mnt; head -c 4096 /dev/zero >/mnt/x; HOME=/mnt exec \"$0\" \"$@\"' \"$0\" \"$@\"; exec \"$@\"",
    );
}
