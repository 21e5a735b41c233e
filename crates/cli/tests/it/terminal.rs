//! A terminal for tests: keys are sent, the screen is read. The terminal is tmux's.

use std::cell::Cell;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

use crate::support::scratch;

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
/// Screens are read so often before a test gives up.
pub(crate) const PATIENCE: u32 = 1200;

/// A terminal with a shell in a folder of its own.
pub(crate) struct Terminal {
    /// The name of tmux's server.
    pub(crate) name: String,
    /// The folder.
    pub(crate) folder: PathBuf,
    runs: Cell<u32>,
}

impl Terminal {
    /// Starts a shell on 80 columns and 24 lines; `None`, said aloud, without tmux.
    pub(crate) fn start(name: &str) -> Option<Terminal> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("SKIPPED: nothing was tried on a terminal (tmux is needed)");
            return None;
        }
        // Another run of the tests may be going on beside this one.
        let name = format!("{name}-{}", std::process::id());
        let folder = scratch("screens").join(&name);
        fs::create_dir_all(&folder).unwrap();
        let terminal = Terminal {
            name: format!("oxperf-{name}"),
            folder,
            runs: Cell::new(0),
        };
        let folder = terminal.folder.to_string_lossy().into_owned();
        let home = format!("HOME={folder}");
        let new = [
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            "-c",
            &folder,
            "-e",
            &home,
            "-e",
            "PS1=$ ",
            "-e",
            "PERF_PAGER=cat",
            "sh",
        ];
        assert!(terminal.tmux(&new).status.success());
        Some(terminal)
    }

    pub(crate) fn tmux(&self, arguments: &[&str]) -> Output {
        Command::new("tmux")
            .args(["-L", &self.name, "-f", "/dev/null"])
            .args(arguments)
            .output()
            .unwrap()
    }

    pub(crate) fn keys(&self, keys: &[&str]) {
        assert!(self.tmux(&[&["send-keys"], keys].concat()).status.success());
    }

    /// Starts the program; what shows that it ended well.
    pub(crate) fn run(&self, arguments: &str) -> String {
        self.runs.set(self.runs.get() + 1);
        let run = self.runs.get();
        self.keys(&[
            &format!("clear; '{PROGRAM}' {arguments}; echo \"run {run} gave $?\""),
            "Enter",
        ]);
        format!("run {run} gave 0")
    }

    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// Waits for a screen that has a text.
    pub(crate) fn wait(&self, text: &str) -> String {
        self.wait_until(&format!("{text:?} comes"), |screen| screen.contains(text))
    }

    /// Waits for a screen that is as it should be.
    pub(crate) fn wait_until(&self, what: &str, is_so: impl Fn(&str) -> bool) -> String {
        for _ in 0..PATIENCE {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("it never was so that {what}:\n{}", self.screen());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
        let _ = fs::remove_dir_all(&self.folder);
    }
}
