//! The pager, on a terminal that `script` of util-linux provides.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use oxperf_testkit::Recording;

use crate::support::{lossy, scratch};

const RECORDING: &str = "\
event cycles sample=IP|TID|TIME|CPU|PERIOD flags=sample_id_all|freq|mmap|comm|task freq=4000
comm pid=7 tid=7 reader
sample mode=user ip=0x400120 pid=7 tid=7 cpu=1 time=1000000400 period=900
";

/// A folder with a recording and a pager that marks what it shows.
struct Desk(PathBuf);

impl Desk {
    fn new(name: &str) -> Option<Desk> {
        if !Path::new("/usr/bin/script").exists() {
            eprintln!("SKIPPED: no terminal for the pager (script of util-linux is needed)");
            return None;
        }
        let folder = scratch(module_path!()).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join("perf.data"),
            Recording::parse(RECORDING).unwrap().to_file(),
        )
        .unwrap();
        Some(Desk(folder))
    }

    /// Runs the program on a terminal, with a pager that puts `|` before each line.
    fn run(&self, words: &str) -> Output {
        self.run_with(words, &[("PAGER", "sed 's/^/|/'")])
    }

    fn run_with(&self, words: &str, variables: &[(&str, &str)]) -> Output {
        let program = env!("CARGO_BIN_EXE_oxperf");
        Command::new("/usr/bin/script")
            .args(["-qefc", &format!("'{program}' {words}"), "/dev/null"])
            .current_dir(&self.0)
            .env("HOME", &self.0)
            .env("PERF_CONFIG_NOSYSTEM", "1")
            .env("TERM", "xterm")
            .env_remove("PERF_CONFIG")
            .env_remove("PERF_PAGER")
            .env_remove("LESS")
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }
}

fn is_paged(output: &Output) -> bool {
    lossy(&output.stdout).contains('|')
}

#[test]
fn text_is_paged_on_a_terminal_as_commands_options_and_values_say() {
    let Some(desk) = Desk::new("choice") else {
        return;
    };
    for words in ["report --stdio -i perf.data", "script -i perf.data"] {
        let output = desk.run(words);
        assert!(is_paged(&output), "{words}: {}", lossy(&output.stdout));
        assert!(output.status.success(), "{words}");
    }
    for words in [
        "evlist -i perf.data",
        "--no-pager script -i perf.data",
        "config",
    ] {
        assert!(!is_paged(&desk.run(words)), "{words}");
    }
    assert!(is_paged(&desk.run("-p evlist -i perf.data")));
    assert!(!is_paged(
        &desk.run_with("script -i perf.data", &[("PAGER", "cat")])
    ));
    let own = [("PAGER", "false"), ("PERF_PAGER", "sed 's/^/|/'")];
    assert!(is_paged(&desk.run_with("script -i perf.data", &own)));
    fs::write(
        desk.0.join(".perfconfig"),
        "[pager]\nscript = off\nevlist = \"sed 's/^/|/'\"\n",
    )
    .unwrap();
    assert!(!is_paged(&desk.run("script -i perf.data")));
    assert!(is_paged(
        &desk.run_with("evlist -i perf.data", &[("PAGER", "false")])
    ));
}

#[test]
fn the_exit_code_is_the_commands_and_a_pager_that_ends_early_ends_it_quietly() {
    let Some(desk) = Desk::new("codes") else {
        return;
    };
    let missing = desk.run("script -i no-such-file");
    assert_eq!(missing.status.code(), Some(255));
    let early = desk.run_with("script -i perf.data", &[("PAGER", "true")]);
    assert_eq!(
        (early.status.code(), lossy(&early.stdout)),
        (Some(0), String::new())
    );
    let options = desk.run_with("script -i perf.data", &[("PAGER", "echo $LESS; cat")]);
    assert!(
        lossy(&options.stdout).starts_with("FRSX"),
        "{}",
        lossy(&options.stdout)
    );
}
