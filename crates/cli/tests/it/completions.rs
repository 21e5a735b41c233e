//! Completion in the shells themselves: bash, zsh and fish load the scripts that the program prints and complete lines,
//! with the program under the name `perf`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{scratch, stdout};

/// Lines up to the key, and what a shell makes of the last word.
const LINES: [(&str, &str); 7] = [
    ("perf evli", "evlist"),
    ("perf evlist --trac", "--trace-fields"),
    ("perf export --format=perf", "--format=perfetto"),
    ("perf report -s comm,dso_f", "comm,dso_from"),
    ("perf report -i file-a", "file-alone"),
    ("perf report --input=file-a", "--input=file-alone"),
    ("perf record -- cat file-a", "file-alone"),
];

/// A folder with the program as `perf`, a file, and the script of a shell; `None` where there is no such shell.
fn prepared(shell: &str, script: &str) -> Option<PathBuf> {
    let is_there = Command::new(shell).args(["-c", "true"]).output().is_ok();
    if !is_there {
        eprintln!("SKIPPED: completion in {shell}: it is not installed");
        return None;
    }
    let folder = scratch(module_path!()).join(shell);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    symlink(env!("CARGO_BIN_EXE_oxperf"), folder.join("perf")).unwrap();
    fs::write(folder.join("file-alone"), "").unwrap();
    let printed = Command::new(folder.join("perf"))
        .args(["completions", shell])
        .output()
        .unwrap();
    fs::write(folder.join(script), printed.stdout).unwrap();
    Some(folder)
}

/// Runs a script of the shell in the folder.
fn run(shell: &str, options: &[&str], folder: &Path, script: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new(shell)
        .args(options)
        .args(["-c", script])
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("TERM", "dumb")
        .output()
        .unwrap();
    stdout(&output)
}

#[test]
fn bash_completes() {
    let Some(folder) = prepared("bash", "perf.bash") else {
        return;
    };
    // As readline calls the function; it puts back what stands before the last `=`.
    let ask = r#"
source ./perf.bash
complete -p perf >/dev/null || echo "not registered"
ask() {
    COMP_LINE=$1 COMP_POINT=${#1}
    read -ra COMP_WORDS <<<"$1"
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    local last=${COMP_WORDS[COMP_CWORD]} kept=
    [[ $last == *=* ]] && kept=${last%"${last##*=}"}
    _perf_complete perf
    echo "${COMPREPLY[*]/#/$kept}"
}
"#;
    let asked: String = LINES
        .iter()
        .map(|(line, _)| format!("ask '{line}'\n"))
        .collect();
    let answers = run("bash", &["--norc"], &folder, &(ask.to_owned() + &asked));
    let expected: Vec<&str> = LINES.iter().map(|(_, word)| *word).collect();
    assert_eq!(answers.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn fish_completes() {
    let Some(folder) = prepared("fish", "perf.fish") else {
        return;
    };
    let asked: String = LINES
        .iter()
        .map(|(line, _)| format!("complete -C '{line}' | string replace -r '\\t.*' ''\n"))
        .collect();
    let answers = run(
        "fish",
        &["--no-config"],
        &folder,
        &format!("source perf.fish\n{asked}"),
    );
    let expected: Vec<&str> = LINES.iter().map(|(_, word)| *word).collect();
    assert_eq!(answers.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn zsh_completes() {
    let Some(folder) = prepared("zsh", "_perf") else {
        return;
    };
    // An interactive shell on a terminal of its own; a second key writes what the line has become.
    let lines: String = LINES
        .iter()
        .map(|(line, _)| format!("zpty -w -n shell '{line}'$'\\t\\C-x'\n"))
        .collect();
    let script = format!(
        r#"
zmodload zsh/zpty || {{ print "no zpty"; exit }}
zpty shell 'zsh -f -i'
zpty -w shell "cd {folder}; fpath=(. \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell 'show() {{ print -r -- "${{BUFFER% }}" >>shown; BUFFER=; }}; zle -N show; bindkey "^X" show'
zpty -w shell 'bindkey "^I" complete-word; print REA''DY'
zpty -r -m shell text '*READY*'
{lines}
zpty -w shell 'print EN''DED'
zpty -r -m shell text '*ENDED*'
zpty -d shell
cat shown
"#,
        folder = folder.display()
    );
    let answers = run("zsh", &["-f"], &folder, &script);
    if answers.starts_with("no zpty") {
        eprintln!("SKIPPED: completion in zsh: it has no module zsh/zpty");
        return;
    }
    let expected = LINES.map(|(line, word)| {
        let (before, _) = line.rsplit_once(' ').unwrap();
        format!("{before} {word}")
    });
    assert_eq!(answers.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_name_that_could_be_code_is_no_name() {
    let output = Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["completions", "--name", "a;b$(c)", "fish"])
        .output()
        .unwrap();
    assert!(stdout(&output).contains("complete -c abc -f"));
}
