//! Too little memory, and no threads: a message and an exit code, never a panic or a signal.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::Recording;

/// A folder that everybody may look into, with this program and a recording of many samples.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("oxperf-limits-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    open(&folder);
    fs::copy(env!("CARGO_BIN_EXE_oxperf"), folder.join("oxperf")).unwrap();
    let sample = |number: u64| {
        let (ip, time) = (0x40_0000 + number * 77 % 60_000, 1000 + number);
        format!("sample mode=user ip={ip:#x} pid=7 tid=7 time={time}\n")
    };
    let samples: String = (0..10_000).map(sample).collect();
    let text = format!("event cycles sample=IP|TID|TIME flags=sample_id_all\n{samples}");
    fs::write(
        folder.join("perf.data"),
        Recording::parse(&text).unwrap().to_file(),
    )
    .unwrap();
    open(&folder.join("perf.data"));
    folder
}

const COMMANDS: [&[&str]; 7] = [
    &["report", "--stdio", "-f"],
    &["report", "--stdio", "-f", "--no-children"],
    &["report", "--stats", "-f"],
    &["script", "-f"],
    &["evlist", "-f"],
    &["data", "check", "-f"],
    &["diff", "-f", "perf.data", "perf.data"],
];

/// Runs this program behind `wrapper`, which runs the words behind its own.
fn run(folder: &Path, wrapper: &[String], arguments: &[&str]) -> Output {
    let mut words = wrapper
        .iter()
        .map(String::as_str)
        .chain(["./oxperf"])
        .chain(arguments.iter().copied());
    let mut command = Command::new(words.next().unwrap());
    command
        .args(words)
        .current_dir(folder)
        .env("HOME", "/nonexistent")
        .env("XDG_CACHE_HOME", "/nonexistent");
    // Root is not limited.
    if fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0) {
        command.uid(54_321).gid(54_321);
    }
    command.output().unwrap()
}

fn limited(limit: &str) -> Vec<String> {
    ["prlimit", "--core=0", limit].map(str::to_owned).into()
}

/// Returns true if there is a program that sets limits.
fn can_limit() -> bool {
    let found = Command::new("prlimit").arg("--version").output().is_ok();
    if !found {
        eprintln!("SKIPPED: prlimit is not there");
    }
    found
}

#[test]
fn without_threads_the_results_are_the_same() {
    if !can_limit() {
        return;
    }
    let folder = folder("threads");
    for command in COMMANDS {
        let free = run(&folder, &["env".to_owned()], command);
        assert!(
            free.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&free.stderr)
        );
        for limit in ["--nproc=1", "--nproc=2", "--nproc=3"] {
            let output = run(&folder, &limited(limit), command);
            let told = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{command:?} {limit}: {told}");
            assert!(output.stdout == free.stdout, "{command:?} {limit}");
        }
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn too_little_memory_is_a_message_and_an_exit_code() {
    if !can_limit() {
        return;
    }
    let folder = folder("memory");
    let run = |megabytes: u64, command: &[&str]| {
        run(
            &folder,
            &limited(&format!("--as={}", megabytes << 20)),
            command,
        )
    };
    // The least in which the program itself can be loaded.
    let least = (8..1000)
        .step_by(8)
        .find(|&megabytes| run(megabytes, &["--version"]).status.success())
        .unwrap();
    for command in [COMMANDS[0], COMMANDS[3]] {
        let mut codes = Vec::new();
        for megabytes in (0..9).map(|step| least + step * step * 8) {
            let output = run(megabytes, command);
            let told = String::from_utf8_lossy(&output.stderr);
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 244)),
                "{command:?} in {megabytes} MB: {:?} {told}",
                output.status
            );
            if code == Some(244) {
                assert!(
                    told.contains("out of memory: "),
                    "{command:?} in {megabytes} MB: {told}"
                );
                assert!(
                    told.lines().count() <= 2,
                    "{command:?} in {megabytes} MB: {told}"
                );
            }
            codes.extend(code);
        }
        assert_eq!(
            (codes.first(), codes.last()),
            (Some(&244), Some(&0)),
            "{command:?}: {codes:?}"
        );
    }
    fs::remove_dir_all(folder).unwrap();
}
