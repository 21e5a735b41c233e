//! A made-up `/proc` and `/sys` in, records as text out.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use oxperf_abi::{EventAttr, Misc, RecordType};
use oxperf_wire::kernel::{Cgroup, Comm, FileIdentity, Mmap, Mmap2, Namespaces, TaskEvent};
use oxperf_wire::{Cursor, Endian, RecordHeader};

use super::*;

/// Files in a folder that goes away with it.
struct FakeRoot(PathBuf);

impl FakeRoot {
    fn new(files: &[(&str, &str)]) -> FakeRoot {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "oxperf-synthesize-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        FakeRoot(root)
    }

    /// The records that `write` makes of this root.
    fn records(
        &self,
        build_ids: bool,
        write: impl Fn(&Synthesizer<'_>, &mut RecordSink),
    ) -> String {
        let trailer = Trailer::of(&EventAttr::default());
        let read = |path: &Path| {
            let named = |end: &[u8], byte| {
                path.as_os_str()
                    .as_bytes()
                    .ends_with(end)
                    .then(|| BuildId::new(&[byte; 20]))
                    .flatten()
            };
            named(b"/1/root/bin/sh", 0xab).or_else(|| named(b"/3/map_files/a000-b000", 0xcd))
        };
        let synthesizer = Synthesizer::new(
            &self.0,
            trailer,
            build_ids.then_some(&read as BuildIdReader<'_>),
        );
        let mut sink = RecordSink::new(trailer);
        write(&synthesizer, &mut sink);
        text(sink.as_bytes())
    }
}

impl Drop for FakeRoot {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(mut bytes: &[u8]) -> String {
    let mut lines = Vec::new();
    while !bytes.is_empty() {
        let mut cursor = Cursor::new(bytes, Endian::NATIVE);
        let header = RecordHeader::decode(&mut cursor).unwrap();
        lines.push(line(header.kind, header.misc, &mut cursor));
        bytes = &bytes[header.size as usize..];
    }
    lines.join("\n")
}

fn line(kind: RecordType, misc: Misc, cursor: &mut Cursor<'_>) -> String {
    match kind {
        RecordType::FORK => {
            let task = TaskEvent::decode(cursor).unwrap();
            format!(
                "fork {}/{} of {}/{} misc {:#x}",
                task.pid, task.tid, task.ppid, task.ptid, misc.0
            )
        }
        RecordType::COMM => {
            let comm = Comm::decode(cursor).unwrap();
            format!(
                "comm {}/{} {}",
                comm.pid,
                comm.tid,
                String::from_utf8_lossy(comm.comm)
            )
        }
        RecordType::MMAP => {
            let map = Mmap::decode(cursor).unwrap();
            let name = String::from_utf8_lossy(map.filename);
            format!("map {} {:#x}+{:#x} {name}", map.pid, map.start, map.len)
        }
        RecordType::NAMESPACES => {
            let namespaces = Namespaces::decode(cursor).unwrap();
            let known = namespaces.links().filter(|link| link.inode != 0).count();
            format!("namespaces {}/{} {known}", namespaces.pid, namespaces.tid)
        }
        RecordType::CGROUP => {
            let cgroup = Cgroup::decode(cursor).unwrap();
            let is_known = cgroup.id != 0;
            format!("cgroup {is_known} {}", String::from_utf8_lossy(cgroup.path))
        }
        RecordType::MMAP2 => {
            let map = Mmap2::decode(misc, cursor).unwrap();
            let identity = match map.identity {
                FileIdentity::BuildId(id) => {
                    id.map_or("none".to_owned(), |id| id.to_string()[..4].to_owned())
                }
                FileIdentity::Inode {
                    major,
                    minor,
                    inode,
                    ..
                } => format!("{major:x}:{minor:x} {inode}"),
            };
            let name = String::from_utf8_lossy(map.filename);
            format!(
                "map {} {:#x}+{:#x} @{:#x} <{identity}> prot {} flags {} mode {} {name}",
                map.pid,
                map.start,
                map.len,
                map.pgoff,
                map.prot,
                map.flags,
                misc.0 & 7
            )
        }
        other => format!("{other:?}"),
    }
}

const STATUS: &str = "Name:\tsh\nTgid:\t1\nPid:\t1\nPPid:\t0\n";
const THREAD: &str = "Name:\tworker with a long name\nTgid:\t1\nPid:\t2\nPPid:\t0\n";
const MAPS: &str = "\
1000-2000 r--p 00000000 08:01 7 /bin/sh
2000-4000 r-xp 00001000 08:01 7 /bin/sh
5000-6000 rwxp 00000000 00:00 0
7000-8000 r-xp 00000000 00:00 0 [vdso]
";

fn two_threads() -> FakeRoot {
    FakeRoot::new(&[
        ("proc/1/status", STATUS),
        ("proc/1/maps", MAPS),
        ("proc/1/task/1/status", STATUS),
        ("proc/1/task/2/status", THREAD),
        ("proc/2/status", THREAD),
        (
            "proc/30/task/30/status",
            "gone before its status could be read",
        ),
        ("proc/not-a-process/status", STATUS),
    ])
}

#[test]
fn every_task_is_written_with_what_it_can_execute() {
    let expected = "\
fork 1/1 of 0/0 misc 0x2000
comm 1/1 sh
map 1 0x2000+0x2000 @0x1000 <8:1 7> prot 5 flags 2 mode 2 /bin/sh
map 1 0x5000+0x1000 @0x0 <0:0 0> prot 7 flags 2 mode 2 //anon
map 1 0x7000+0x1000 @0x0 <0:0 0> prot 5 flags 2 mode 2 [vdso]
fork 1/2 of 1/1 misc 0x2000
comm 1/2 worker with a l";
    assert_eq!(
        two_threads().records(false, |synthesizer, sink| synthesizer.all_tasks(sink)),
        expected
    );
}

#[test]
fn a_deleted_file_is_known_by_what_is_mapped() {
    let root = FakeRoot::new(&[
        ("proc/3/status", "Name:\tx\nTgid:\t3\nPid:\t3\nPPid:\t0\n"),
        (
            "proc/3/maps",
            "a000-b000 r-xp 00000000 08:01 9 /bin/x (deleted)\n",
        ),
        (
            "proc/3/task/3/status",
            "Name:\tx\nTgid:\t3\nPid:\t3\nPPid:\t0\n",
        ),
    ]);
    let written = root.records(true, |synthesizer, sink| {
        synthesizer.threads(&[Tid(3)], sink)
    });
    assert!(
        written.contains("@0x0 <cdcd> prot 5 flags 2 mode 2 /bin/x (deleted)"),
        "{written}"
    );
}

#[test]
fn named_threads_bring_their_process_along() {
    let expected = "\
comm 1/1 sh
map 1 0x2000+0x2000 @0x1000 <abab> prot 5 flags 2 mode 2 /bin/sh
map 1 0x5000+0x1000 @0x0 <0:0 0> prot 7 flags 2 mode 2 //anon
map 1 0x7000+0x1000 @0x0 <0:0 0> prot 5 flags 2 mode 2 [vdso]
comm 1/2 worker with a l";
    let threads = [Tid(2), Tid(1), Tid(999)];
    assert_eq!(
        two_threads().records(true, |synthesizer, sink| synthesizer
            .threads(&threads, sink)),
        expected
    );
}

#[test]
fn kernel_and_modules() {
    let notes = "\u{4}\0\0\0\u{4}\0\0\0\u{3}\0\0\0GNU\0\u{1}\u{2}\u{3}\u{4}";
    let fake = FakeRoot::new(&[
        (
            "proc/kallsyms",
            "ffffffff81000000 T _text\nffffffff82000000 T _etext\nffffffffc0000000 t x [ext4]\n",
        ),
        ("proc/modules", "ext4 4096 0 - Live 0xffffffffc0000000\n"),
        ("sys/kernel/notes", notes),
    ]);
    let expected = "\
map -1 0xffffffff81000000+0x1000000 @0xffffffff81000000 <0102> prot 0 flags 0 mode 1 [kernel.kallsyms]_text
map -1 0xffffffffc0000000+0x1000 @0x0 <0:0 0> prot 0 flags 0 mode 1 [ext4]";
    let written = fake.records(true, |synthesizer, sink| synthesizer.kernel(sink).unwrap());
    assert_eq!(written, expected);
}

#[test]
fn a_hidden_kernel_leaves_no_record() {
    let fake = FakeRoot::new(&[("proc/kallsyms", "0000000000000000 T _text\n")]);
    let written = fake.records(false, |synthesizer, sink| {
        assert!(matches!(
            synthesizer.kernel(sink),
            Err(KernelMapError::Hidden)
        ));
    });
    assert_eq!(written, "");
}

#[test]
fn what_is_wanted_of_tasks_is_written() {
    let maps = "1000-2000 r-xp 00000000 08:01 9 /bin/x\n3000-4000 rw-p 00000000 08:01 9 /bin/x\n\
                5000-6000 ---p 00000000 00:00 0 \n";
    let root = FakeRoot::new(&[
        ("proc/3/status", "Name:\tx\nTgid:\t3\nPid:\t3\nPPid:\t0\n"),
        ("proc/3/maps", maps),
        ("proc/3/ns/net", ""),
        ("proc/3/ns/mnt", ""),
    ]);
    let written = |content: TaskContent| {
        root.records(false, |synthesizer, sink| {
            let plain = Synthesizer::new(&root.0, Trailer::default(), None).with(content);
            assert_eq!(plain.proc(), synthesizer.proc());
            plain.threads(&[Tid(3)], sink);
        })
    };
    let kinds = |text: String| {
        let words = text.lines().filter_map(|line| line.split(' ').next());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let usual = TaskContent::default();
    assert_eq!(kinds(written(usual)), ["comm", "map"]);
    let everything = TaskContent {
        data_mappings: true,
        namespaces: true,
        ..usual
    };
    let text = written(everything);
    assert!(text.starts_with("namespaces 3/3 2\ncomm 3/3 x\n"), "{text}");
    assert_eq!(kinds(text), ["namespaces", "comm", "map", "map"]);
    let names = TaskContent {
        mappings: false,
        ..usual
    };
    assert_eq!(kinds(written(names)), ["comm"]);
    let in_no_time = TaskContent {
        maps_time: Some(Duration::ZERO),
        ..usual
    };
    assert_eq!(kinds(written(in_no_time)), ["comm"]);
}

#[test]
fn control_groups_are_written_with_their_ids() {
    let root = FakeRoot::new(&[("groups/a/b/x", "")]);
    fs::create_dir_all(root.0.join("proc")).unwrap();
    let mounts = format!(
        "cgroup2 {} cgroup2 rw 0 0\n",
        root.0.join("groups").display()
    );
    fs::write(root.0.join("proc/mounts"), mounts).unwrap();
    let written = root.records(false, |synthesizer, sink| synthesizer.cgroups(sink));
    assert_eq!(written, "cgroup true /\ncgroup true /a\ncgroup true /a/b");
}

#[test]
fn a_kernel_without_build_ids_is_a_plain_mapping() {
    let symbols = "ffffffff81000000 T _text\nffffffff81800000 D _edata\n";
    let root = FakeRoot::new(&[("proc/kallsyms", symbols)]);
    let written = root.records(false, |synthesizer, sink| synthesizer.kernel(sink).unwrap());
    assert_eq!(
        written,
        "map -1 0xffffffff81000000+0x800000 [kernel.kallsyms]_text"
    );
}
