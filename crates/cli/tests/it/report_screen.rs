//! `report` on a terminal: keys are sent, the screen is read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use oxperf_testkit::Recording;

use crate::terminal::{PATIENCE, PROGRAM, Terminal};

const RECORDING: &str = "\
event cycles sample=IP|TID|TIME|CPU|CALLCHAIN|PERIOD flags=sample_id_all|freq|mmap|comm|task freq=4000
mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000@0xffffffff81000000 [kernel.kallsyms]_text
comm pid=7 tid=7 reader
mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /nowhere/reader
sample mode=user ip=0x400120 pid=7 tid=7 cpu=1 time=1000000400 period=250 chain=0xfffffffffffffe00,0x400120,0x400200
sample mode=user ip=0x400130 pid=7 tid=7 cpu=1 time=1000000500 period=150 chain=0xfffffffffffffe00,0x400130,0x400200
";
/// Starts a terminal in a folder with the recording.
fn start(name: &str) -> Option<Terminal> {
    let terminal = Terminal::start(name)?;
    fs::write(
        terminal.folder.join("perf.data"),
        Recording::parse(RECORDING).unwrap().to_file(),
    )
    .unwrap();
    Some(terminal)
}

/// Waits until the browser has left the screen to the shell: what is typed before would be its keys.
fn wait_for_shell(terminal: &Terminal) {
    terminal.wait_until("the browser is gone", |screen| {
        !screen.contains("Press '?' for help")
    });
}

#[test]
fn keys_do_what_they_say() {
    let Some(terminal) = start("keys") else {
        return;
    };
    let ended = terminal.run("report");
    let screen = terminal.wait("Press '?' for help");
    assert!(
        screen.starts_with("Samples: 2  of event 'cycles', Event count (approx.): 400\n"),
        "{screen}"
    );
    assert!(
        screen.contains("+  100.00%     0.00%  reader   reader"),
        "{screen}"
    );
    terminal.keys(&["+"]);
    terminal.wait("62.50% 0x400120");
    terminal.keys(&["?"]);
    terminal.wait("Percent limit");
    terminal.keys(&["q"]);
    terminal.wait("62.50% 0x400120");
    terminal.keys(&["L", "70", "Enter"]);
    terminal.wait("from 70%");
    terminal.keys(&["i"]);
    terminal.wait("# captured on");
    terminal.keys(&["q", "P"]);
    terminal.wait("perf.hist.0 written");
    let written = fs::read_to_string(terminal.folder.join("perf.hist.0")).unwrap();
    assert!(written.starts_with("-  100.00%"), "{written}");
    terminal.tmux(&["resize-window", "-x", "60", "-y", "10"]);
    terminal.keys(&["Down"]);
    let is_small =
        |screen: &str| screen.lines().count() <= 10 && screen.contains("Press '?' for help");
    terminal.wait_until("the last line is seen on a small screen", is_small);
    terminal.keys(&["q"]);
    let after = terminal.wait(&ended);
    assert!(
        !after.contains("Press '?' for help"),
        "the screen from before is back:\n{after}"
    );
}

#[test]
fn samples_and_other_recordings_are_shown() {
    let Some(terminal) = start("others") else {
        return;
    };
    let other = RECORDING
        .replace("reader", "writer")
        .replace("period=150", "period=750");
    fs::write(
        terminal.folder.join("other.data"),
        Recording::parse(&other).unwrap().to_file(),
    )
    .unwrap();
    let count = terminal.folder.join("count");
    fs::write(
        &count,
        "#!/bin/sh\necho lines with samples: $(grep -c '\"period\"')\n",
    )
    .unwrap();
    fs::set_permissions(&count, fs::Permissions::from_mode(0o755)).unwrap();
    terminal.run("report");
    terminal.wait("Event count (approx.): 400");
    terminal.keys(&["r", "Enter"]);
    terminal.wait("reader       7 [001]");
    terminal.keys(&["q", "r", "End", "Enter"]);
    terminal.wait("Program that reads samples");
    terminal.keys(&["./count", "Enter"]);
    terminal.wait("lines with samples: 2");
    terminal.keys(&["q", "s"]);
    terminal.wait("other.data");
    terminal.keys(&["Enter"]);
    terminal.wait("Event count (approx.): 1000");
    terminal.keys(&["q"]);
}

#[test]
fn signals_give_the_terminal_back() {
    let Some(terminal) = start("signals") else {
        return;
    };
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        terminal.keys(&[&format!("clear; '{PROGRAM}' report"), "Enter"]);
        terminal.wait("Press '?' for help");
        let find = format!(
            "pgrep -P $(tmux -L {} display -p '#{{pane_pid}}')",
            terminal.name
        );
        let child = Command::new("sh").args(["-c", &find]).output().unwrap();
        let child = String::from_utf8_lossy(&child.stdout).trim().to_owned();
        assert!(
            Command::new("kill")
                .args([&format!("-{signal}"), &child])
                .status()
                .unwrap()
                .success()
        );
        wait_for_shell(&terminal);
        terminal.keys(&["echo \"it gave $?\"; stty -a", "Enter"]);
        terminal.wait(&format!("it gave {code}"));
        let modes = terminal.wait("iexten");
        assert!(
            modes.contains(" echo ") && modes.contains(" icanon "),
            "{modes}"
        );
    }
}

#[test]
fn colours_can_be_left_out() {
    let Some(terminal) = start("colours") else {
        return;
    };
    let coloured = |terminal: &Terminal| {
        terminal.wait("Press '?' for help");
        let codes = terminal.tmux(&["capture-pane", "-p", "-e"]).stdout;
        let codes = String::from_utf8_lossy(&codes).into_owned();
        terminal.keys(&["q"]);
        wait_for_shell(terminal);
        ["[31m", "[44m", "[37m", "8;5;"]
            .iter()
            .any(|colour| codes.contains(colour))
    };
    terminal.run("report");
    assert!(coloured(&terminal));
    terminal.keys(&["export NO_COLOR=1", "Enter"]);
    terminal.run("report");
    assert!(!coloured(&terminal));
}

#[test]
fn it_ends_with_its_terminal() {
    let Some(terminal) = start("hangup") else {
        return;
    };
    terminal.keys(&[
        &format!("trap '' HUP; '{PROGRAM}' report & echo $! >pid; fg"),
        "Enter",
    ]);
    terminal.wait("Press '?' for help");
    let pid = fs::read_to_string(terminal.folder.join("pid")).unwrap();
    let runs = || PathBuf::from("/proc").join(pid.trim()).join("exe").exists();
    assert!(runs());
    terminal.tmux(&["kill-server"]);
    let ended = (0..PATIENCE).any(|_| {
        sleep(Duration::from_millis(100));
        !runs()
    });
    assert!(ended, "{pid} goes on without a terminal");
}

#[test]
fn text_comes_where_there_is_no_browser_to_show() {
    let Some(terminal) = start("text") else {
        return;
    };
    for command in [
        "report --stdio",
        "report -t ,",
        "report --stats",
        "report --tui </dev/null -i perf.data",
    ] {
        let ended = terminal.run(&format!("{command} | cat"));
        terminal.wait(&ended);
        let ended = terminal.run(command);
        let screen = terminal.wait(&ended);
        assert!(
            screen.contains('%') || screen.contains("Aggregated stats"),
            "{command}: {screen}"
        );
    }
    terminal.keys(&["export TERM=dumb", "Enter"]);
    let ended = terminal.run("report --no-children -g none");
    assert!(
        terminal
            .wait(&ended)
            .contains("# Samples: 2  of event 'cycles'")
    );
}
