//! Runs of the recorder: a folder of its own, processes that have to end, what they said.

use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) const OXPERF: &str = env!("CARGO_BIN_EXE_oxperf");
/// What hangs is ended after this long, and fails its test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// Runs until it is ended, and ends by itself when nobody does.
pub(crate) const BUSY: &str = "i=0; while [ $i -lt 30000000 ]; do i=$((i+1)); done";
/// A user who owns nothing here.
pub(crate) const SOMEBODY: u32 = 54321;

/// A folder of its own for each test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("oxperf-hostile-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn join(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// A command that runs here, and whose output is read in the end.
    pub(crate) fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&self.0)
            .env("HOME", &self.0)
            .stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, program: &str, words: &[&str]) -> Output {
        finish(self.command(program, words).spawn().unwrap())
    }

    /// Runs `record` with the words of a line, without the build-id cache.
    pub(crate) fn record(&self, line: &str) -> Output {
        let words = ["record", "-N"].into_iter().chain(line.split_whitespace());
        self.run(OXPERF, &words.collect::<Vec<_>>())
    }

    /// A script with the program as `$0`.
    pub(crate) fn shell(&self, script: &str) -> Output {
        self.run("sh", &["-c", script, OXPERF])
    }

    /// Returns the number of samples that a recording shows.
    pub(crate) fn samples(&self, recording: &str) -> usize {
        let shown = self.run(OXPERF, &["script", "-i", recording, "-F", "ip,event"]);
        String::from_utf8_lossy(&shown.stdout)
            .lines()
            .filter(|line| line.contains("clock"))
            .count()
    }

    /// Returns true if events can be recorded at all; says so otherwise.
    pub(crate) fn records(&self) -> bool {
        let tried = self.record("-e task-clock:u -o try.data -- true");
        tried.status.success() || skip(&tried)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Says why a test, or a part, is skipped; false.
pub(crate) fn skip(refused: &Output) -> bool {
    eprintln!("SKIPPED: {}", String::from_utf8_lossy(&refused.stderr));
    false
}

/// Fails unless a program said this.
pub(crate) fn assert_said(output: &Output, text: &str) {
    assert!(said(output).contains(text), "{}", said(output));
}

pub(crate) fn is_root() -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|us| us.uid() == 0);
    if !root {
        eprintln!("SKIPPED: only root can");
    }
    root
}

/// Waits for a process that has to end.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
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
pub(crate) fn finish(mut child: Child) -> Output {
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

pub(crate) fn send(signal: &str, pid: u32) {
    let sent = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        sleep(Duration::from_millis(20));
    }
}

/// The workload of a recorder, once there is one.
pub(crate) fn workload(recorder: &Child) -> u32 {
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
pub(crate) fn data_size(path: &str) -> u64 {
    let file = fs::read(path).unwrap_or_default();
    file.get(48..56)
        .map_or(0, |bytes| u64::from_le_bytes(bytes.try_into().unwrap()))
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
