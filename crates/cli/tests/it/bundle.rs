//! Bundles and archives: what they hold is enough on another machine, and nothing in them leads out of its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use oxperf_tar::{ArchiveReader, ArchiveWriter};
use oxperf_testkit::Recording;

use crate::support::{function, scratch, stdout};

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
/// Address at which the recording has the program's file mapped.
const BASE: u64 = 0x10_0000_0000;

fn folder(name: &str) -> PathBuf {
    let folder = scratch(module_path!()).join("bundle").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("tmp")).unwrap();
    folder
}

/// Runs in `folder`, with a home and a folder for temporary files there.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let command = Command::new(PROGRAM)
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("TMPDIR", folder.join("tmp"))
        .output();
    command.unwrap()
}

/// A recording with a sample in `main` of a program that lies in the folder.
fn record(folder: &Path) -> PathBuf {
    let program = folder.join("program");
    fs::copy(PROGRAM, &program).unwrap();
    let text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
         comm pid=1 tid=1 x\n\
         mmap2 mode=user pid=1 tid=1 {BASE:#x}+0x40000000@0 prot=5 flags=2 {}\n\
         sample mode=user ip={:#x} pid=1 tid=1 time=1 period=10\n",
        program.display(),
        BASE + function(PROGRAM.as_ref(), "main").start,
    );
    fs::write(
        folder.join("perf.data"),
        Recording::parse(&text).unwrap().to_file(),
    )
    .unwrap();
    program
}

#[test]
fn a_bundle_names_what_is_gone_here() {
    let folder = folder("names");
    let program = record(&folder);
    let made = run(&folder, &["bundle", "-o", "x.tar.zst"]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let size = fs::metadata(folder.join("x.tar.zst")).unwrap().len();
    run(&folder, &["bundle", "-o", "x.tar.zst"]);
    let again = fs::metadata(folder.join("x.tar.zst")).unwrap().len();
    assert_eq!(size, again, "an output that exists is no input");
    fs::remove_file(program).unwrap();
    let fields = ["script", "-F", "ip,sym", "-i"];
    let without = stdout(&run(&folder, &[&fields[..], &["perf.data"]].concat()));
    assert!(without.contains("[unknown]"), "{without}");
    let with = stdout(&run(&folder, &[&fields[..], &["x.tar.zst"]].concat()));
    assert!(with.trim_end().ends_with("main"), "{with}");
    let annotated = stdout(&run(
        &folder,
        &["annotate", "--stdio", "-ix.tar.zst", "main"],
    ));
    assert!(annotated.contains("  100.00 :   "), "{annotated}");
    assert_eq!(
        fs::read_dir(folder.join("tmp")).unwrap().count(),
        0,
        "what was unpacked is gone"
    );
}

/// A log of a function at 0x1000 whose code from 0x1008 on comes from line 12.
fn jit_log() -> Vec<u8> {
    let words = |list: &[u32]| {
        list.iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let longs = |list: &[u64]| {
        list.iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let entry = |address: u64, line: u32, file: &[u8]| {
        [longs(&[address]), words(&[line, 0]), file.to_vec()].concat()
    };
    let lines = [
        longs(&[0x1000, 2]),
        entry(0x1000, 10, b"/src/hot.js\0"),
        entry(0x1008, 12, b"\xff\0"),
    ]
    .concat();
    let code = [
        words(&[7, 7]),
        longs(&[0x1000, 0x1000, 0x20, 1]),
        b"hot\0".to_vec(),
    ]
    .concat();
    let record =
        |kind: u32, body: &[u8]| [&words(&[kind, 16 + body.len() as u32, 5, 0])[..], body].concat();
    let header = [words(&[0x4a69_5444, 1, 40, 62, 0, 7]), longs(&[0, 0])].concat();
    [header, record(2, &lines), record(0, &code)].concat()
}

#[test]
fn source_lines_of_code_made_at_run_time_come_along() {
    let folder = folder("jit");
    let log = folder.join("jit-7.dump");
    fs::write(&log, jit_log()).unwrap();
    let text = format!(
        "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all|use_clockid clockid=1\n\
         comm pid=7 tid=7 x | time=1\n\
         mmap2 mode=user pid=7 tid=7 0x1000+0x1000@0 prot=5 flags=34 //anon | time=1\n\
         mmap2 mode=user pid=7 tid=7 0x9000+0x1000@0 prot=5 flags=2 {} | time=2\n\
         sample mode=user ip=0x100a pid=7 tid=7 time=10 period=1\n",
        log.display(),
    );
    fs::write(
        folder.join("perf.data"),
        Recording::parse(&text).unwrap().to_file(),
    )
    .unwrap();
    assert!(
        run(&folder, &["bundle", "-o", "x.tar.zst"])
            .status
            .success()
    );
    let lines = |input: &str| {
        stdout(&run(
            &folder,
            &["report", "--stdio", "-s", "sym,srcline", "-q", "-i", input],
        ))
    };
    let here = lines("perf.data");
    assert_eq!(here.trim(), "100.00%  [.] hot  hot.js:12");
    fs::remove_file(log).unwrap();
    assert_eq!(lines("x.tar.zst"), here);
}

/// A directory, as of `record --threads`, with a folder and a link in it.
#[test]
fn a_directory_is_bundled_with_all_its_files() {
    let folder = folder("directory");
    let program = record(&folder);
    fs::rename(folder.join("perf.data"), folder.join("data")).unwrap();
    fs::create_dir_all(folder.join("perf.data/kcore_dir")).unwrap();
    fs::rename(folder.join("data"), folder.join("perf.data/data")).unwrap();
    fs::write(folder.join("perf.data/kcore_dir/modules"), "").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", folder.join("perf.data/link")).unwrap();
    let made = run(&folder, &["bundle", "-o", "x.tar.zst"]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    fs::remove_dir_all(folder.join("perf.data")).unwrap();
    fs::remove_file(program).unwrap();
    let text = stdout(&run(
        &folder,
        &["script", "-F", "ip,sym", "-i", "x.tar.zst"],
    ));
    assert!(text.trim_end().ends_with("main"), "{text}");
    let mut archive = ArchiveReader::new(
        zstd::Decoder::new(fs::File::open(folder.join("x.tar.zst")).unwrap()).unwrap(),
    );
    let mut names = Vec::new();
    while let Some(entry) = archive.next_entry().unwrap() {
        names.push(entry.path.display().to_string());
    }
    names.retain(|name| name.starts_with("perf.data"));
    assert_eq!(names, ["perf.data/data", "perf.data/kcore_dir/modules"]);
}

fn packed(entries: &[(&str, &str)], links: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = ArchiveWriter::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
    for (name, text) in entries {
        writer
            .file(name, text.len() as u64, 0, &mut text.as_bytes())
            .unwrap();
    }
    for (name, target) in links {
        writer.link(name, target).unwrap();
    }
    writer.finish().unwrap().finish().unwrap()
}

#[test]
fn a_hostile_bundle_writes_nothing_outside() {
    let folder = folder("hostile");
    for name in ["../../evil", "/evil", "root/../../../evil"] {
        fs::write(
            folder.join("x"),
            packed(&[("oxperf-bundle", "1\n"), (name, "evil")], &[]),
        )
        .unwrap();
        let read = run(&folder, &["report", "-i", "x"]);
        assert_eq!(read.status.code(), Some(255), "{name}");
        assert!(String::from_utf8_lossy(&read.stderr).contains("leads out of the archive"));
    }
    let files: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(files.len(), 2, "{files:?}");
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
    // A link is not made, so nothing can be written through it.
    let bytes = packed(
        &[("oxperf-bundle", "1\n"), ("perf.data", "no recording")],
        &[("root/l", "../kallsyms")],
    );
    fs::write(folder.join("x"), bytes).unwrap();
    assert_eq!(
        run(&folder, &["report", "-i", "x"]).status.code(),
        Some(255)
    );
}

/// A few kilobytes that claim to hold sixty-five megabytes.
#[test]
fn what_holds_too_much_for_its_size_is_refused() {
    let folder = folder("bomb");
    let zeros = "0".repeat(65 << 20);
    let elf = format!("usr/bin/x/{}/elf", "ab".repeat(20));
    fs::write(
        folder.join("x"),
        packed(&[("oxperf-bundle", "1\n"), ("perf.data", &zeros)], &[]),
    )
    .unwrap();
    fs::write(folder.join("a.tar.zst"), packed(&[(&elf, &zeros)], &[])).unwrap();
    for words in [
        &["report", "-i", "x"][..],
        &["archive", "--unpack", "a.tar.zst"],
    ] {
        let refused = run(&folder, words);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(255), "{words:?}: {said}");
        assert!(
            said.contains("it holds more than 200 times its own size"),
            "{words:?}: {said}"
        );
    }
    assert_eq!(fs::read_dir(folder.join("tmp")).unwrap().count(), 0);
    assert!(
        !folder.join(".debug").join(elf).exists(),
        "half a file is none"
    );
}

#[test]
fn an_archive_goes_into_the_cache_and_nowhere_else() {
    let folder = folder("archive");
    let id = "ab".repeat(20);
    let elf = format!("usr/bin/x/{id}/elf");
    let bytes = packed(
        &[
            (&elf, "code"),
            ("other/file", "x"),
            (&format!("{id}/elf"), "y"),
        ],
        &[],
    );
    fs::write(folder.join("a.tar.zst"), bytes).unwrap();
    let unpacked = run(&folder, &["archive", "--unpack", "a.tar.zst"]);
    assert!(
        unpacked.status.success(),
        "{}",
        String::from_utf8_lossy(&unpacked.stderr)
    );
    assert_eq!(
        fs::read_to_string(folder.join(".debug").join(&elf)).unwrap(),
        "code"
    );
    assert!(!folder.join(".debug/other").exists());
    assert_eq!(
        stdout(&run(&folder, &["buildid-cache", "-l"])),
        format!("{id} /usr/bin/x\n")
    );

    let outside = folder.join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::remove_dir_all(folder.join(".debug")).unwrap();
    fs::create_dir_all(folder.join(".debug")).unwrap();
    std::os::unix::fs::symlink(&outside, folder.join(".debug/usr")).unwrap();
    let refused = run(&folder, &["archive", "--unpack", "a.tar.zst"]);
    assert_eq!(refused.status.code(), Some(255));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

/// perf's archives, with and without the recording; the only archive here needs no name.
#[test]
fn archives_of_perf_are_unpacked() {
    let archives = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives");
    let elf = ".debug/usr/bin/tool/00112233445566778899aabbccddeeff00112233/elf";
    for (name, has_recording) in [
        ("perf.data.tar.bz2", false),
        ("perf.all-host.tar.bz2", true),
    ] {
        let folder = folder("of-perf");
        fs::copy(archives.join(name), folder.join(name)).unwrap();
        let unpacked = run(&folder, &["archive", "--unpack"]);
        assert!(
            unpacked.status.success(),
            "{}",
            String::from_utf8_lossy(&unpacked.stderr)
        );
        assert_eq!(fs::read_to_string(folder.join(elf)).unwrap(), "a program\n");
        assert_eq!(folder.join("perf.data").exists(), has_recording);
        let listed = stdout(&run(&folder, &["buildid-cache", "-l"]));
        assert_eq!(
            listed,
            "00112233445566778899aabbccddeeff00112233 /usr/bin/tool\n"
        );
    }
}

#[test]
fn the_cache_is_where_perfs_configuration_says() {
    let folder = folder("configured");
    let cache = folder.join("elsewhere");
    let text = format!("[buildid]\n\tdir = {}\n", cache.display());
    fs::write(folder.join(".perfconfig"), text).unwrap();
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/archives/perf.data.tar.bz2");
    assert!(
        run(&folder, &["archive", "--unpack", archive.to_str().unwrap()])
            .status
            .success()
    );
    assert!(cache.join("usr/bin/tool").is_dir());
    assert!(!folder.join(".debug").exists());
}
