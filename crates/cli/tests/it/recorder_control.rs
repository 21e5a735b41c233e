//! Commands to a recording that goes on: what each does, and how it is answered.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Output};

use crate::recorder::{BUSY, Folder, OXPERF, assert_said, finish, said};

/// A recorder that listens at named pipes.
struct Controlled {
    folder: Folder,
    recorder: Child,
    commands: File,
    answers: File,
}

impl Controlled {
    /// Starts recording two events of a busy program, without counting.
    fn start(name: &str, options: &[&str]) -> Option<Controlled> {
        let folder = Folder::new(name);
        if !folder.records() {
            return None;
        }
        let made = folder.run("mkfifo", &["commands", "answers"]);
        assert!(made.status.success());
        let open = |name: &str| {
            let mut options = OpenOptions::new();
            options
                .read(true)
                .write(true)
                .open(folder.join(name))
                .unwrap()
        };
        let (commands, answers) = (open("commands"), open("answers"));
        let words = [
            &[
                "record",
                "-N",
                "-D",
                "-1",
                "-F",
                "1000",
                "-e",
                "task-clock,page-faults",
            ][..],
            &["-o", "f.data", "--control", "fifo:commands,answers"],
            options,
            &["--", "sh", "-c", BUSY],
        ];
        let recorder = folder.command(OXPERF, &words.concat()).spawn().unwrap();
        Some(Controlled {
            folder,
            recorder,
            commands,
            answers,
        })
    }

    /// Gives a command and waits for the answer.
    fn ask(&mut self, command: &str) {
        self.tell(command);
        let mut answer = [0; 5];
        self.answers.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"ack\n\0", "{command}");
    }

    fn tell(&mut self, command: &str) {
        writeln!(self.commands, "{command}").unwrap();
    }

    /// Ends the recording by a command.
    fn stop(mut self) -> (Folder, Output) {
        self.ask("stop");
        (self.folder, finish(self.recorder))
    }
}

#[test]
fn each_command_does_what_it_says() {
    let Some(mut control) = Controlled::start("control", &["-v"]) else {
        return;
    };
    control.ask("ping");
    control.tell("nosuch");
    for command in [
        "enable task-clock",
        "enable nosuch",
        "evlist",
        "evlist -F",
        "evlist -x",
    ] {
        control.ask(command);
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    for command in [
        "disable task-clock",
        "enablex",
        "snapshot",
        "enable",
        "disable",
    ] {
        control.ask(command);
    }
    let (folder, output) = control.stop();
    let (said, listed) = (
        said(&output),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    );
    let expected = [
        "Message from ctl_fd: \"ping\\n\"",
        "ctlfd: unsupported 0",
        "Event task-clock enabled",
        "failed: can't find 'nosuch' event",
        "failed: wrong command",
        "Event task-clock disabled",
        "is snapshot",
        "Events enabled",
        "Events disabled",
    ];
    let mut rest = &said[..];
    for line in expected {
        let (_, behind) = rest
            .split_once(line)
            .unwrap_or_else(|| panic!("{line}: {said}"));
        rest = behind;
    }
    assert!(listed.starts_with("task-clock\npage-faults\n"), "{listed}");
    assert!(
        listed.contains("task-clock: sample_freq=1000\n"),
        "{listed}"
    );
    assert!(folder.samples("f.data") > 0, "{said}");
}

#[test]
fn nothing_counts_before_it_is_enabled() {
    let Some(mut control) = Controlled::start("control-off", &[]) else {
        return;
    };
    control.ask("ping");
    let (folder, output) = control.stop();
    assert_said(&output, "Captured and wrote");
    assert_eq!(folder.samples("f.data"), 0);
}

#[test]
fn commands_work_beside_windows() {
    let Some(mut control) = Controlled::start("control-windows", &["-D", "60000-70000"]) else {
        return;
    };
    control.ask("enable");
    std::thread::sleep(std::time::Duration::from_millis(300));
    control.ask("disable");
    let (folder, output) = control.stop();
    let said = said(&output);
    assert!(
        said.starts_with("Events disabled\nEvents enabled\nEvents disabled\n"),
        "{said}"
    );
    assert!(folder.samples("f.data") > 0, "{said}");
}

#[test]
fn a_list_does_not_get_into_a_stream() {
    let Some(mut control) = Controlled::start("control-stream", &["-o", "-"]) else {
        return;
    };
    control.ask("evlist");
    let (_, output) = control.stop();
    assert_said(&output, "task-clock\npage-faults\n");
    assert!(output.stdout.starts_with(b"PERFILE2"));
}

#[test]
fn where_no_command_can_come_from_is_refused() {
    let folder = Folder::new("control-bad");
    for (source, message) in [
        (
            "fifo:nosuch",
            "Failed to open 'nosuch': No such file or directory",
        ),
        ("fd:99", "Failed to open descriptor 99: Bad file descriptor"),
        ("nosuch", "'nosuch' is neither fd:"),
    ] {
        let words = [
            "record",
            "-e",
            "task-clock",
            "--control",
            source,
            "touch",
            "ran",
        ];
        let output = folder.run(OXPERF, &words);
        assert_eq!(output.status.code(), Some(129));
        assert!(said(&output).contains(message), "{}", said(&output));
    }
    assert!(!folder.0.join("ran").exists());
}
