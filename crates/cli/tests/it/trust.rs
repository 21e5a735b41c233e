//! Files that others made: nothing that lies below a given root is kept for other runs, outputs are new files of their owner
//! alone, and the folder of a bundle goes however its reader ends.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use oxperf_tar::ArchiveWriter;
use oxperf_testkit::Recording;

use crate::support::{function, scratch, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
/// Address at which the recording has the program's file mapped.
const BASE: u64 = 0x10_0000_0000;

fn folder(name: &str) -> PathBuf {
    let folder = scratch(module_path!()).join("trust").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("tmp")).unwrap();
    folder
}

/// The program in `folder`, with home, caches and temporary files there.
fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env("TMPDIR", folder.join("tmp"));
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// A recording with samples in `main` of a program.
fn record(folder: &Path, program: &Path, samples: u64) {
    let ip = BASE + function(program, "main").start;
    let mut text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
         comm pid=1 tid=1 x\n\
         mmap2 mode=user pid=1 tid=1 {BASE:#x}+0x40000000@0 prot=5 flags=2 {}\n",
        program.display(),
    );
    for time in 1..=samples {
        text.push_str(&format!(
            "sample mode=user ip={ip:#x} pid=1 tid=1 time={time} period=10\n"
        ));
    }
    fs::write(
        folder.join("perf.data"),
        Recording::parse(&text).unwrap().to_file(),
    )
    .unwrap();
}

/// Exchanges the names of `main` and of another function in the symbol table of a program.
fn swap_main(bytes: &mut [u8]) {
    let number = |bytes: &[u8], at: usize, size: usize| {
        bytes[at..at + size]
            .iter()
            .rev()
            .fold(0usize, |value, byte| value << 8 | usize::from(*byte))
    };
    let (sections, size, count) = (
        number(bytes, 40, 8),
        number(bytes, 58, 2),
        number(bytes, 60, 2),
    );
    let header = |nth: usize| sections + nth * size;
    let table = (0..count)
        .map(header)
        .find(|at| number(bytes, at + 4, 4) == 2)
        .expect("a symbol table");
    let strings = number(bytes, header(number(bytes, table + 40, 4)) + 24, 8);
    let (start, length) = (number(bytes, table + 24, 8), number(bytes, table + 32, 8));
    let symbols: Vec<usize> = (start..start + length).step_by(24).collect();
    let is_main = |at: &usize| bytes[strings + number(bytes, *at, 4)..].starts_with(b"main\0");
    let main = *symbols.iter().find(|at| is_main(at)).expect("main");
    let is_other =
        |at: &&usize| bytes[**at + 4] & 15 == 2 && number(bytes, **at + 16, 8) > 0 && **at != main;
    let other = *symbols.iter().find(is_other).expect("another function");
    (0..4).for_each(|byte| bytes.swap(main + byte, other + byte));
}

/// A copy below a root has the build id of the program, and other names.
#[test]
fn names_from_below_a_root_stay_there() {
    let folder = folder("poison");
    let program = folder.join("program");
    fs::copy(PROGRAM, &program).unwrap();
    record(&folder, &program, 1);
    let root = folder.join("root");
    let copy = root.join(program.strip_prefix("/").unwrap());
    fs::create_dir_all(copy.parent().unwrap()).unwrap();
    let mut bytes = fs::read(PROGRAM).unwrap();
    swap_main(&mut bytes);
    fs::write(&copy, bytes).unwrap();
    let plain = ["report", "--stdio", "-q", "-s", "sym"];
    let rooted = [&plain[..], &["--symfs", root.to_str().unwrap()]].concat();
    let names = |words: &[&str]| stdout(&run(&folder, words)).trim().to_owned();
    let hostile = names(&rooted);
    assert!(
        hostile.contains("[.]") && !hostile.ends_with("] main"),
        "{hostile}"
    );
    let honest = names(&plain);
    assert!(honest.ends_with("] main"), "{honest}");
    assert!(
        folder.join("cache/oxperf/learned").is_dir(),
        "something was learned, of the honest file"
    );
    assert_eq!(
        names(&rooted),
        hostile,
        "what was learned is not of the copy"
    );
    // Nor from a file that came into the place of another, with its times.
    let times = fs::metadata(&program).unwrap();
    let times = fs::FileTimes::new().set_modified(times.modified().unwrap());
    fs::rename(&copy, &program).unwrap();
    fs::File::options()
        .write(true)
        .open(&program)
        .unwrap()
        .set_times(times)
        .unwrap();
    assert_eq!(names(&plain), hostile);
    fs::remove_dir_all(folder).unwrap();
}

/// What is made of a recording is a new file for its owner alone, whatever somebody put into its place before.
#[test]
fn outputs_are_new_files_of_their_owner_alone() {
    let folder = folder("outputs");
    record(&folder, Path::new(PROGRAM), 3);
    let cases: [(&str, &[&str]); 7] = [
        ("page.html", &["report", "--html=page.html"]),
        ("folded", &["export", "--format", "folded", "-o", "folded"]),
        ("lines", &["export", "--format", "jsonl", "-o", "lines"]),
        ("data", &["data", "convert", "--force", "--to-perf", "data"]),
        ("json", &["data", "convert", "--force", "--to-json", "json"]),
        ("x.tar.zst", &["bundle", "-o", "x.tar.zst"]),
        ("perf.data.cpu-clock.dump", &["script", "--per-event-dump"]),
    ];
    for (name, words) in cases {
        let path = folder.join(name);
        fs::write(&path, "planted").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let mut planted = fs::File::open(&path).unwrap();
        let done = run(&folder, words);
        assert!(
            done.status.success(),
            "{words:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        let made = fs::metadata(&path).unwrap();
        assert_eq!(made.mode() & 0o777, 0o600, "{words:?}");
        assert_ne!(made.len(), 7, "{words:?}");
        let mut seen = String::new();
        planted.read_to_string(&mut seen).unwrap();
        assert_eq!(
            seen, "planted",
            "{words:?}: who had it open sees nothing of the output"
        );
        // Only root can make links of somebody else's.
        let victim = folder.join("victim");
        fs::write(&victim, "victim").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&victim, &path).unwrap();
        if lchown(&path, Some(12345), None).is_ok() {
            let refused = run(&folder, words);
            assert!(!refused.status.success(), "{words:?}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "victim", "{words:?}");
        }
        fs::remove_file(&path).unwrap();
    }
    fs::remove_dir_all(folder).unwrap();
}

/// Returns true if `path` comes to be so within half a minute.
fn comes(is_so: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !is_so() && begin.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(20));
    }
    is_so()
}

#[test]
fn a_bundle_leaves_nothing_behind_when_its_reader_is_killed() {
    let folder = folder("killed");
    record(&folder, Path::new(PROGRAM), 40_000);
    let recording = fs::read(folder.join("perf.data")).unwrap();
    let mut writer = ArchiveWriter::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
    for (name, bytes) in [("oxperf-bundle", &b"1\n"[..]), ("perf.data", &recording)] {
        writer
            .file(name, bytes.len() as u64, 0, &mut &bytes[..])
            .unwrap();
    }
    fs::write(folder.join("x"), writer.finish().unwrap().finish().unwrap()).unwrap();
    let unpacked = || fs::read_dir(folder.join("tmp")).unwrap().count();
    // Nobody reads what it prints, so that it waits in the middle.
    let mut reader = command(&folder, &["script", "-F", "ip,sym", "-i", "x"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let appeared = comes(|| unpacked() == 1);
    reader.kill().unwrap();
    reader.wait().unwrap();
    assert!(appeared, "it was unpacked");
    assert!(comes(|| unpacked() == 0), "the folder is gone");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_keeper_of_a_bundle_removes_nothing_else() {
    let folder = folder("keeper");
    let ours = folder.join("tmp/oxperf-bundle-1-0");
    let other = folder.join("tmp/other");
    let link = folder.join("tmp/oxperf-bundle-2-0");
    for made in [&ours, &other] {
        fs::create_dir_all(made).unwrap();
        fs::write(made.join("file"), "x").unwrap();
    }
    symlink(&other, &link).unwrap();
    for path in [&ours, &other, &link] {
        command(&folder, &["bundle-keeper", path.to_str().unwrap()])
            .stdin(Stdio::null())
            .status()
            .unwrap();
    }
    assert!(!ours.exists() && other.join("file").exists());
    fs::remove_dir_all(folder).unwrap();
}

/// Source text is packed where it is asked for and everybody may read it, and never what a hostile `#line` names.
#[test]
fn a_bundle_takes_source_text_that_everybody_may_read() {
    let folder = folder("source");
    let (secret, public) = (folder.join("secret"), folder.join("public.c"));
    fs::write(&secret, "the secret\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let program = folder.join("program");
    for (named, is_packed) in [(&secret, false), (&public, true)] {
        let text = format!(
            "#line 1 \"{}\"\nint main(void) {{ return 0; }}\n",
            named.display()
        );
        if named == &public {
            fs::write(&public, &text).unwrap();
            fs::set_permissions(&public, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let input = folder.join("input.c");
        fs::write(&input, text).unwrap();
        let compiled = Command::new("cc")
            .args(["-g", "-o"])
            .arg(&program)
            .arg(&input)
            .status();
        if !compiled.is_ok_and(|status| status.success()) {
            eprintln!("skipped: there is no C compiler");
            return;
        }
        record(&folder, &program, 1);
        let name = named.to_str().unwrap();
        let without = stdout(&run(&folder, &["bundle", "-o", "x"]));
        assert!(
            without.contains(program.to_str().unwrap()) && !without.contains(name),
            "{without}"
        );
        let with = run(&folder, &["bundle", "--source", "-o", "x"]);
        let lets_in = folder
            .ancestors()
            .all(|folder| fs::metadata(folder).unwrap().mode() & 1 != 0);
        if !is_packed {
            let said = String::from_utf8_lossy(&with.stderr).into_owned();
            assert!(
                said.contains(&format!("{name}: not everybody may read it")),
                "{said}"
            );
        }
        if lets_in || !is_packed {
            assert_eq!(stdout(&with).contains(name), is_packed, "{}", stdout(&with));
        }
        let held = zstd::decode_all(fs::File::open(folder.join("x")).unwrap()).unwrap();
        assert!(!held.windows(10).any(|part| part == b"the secret"));
    }
    fs::remove_dir_all(folder).unwrap();
}
