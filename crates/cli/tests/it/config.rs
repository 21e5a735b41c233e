//! Configuration files: which are read, what `config` shows and writes, and what the values do to commands.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_testkit::Recording;

use crate::support::{lossy, scratch, stdout};

const RECORDING: &str = "\
event cycles sample=IP|TID|TIME|CPU|PERIOD flags=sample_id_all|freq|mmap|comm|task freq=4000
comm pid=7 tid=7 reader
mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /nowhere/reader
mmap2 mode=user pid=7 tid=7 0x500000+0x1000@0 prot=5 flags=2 /nowhere/library
sample mode=user ip=0x400120 pid=7 tid=7 cpu=1 time=1000000400 period=900
sample mode=user ip=0x500130 pid=7 tid=7 cpu=1 time=1000000500 period=100
";

/// A folder that is the user's home, with a configuration and a recording.
struct Home(PathBuf);

impl Home {
    fn new(name: &str, configuration: &str) -> Home {
        let folder = scratch(module_path!()).join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(".perfconfig"), configuration).unwrap();
        let recording = Recording::parse(RECORDING).unwrap().to_file();
        fs::write(folder.join("perf.data"), recording).unwrap();
        Home(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(arguments, &[])
    }

    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_oxperf"))
            .args(arguments)
            .current_dir(&self.0)
            .env("HOME", &self.0)
            .env("PERF_CONFIG_NOSYSTEM", "1")
            .env_remove("PERF_CONFIG")
            .env_remove("PERF_CONFIG_NOGLOBAL")
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    }

    fn text(&self) -> String {
        fs::read_to_string(self.0.join(".perfconfig")).unwrap()
    }
}

fn error(output: &Output) -> String {
    lossy(&output.stderr)
}

#[test]
fn values_are_shown_with_their_places() {
    let home = Home::new(
        "shown",
        "# mine\n[report]\nchildren = false ; no\n[A]\nK = \"x  y\"\n",
    );
    assert_eq!(
        stdout(&home.run(&["config"])),
        "report.children=false\na.k=x  y\n"
    );
    assert_eq!(
        stdout(&home.run(&["config", "-l", "--user"])),
        "report.children=false\na.k=x  y\n"
    );
    assert_eq!(
        stdout(&home.run(&["config", "A.k", "no.such"])),
        "a.k=x  y\n"
    );
    let origins = stdout(&home.run(&["config", "--show-origin", "a.k"]));
    let file = home.0.join(".perfconfig");
    assert_eq!(origins, format!("{}:5\ta.k=x  y\n", file.display()));
    let other = home.0.join("other");
    fs::write(&other, "[b]\nj = 1\n").unwrap();
    let named = [("PERF_CONFIG", other.to_str().unwrap())];
    assert_eq!(stdout(&home.run_with(&["config"], &named)), "b.j=1\n");
    assert_eq!(
        stdout(&home.run_with(&["config"], &[("PERF_CONFIG_NOGLOBAL", "1")])),
        ""
    );
    assert_eq!(
        stdout(&home.run_with(&["config"], &[("PERF_CONFIG", "/dev/null")])),
        ""
    );
}

#[test]
fn values_are_set_and_all_else_stays() {
    let home = Home::new("set", "# mine\n[report]\n\tchildren = false ; no\n");
    let done = home.run(&[
        "config",
        "report.children=true",
        "a.k=x # y",
        "report.group=no",
    ]);
    assert_eq!(
        (done.status.code(), stdout(&done)),
        (Some(0), String::new())
    );
    assert_eq!(
        home.text(),
        "# mine\n[report]\n\tchildren = true ; no\n\tgroup = no\n[a]\n\tk = \"x # y\"\n"
    );
    assert_eq!(stdout(&home.run(&["config", "a.k"])), "a.k=x # y\n");
    let left: Vec<_> = fs::read_dir(&home.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let new = home.0.join("new");
    let named = [("PERF_CONFIG", new.to_str().unwrap())];
    assert!(home.run_with(&["config", "x.y=1"], &named).status.success());
    assert_eq!(fs::read_to_string(new).unwrap(), "[x]\n\ty = 1\n");
}

#[test]
fn requests_that_make_no_sense_write_nothing() {
    let home = Home::new("refused", "[report]\nchildren = true\n");
    let before = home.text();
    for (words, code, message) in [
        (
            &["foo"][..],
            255,
            "The config variable does not contain a section name: foo\n",
        ),
        (
            &["a.b=5", "nosec=2"],
            255,
            "The config variable does not contain a section name: nosec=2\n",
        ),
        (
            &[".foo=1"],
            255,
            "The config variable does not contain a section name: .foo=1\n",
        ),
        (
            &["foo.bar="],
            255,
            "The config variable does not contain a value: foo.bar=\n",
        ),
        (&["foo.=1"], 255, "invalid config variable: foo.\n"),
        (
            &["--user", "--system"],
            129,
            " Error: only one config file at a time\n",
        ),
        (&["-l", "a.b"], 129, " Error: takes no arguments\n"),
    ] {
        let refused = home.run(&[&["config"], words].concat());
        assert_eq!(refused.status.code(), Some(code), "{words:?}");
        assert!(
            error(&refused).starts_with(message),
            "{words:?}: {}",
            error(&refused)
        );
        assert_eq!(home.text(), before);
    }
}

#[test]
fn a_mistake_is_reported_and_what_stands_before_it_counts() {
    let home = Home::new(
        "mistake",
        "[report]\nsort_order = dso\n= 1\nchildren = false\n",
    );
    let listed = home.run(&["config", "-l"]);
    assert_eq!(stdout(&listed), "report.sort_order=dso\n");
    let message = format!(
        "bad config file line 3 in {}\n",
        home.0.join(".perfconfig").display()
    );
    assert_eq!(error(&listed), message);
    let report = home.run(&["report", "--stdio", "-q"]);
    assert_eq!(
        stdout(&report),
        "    90.00%  reader          \n    10.00%  library         \n\n\n"
    );
    let written = home.run(&["config", "a.b=1"]);
    assert_eq!(written.status.code(), Some(255));
    assert!(error(&written).contains("its line 3 is to be mended first"));
}

#[test]
fn files_of_others_are_not_read() {
    let home = Home::new("owner", "[a]\nk = 1\n");
    if std::os::unix::fs::chown(home.0.join(".perfconfig"), Some(1234), None).is_err() {
        eprintln!("SKIPPED: only root can give a file to somebody else");
        return;
    }
    let listed = home.run(&["config", "-l"]);
    assert_eq!(stdout(&listed), "");
    assert!(error(&listed).contains("not owned by current user or root, ignoring it."));
}

/// The rows of a report.
fn rows(home: &Home, options: &[&str]) -> Vec<String> {
    let output = home.run(&[&["report", "--stdio", "-q"], options].concat());
    assert!(output.status.success(), "{}", error(&output));
    let text = stdout(&output);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines()
        .map(words)
        .filter(|line| !line.is_empty())
        .collect()
}

#[test]
fn options_win_over_values() {
    let home = Home::new("wins", "[report]\nsort_order = dso\npercent-limit = 20\n");
    assert_eq!(rows(&home, &[]), ["90.00% reader"]);
    assert_eq!(
        rows(&home, &["--percent-limit", "0"]),
        ["90.00% reader", "10.00% library"]
    );
    assert_eq!(rows(&home, &["-s", "comm"]), ["100.00% reader"]);
    assert_eq!(rows(&home, &["-s", "+comm"]), ["90.00% reader reader"]);
    let home = Home::new(
        "shares",
        "[report]\nsort_order = dso\n[hist]\npercentage = relative\n",
    );
    let row = |options: &[&str]| rows(&home, options).last().cloned();
    assert_eq!(row(&["-d", "reader"]), Some("100.00% reader".to_owned()));
    let absolute = ["-d", "reader", "--percentage", "absolute"];
    assert_eq!(row(&absolute), Some("90.00% reader".to_owned()));
}

#[test]
fn bad_values_are_refused_or_ignored_as_by_perf() {
    for (text, message) in [
        (
            "[call-graph]\norder = up\n",
            "Invalid callchain order: up\nError in the given config file: wrong config key-value pair call-graph.order=up\n",
        ),
        (
            "[call-graph]\nprint-limit = x\n",
            "Invalid callchain print limit: x\nError in the given config file: wrong config key-value pair call-graph.print-limit=x\n",
        ),
        (
            "[hist]\npercentage = x\n",
            "Error in the given config file: wrong config key-value pair hist.percentage=x\n",
        ),
    ] {
        let refused = Home::new("bad", text).run(&["report", "--stdio"]);
        assert_eq!(refused.status.code(), Some(255), "{text}");
        assert!(error(&refused).starts_with(message), "{}", error(&refused));
    }
    let ignored = Home::new("ignored", "[report]\nchildren = maybe\n").run(&["report", "--stdio"]);
    assert!(ignored.status.success());
    assert!(error(&ignored).starts_with("bad config value for 'report.children', ignoring..."));
    // Other commands do not read it.
    let evlist = Home::new("unread", "[call-graph]\norder = up\n").run(&["evlist"]);
    assert_eq!(
        (stdout(&evlist).as_str(), error(&evlist).as_str()),
        ("cycles\n", "")
    );
}

#[test]
fn aliases_run_commands_and_the_shell() {
    let home = Home::new(
        "alias",
        "[alias]\nev = evlist --input\nhi = \"!echo hi\"\na = b\nb = a\nseven = !exit 7;\n",
    );
    assert_eq!(stdout(&home.run(&["ev", "perf.data"])), "cycles\n");
    assert_eq!(stdout(&home.run(&["hi", "x  y"])), "hi x  y\n");
    assert_eq!(home.run(&["seven"]).status.code(), Some(7));
    assert!(error(&home.run(&["a"])).contains("recursive alias: a"));
}

#[test]
fn the_page_has_every_key_and_its_readers() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/config.md");
    let page = fs::read_to_string(page).unwrap();
    let rows: Vec<(&str, &str)> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| line.split_once("` | "))
        .filter(|(name, _)| name.contains('.'))
        .collect();
    let source = include_str!("../../src/configuration/keys.rs");
    let table = source
        .split_once("ALL: &[Key] = &[")
        .unwrap()
        .1
        .split_once("\n];")
        .unwrap()
        .0;
    let keys: Vec<&str> = table.split('"').filter(is_key).collect();
    let named: Vec<&str> = rows.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, keys);
}

/// `true` for a text of the table of keys that is the name of one.
fn is_key(text: &&str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || b"-_.*0123456789".contains(&byte);
    text.contains('.') && text.bytes().all(plain)
}
