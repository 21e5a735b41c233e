//! The state of a terminal after a browser that panicked. The terminal is tmux's.

#![allow(clippy::print_stderr, reason = "what was skipped is for people")]

use std::path::PathBuf;
use std::process::{Command, Output};
use std::thread::sleep;
use std::time::Duration;

/// Screens are read so often before the test gives up.
const PATIENCE: u32 = 300;

/// The example, which lies beside the folder of the tests.
fn example() -> Option<PathBuf> {
    let tests = std::env::current_exe().ok()?;
    Some(tests.parent()?.parent()?.join("examples").join("browse")).filter(|path| path.exists())
}

struct Server(String);

impl Server {
    fn tmux(&self, arguments: &[&str]) -> Output {
        Command::new("tmux")
            .args(["-L", &self.0, "-f", "/dev/null"])
            .args(arguments)
            .output()
            .unwrap()
    }

    fn wait(&self, text: &str) -> String {
        let mut screen = String::new();
        for _ in 0..PATIENCE {
            screen =
                String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned();
            if screen.contains(text) {
                return screen;
            }
            sleep(Duration::from_millis(100));
        }
        panic!("{text:?} never came:\n{screen}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_panic_gives_the_terminal_back() {
    let (Some(example), Ok(_)) = (example(), Command::new("tmux").arg("-V").output()) else {
        eprintln!(
            "SKIPPED: the browser was not tried on a terminal (tmux and the example `browse` are needed)"
        );
        return;
    };
    let server = Server(format!("oxperf-panic-{}", std::process::id()));
    assert!(
        server
            .tmux(&[
                "new-session",
                "-d",
                "-x",
                "80",
                "-y",
                "24",
                "-e",
                "RUST_BACKTRACE=0",
                "sh"
            ])
            .status
            .success()
    );
    let run = format!(
        "clear; '{}'; echo \"it gave $?\"; stty -a",
        example.display()
    );
    server.tmux(&["send-keys", &run, "Enter"]);
    server.wait("Press '?' for help");
    server.tmux(&["send-keys", "i"]);
    server.wait("it gave 101");
    let screen = server.wait("iexten");
    assert!(
        screen.contains("this host is faulty"),
        "the message is there to be read:\n{screen}"
    );
    assert!(
        !screen.contains("Press '?' for help"),
        "the screen from before is back:\n{screen}"
    );
    assert!(
        screen.contains(" echo ") && screen.contains(" icanon "),
        "{screen}"
    );
}
