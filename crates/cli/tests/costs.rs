//! What hostile recordings cost: eight times as many of anything takes not much more than eight times as long, and every
//! byte has its ceiling of time and memory.
//!
//! `OXPERF_COSTS=SIZE` takes recordings of another size; the table goes to `target/tmp/costs.txt`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use oxperf_testkit::HostileShape;
use wait4::Wait4;

/// Size of the smaller recordings; the larger ones are so many times as large.
const SIZE: usize = 3;
const TIMES: usize = 8;
/// Seconds that nobody asks about.
const FLOOR: f64 = 0.04;
/// Seconds and bytes that a command may take for each byte of its input, and beside that.
const SECONDS_EACH: f64 = 4e-6;
const MEMORY_EACH: u64 = 10;
const MEMORY: u64 = 64 << 20;

/// The test, and what tells its process to make a recording.
const TEST: &str = "costs_grow_no_faster_than_the_recording";
const MAKE: &str = "OXPERF_COSTS_MAKE";

/// The commands whose growth counts, and others that have to stay below the ceilings.
///
/// The names of the kernel that runs here are left out: how many there are is another machine's matter.
const COMMANDS: [&[&str]; 2] = [
    &["report", "--stdio", "--kallsyms", "/dev/null"],
    &["script", "--kallsyms", "/dev/null"],
];
const OTHERS: [&[&str]; 4] = [
    &["data", "check"],
    &["buildid-list"],
    &["evlist", "-v"],
    &["report", "--header-only", "-I"],
];

/// What one command took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    memory: u64,
}

/// A recording on disk, and the bytes of it and of the files that it names.
struct Input {
    folder: PathBuf,
    bytes: u64,
}

impl Input {
    /// Another process makes it: what a program takes counts from the memory of who starts it, which has to be little.
    fn make(shape: HostileShape, size: usize) -> Input {
        let name = format!("costs-{}-{size}", shape.name.replace(' ', "-"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", TEST])
            .env(MAKE, format!("{size} {}", shape.name));
        let made = command.current_dir(&folder).output().unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stdout)
        );
        let bytes = fs::read_dir(&folder)
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        Input { folder, bytes }
    }

    fn cost(&self, words: &[&str]) -> Cost {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oxperf"));
        command
            .args(words)
            .args(["-i", "perf.data"])
            .current_dir(&self.folder);
        command
            .env("HOME", &self.folder)
            .env_remove("XDG_CACHE_HOME")
            .env_remove("DEBUGINFOD_URLS");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let ended = command.spawn().unwrap().wait4().unwrap();
        assert!(
            ended.status.code().is_some_and(|code| code < 100),
            "{words:?}: {}",
            ended.status
        );
        let seconds = (ended.rusage.utime + ended.rusage.stime).as_secs_f64();
        Cost {
            seconds,
            memory: ended.rusage.maxrss,
        }
    }

    /// Returns what is wrong with a cost of this recording.
    fn excess(&self, cost: Cost) -> Option<String> {
        let (seconds, memory) = (
            SECONDS_EACH * self.bytes as f64 + 1.0,
            MEMORY_EACH * self.bytes + MEMORY,
        );
        (cost.seconds > seconds || cost.memory > memory)
            .then(|| format!("more than {seconds:.2} s and {} KiB", memory >> 10))
    }
}

/// Returns what [`Input::make`] asks for, in the folder where the process is.
fn make(wanted: &str) {
    let (size, name) = wanted.split_once(' ').unwrap();
    let shape = HostileShape::all()
        .find(|shape| shape.name == name)
        .unwrap();
    let folder = std::env::current_dir().unwrap();
    let made = shape.make(size.parse().unwrap(), &folder.to_string_lossy());
    fs::write("perf.data", &made.file).unwrap();
    made.others
        .iter()
        .for_each(|(name, bytes)| fs::write(name, bytes).unwrap());
}

impl Drop for Input {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns what is wrong with the costs of a shape; the table gets its lines.
fn check(shape: HostileShape, size: usize, table: &Mutex<Vec<String>>) -> Vec<String> {
    let (small, large) = (Input::make(shape, size), Input::make(shape, size * TIMES));
    let mut wrong = Vec::new();
    for words in COMMANDS.iter().chain(&OTHERS) {
        let cost = large.cost(words);
        let mut complaints = Vec::from_iter(large.excess(cost));
        if COMMANDS.contains(words) {
            let before = small.cost(words).seconds.max(FLOOR);
            let most = 2.0 * TIMES as f64 * before;
            if cost.seconds > most {
                complaints.push(format!("{TIMES} times the size of what took {before:.2} s"));
            }
        }
        let (name, bytes, each) = (
            shape.name,
            large.bytes,
            cost.memory as f64 / large.bytes as f64,
        );
        let words = words.join(" ");
        let (seconds, memory) = (cost.seconds, cost.memory >> 10);
        let line = format!(
            "{name}, {words}: {bytes} bytes, {seconds:.2} s, {memory} KiB, {each:.1} per byte"
        );
        wrong.extend(complaints.into_iter().map(|what| format!("{line}: {what}")));
        table.lock().unwrap().push(line);
    }
    wrong
}

#[test]
fn costs_grow_no_faster_than_the_recording() {
    if let Ok(wanted) = std::env::var(MAKE) {
        return make(&wanted);
    }
    let size = std::env::var("OXPERF_COSTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(SIZE);
    let shapes = Mutex::new(HostileShape::all().collect::<Vec<_>>());
    let table = Mutex::default();
    let work = || {
        let mut wrong = Vec::new();
        loop {
            let next = shapes.lock().unwrap().pop();
            let Some(shape) = next else { return wrong };
            wrong.extend(check(shape, size, &table));
        }
    };
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(4);
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    let mut table = table.into_inner().unwrap();
    table.sort();
    fs::write(
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("costs.txt"),
        table.join("\n"),
    )
    .unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
