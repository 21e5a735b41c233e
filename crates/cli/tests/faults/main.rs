//! Every call that can fail fails once: the n-th read, write, mapping, open and so on of a small run of each command.
//!
//! A library that is loaded before all others ([`preload`]) counts calls by their kind and makes one of them fail, or all from
//! one on. No such run may crash, hang, change an input or leave a temporary file; what has another result says so; whatever
//! `record` leaves can be read; a call that was interrupted or moved only some of its bytes is made again, and nobody notices.
//!
//! Of long runs the first calls, the last and some between are taken; `OXPERF_FAULTS=all` takes every one.

// A test that skips says so.
#![allow(clippy::print_stderr)]

mod cases;
mod preload;
mod run;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cases::{Case, READING, RECORDING};
use oxperf_objects::{Contents, Elf};
use oxperf_symbols::{Demangling, elf_table};
use oxperf_testkit::Recording;
use preload::{Fault, build};
use run::Stage;
use verdict::{EACCES, EAGAIN, EINTR, EIO, EMFILE, ENOMEM, ENOSPC, judge};

/// The inputs; `None` where the library cannot be built.
fn stage() -> Option<&'static Stage> {
    static STAGE: OnceLock<Option<Stage>> = OnceLock::new();
    let stage = STAGE.get_or_init(|| {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("faults");
        fs::create_dir_all(&folder).unwrap();
        let built = build(&folder)?;
        let recording = recording(&built.program);
        let mut stage = Stage {
            folder,
            built,
            inputs: Vec::new(),
        };
        stage.inputs = vec![("perf.data", recording.clone()), ("other.data", recording)];
        let add = Case {
            words: &[
                "buildid-cache",
                "--buildid-dir",
                "CACHE",
                "--add",
                "PROGRAM",
            ],
            ..READING[0]
        };
        stage.run(&add, None, &stage.place());
        let bundle = Case {
            words: &["bundle", "-o", "made.tar.zst"],
            ..READING[0]
        };
        let ended = stage.run(&bundle, None, &stage.place());
        let bundled = ended
            .files
            .get(Path::new("work/made.tar.zst"))
            .unwrap_or_else(|| panic!("{}", ended.stderr));
        stage.inputs.push(("bundled.tar.zst", bundled.clone()));
        Some(stage)
    });
    if stage.is_none() {
        eprintln!("SKIPPED: cc builds no library that this C library loads");
    }
    stage.as_ref()
}

/// Samples of the program's functions, two of them with callers.
fn recording(program: &Path) -> Vec<u8> {
    let contents = Contents::open(program).unwrap();
    let image = Elf::parse(&contents).unwrap();
    let build_id = image.build_id().expect("the linker notes a build id");
    let table = elf_table(&image, &image, Vec::new(), Demangling::On);
    let start = |name: &str| {
        let found = table
            .ids()
            .filter_map(|id| table.symbol(id))
            .find(|symbol| symbol.name == name);
        found.expect("the program has symbols").start
    };
    // The linker puts the program at 4 MiB, and its symbols are given as offsets of its file.
    let base = 0x40_0000;
    let (main, count) = (base + start("main"), base + start("count"));
    let sample = |time: u64| {
        format!(
            "sample mode=user ip={:#x} pid=1 tid=1 time={time} period=10 chain=user,{:#x},{:#x}\n",
            count + 4,
            count + 4,
            main + 9
        )
    };
    let text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD|CALLCHAIN flags=sample_id_all|mmap|comm|task\n\
         comm pid=1 tid=1 tiny | time=1\n\
         mmap2 mode=user pid=1 tid=1 {base:#x}+0x10000@0 prot=5 flags=2 {} | time=2\n{}{}\
         exit pid=1 ppid=1 tid=1 ptid=1 time=6\n\
         feature hostname string=here\n\
         feature build_id bytes={}\n",
        program.display(),
        sample(3),
        sample(4),
        build_id_entry(&build_id.to_string(), program),
    );
    Recording::parse(&text).unwrap().to_file()
}

/// The entry of the table of build ids for a program, in hexadecimal.
fn build_id_entry(build_id: &str, program: &Path) -> String {
    const USER: u16 = 2;
    let mut path = program.display().to_string().into_bytes();
    path.resize((path.len() / 8 + 1) * 8, 0);
    let size = u16::try_from(8 + 4 + 24 + path.len()).unwrap();
    let mut head = [
        67u32.to_le_bytes().as_slice(),
        &USER.to_le_bytes(),
        &size.to_le_bytes(),
    ]
    .concat();
    head.extend((-1i32).to_le_bytes());
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    format!("{}{build_id:0<48}{}", hex(&head), hex(&path))
}

/// The numbers of the calls that are made to fail: all of a short run, some of a long one.
fn chosen(count: u64, most: u64) -> Vec<u64> {
    if count <= most || std::env::var_os("OXPERF_FAULTS").is_some_and(|value| value == "all") {
        return (1..=count).collect();
    }
    let (first, last) = (most / 2, most / 4);
    let between = most - first - last;
    let step = |each: u64| first + (count - first - last) * (each + 1) / (between + 1);
    (1..=first)
        .chain((0..between).map(step))
        .chain(count - last + 1..=count)
        .collect()
}

/// What is to fail: a kind of call, its error number (0 makes reads and writes short), whether all later ones fail, too, and
/// how many calls of a run are taken unless all are.
struct Plan {
    kind: &'static str,
    errno: i32,
    forever: bool,
    most: u64,
}

/// One call of this kind fails.
fn once(kind: &'static str, errno: i32) -> Plan {
    Plan {
        kind,
        errno,
        forever: false,
        most: 24,
    }
}

/// One call and all later ones fail.
fn forever(kind: &'static str, errno: i32) -> Plan {
    Plan {
        kind,
        errno,
        forever: true,
        most: 8,
    }
}

/// Makes calls fail in runs of all cases, and says all that was wrong.
fn inject(cases: &[Case], plans: &[Plan]) {
    let Some(stage) = stage() else { return };
    let (mut runs, mut injected, mut wrong) = (0, 0, Vec::new());
    for case in cases {
        let whole = stage.run(case, None, &stage.place());
        if matches!(case.role, cases::Role::Records(_)) && !whole.status.success() {
            eprintln!("SKIPPED: {}: {}", case.name(), whole.stderr);
            continue;
        }
        for plan in plans {
            for at in chosen(whole.state.count(plan.kind), plan.most) {
                let fault = Fault {
                    kind: plan.kind,
                    at,
                    errno: plan.errno,
                    forever: plan.forever,
                };
                let place = stage.place();
                let ended = stage.run(case, Some(fault), &place);
                runs += 1;
                injected += u64::from(ended.state.injected > 0);
                if let Some(why) = judge(stage, case, fault, &place, &ended, &whole) {
                    wrong.push(format!(
                        "{}: {fault}: {}: {why}",
                        case.name(),
                        ended.state.what
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {runs} runs are wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    eprintln!("{injected} calls failed in {runs} runs");
    assert!(
        runs == 0 || injected * 3 > runs,
        "{injected} calls failed in {runs} runs"
    );
}

#[test]
fn reading_outlives_a_call_that_fails() {
    inject(
        &READING,
        &[
            once("read", EIO),
            once("write", ENOSPC),
            once("mmap", ENOMEM),
            once("poll", ENOMEM),
        ],
    );
}

#[test]
fn reading_outlives_a_file_that_does_not_open() {
    inject(
        &READING,
        &[
            once("open", EMFILE),
            once("open", EACCES),
            once("descriptor", EMFILE),
        ],
    );
}

#[test]
fn reading_outlives_a_change_that_is_refused() {
    inject(
        &READING,
        &[
            once("change", EIO),
            once("fork", EAGAIN),
            once("ioctl", EIO),
        ],
    );
    // What a cache holds is found by looking, and what cannot be looked at is not in it.
    let others: Vec<Case> = READING
        .into_iter()
        .filter(|case| case.words[0] != "archive")
        .collect();
    inject(&others, &[once("stat", EIO)]);
}

#[test]
fn reading_outlives_what_fails_for_good() {
    inject(
        &READING,
        &[
            forever("read", EIO),
            forever("write", ENOSPC),
            forever("mmap", ENOMEM),
            forever("open", EMFILE),
        ],
    );
}

#[test]
fn nobody_notices_a_call_that_is_made_again() {
    let plans = ["read", "write", "open", "poll", "wait"].map(|kind| once(kind, EINTR));
    inject(&READING, &plans);
    inject(&RECORDING, &plans);
    inject(&RECORDING, &[once("perf_event", EINTR)]);
}

#[test]
fn nobody_notices_a_call_that_moves_less() {
    let plans = [
        once("read", 0),
        once("write", 0),
        forever("read", 0),
        forever("write", 0),
    ];
    inject(&READING, &plans);
    inject(&RECORDING, &plans);
}

#[test]
fn recording_outlives_a_call_that_fails() {
    let calls = [
        once("read", EIO),
        once("write", ENOSPC),
        once("mmap", ENOMEM),
        once("poll", ENOMEM),
        once("ioctl", EIO),
    ];
    inject(&RECORDING, &calls);
}

#[test]
fn recording_outlives_a_file_that_does_not_open() {
    inject(
        &RECORDING,
        &[
            once("open", EMFILE),
            once("open", EACCES),
            once("descriptor", EMFILE),
            once("perf_event", EMFILE),
        ],
    );
}

#[test]
fn recording_outlives_a_change_that_is_refused() {
    let calls = [
        once("change", EIO),
        once("stat", EIO),
        once("fork", EAGAIN),
        once("thread", EAGAIN),
        once("wait", EIO),
    ];
    inject(&RECORDING, &calls);
}

#[test]
fn recording_outlives_what_fails_for_good() {
    inject(
        &RECORDING,
        &[
            forever("read", EIO),
            forever("write", ENOSPC),
            forever("mmap", ENOMEM),
            forever("open", EMFILE),
        ],
    );
}

#[test]
fn commands_say_that_memory_ended() {
    let plans = [once("alloc", ENOMEM), forever("alloc", ENOMEM)];
    inject(&READING, &plans);
    inject(&RECORDING, &plans);
}

#[test]
fn commands_make_do_with_fewer_threads() {
    let plans = [once("thread", EAGAIN), forever("thread", EAGAIN)];
    inject(&READING, &plans);
    inject(&RECORDING, &plans);
}
