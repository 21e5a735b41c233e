//! Kernel modules: names, source lines and code from their files, which the kernel's loader would have linked.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use oxperf_testkit::Recording;

use crate::support::scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
const MODULE: &[u8] = include_bytes!("../modules/tiny.ko");
/// Address of the module.
const BASE: u64 = 0xffff_ffff_c020_1000;

/// A folder with a machine's files, a list of its kernel's symbols, and a recording of samples in the module.
struct Machine {
    folder: PathBuf,
}

impl Machine {
    /// The module's file has this name, and these bytes; the kernel's list ends with these lines.
    fn new(test: &str, (name, bytes): (&str, &[u8]), listed: &str) -> Machine {
        let folder = scratch(module_path!()).join("modules").join(test);
        fs::create_dir_all(folder.join("root/lib/modules/6.1/extra")).unwrap();
        fs::write(folder.join("root/lib/modules/6.1/extra").join(name), bytes).unwrap();
        let list = format!("ffffffff81000000 T _text\nffffffff81001000 t schedule\n{listed}");
        fs::write(folder.join("kallsyms"), list).unwrap();
        let samples: String = [0x10, 0x16, 0x16, 0x31, 0x4e]
            .map(|offset| {
                format!(
                    "sample mode=kernel ip={:#x} pid=1 tid=1 time=1 period=10\n",
                    BASE + offset
                )
            })
            .concat();
        let text = format!(
            "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
             mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000000@0xffffffff81000000 [kernel.kallsyms]_text\n\
             mmap mode=kernel pid=-1 tid=0 {BASE:#x}+0x3000@0 /lib/modules/6.1/extra/{name}\n\
             comm pid=1 tid=1 x\n{samples}"
        );
        fs::write(
            folder.join("perf.data"),
            Recording::parse(&text).unwrap().to_file(),
        )
        .unwrap();
        Machine { folder }
    }

    fn run(&self, command: &str, options: &[&str]) -> String {
        let at = |name: &str| self.folder.join(name);
        let output = Command::new(PROGRAM)
            .arg(command)
            .args([
                Path::new("-i"),
                &at("perf.data"),
                Path::new("--kallsyms"),
                &at("kallsyms"),
            ])
            .args([Path::new("--symfs"), &at("root")])
            .args(options)
            .env("HOME", "/nonexistent")
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Symbols with offsets, and source lines.
    fn places(&self) -> Vec<String> {
        let text = self.run("script", &["-F", "ip,sym,symoff,srcline"]);
        text.lines()
            .filter_map(|line| Some(line.split_whitespace().last()?.to_owned()))
            .collect()
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

const PLACES: [&str; 10] = [
    "tiny_helper+0x10",
    "tiny.c:14",
    "tiny_helper+0x16",
    "tiny.c:13",
    "tiny_helper+0x16",
    "tiny.c:13",
    "tiny_work+0x1",
    "tiny.c:20",
    "tiny_trouble+0x1",
    "tiny.c:28",
];

#[test]
fn a_module_has_names_and_lines_from_its_file() {
    assert_eq!(
        Machine::new("plain", ("tiny.ko", MODULE), "").places(),
        PLACES
    );
}

#[test]
fn compressed_modules_are_read_as_others() {
    let packed = [("tiny.ko.xz", &include_bytes!("../modules/tiny.ko.xz")[..])];
    let zstd = zstd::bulk::compress(MODULE, 3).unwrap();
    for (name, bytes) in packed.into_iter().chain([("tiny.ko.zst", &zstd[..])]) {
        assert_eq!(
            Machine::new("packed", (name, bytes), "").places(),
            PLACES,
            "{name}"
        );
    }
}

#[test]
fn the_kernel_s_list_says_where_code_was_if_the_loader_put_its_own_before() {
    let listed = "ffffffffc0201040 t tiny_work\t[tiny]\nffffffffc020105d t tiny_trouble\t[tiny]\n";
    let places = Machine::new("listed", ("tiny.ko", MODULE), listed).places();
    assert_eq!(places[8..], ["tiny_work+0xe", "tiny.c:20"]);
}

#[test]
fn code_of_a_module_is_shown_with_its_source_and_the_names_of_what_it_calls() {
    let machine = Machine::new("code", ("tiny.ko", MODULE), "");
    let text = machine.run("annotate", &["--stdio", "tiny_work"]);
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for expected in [
        "100.00 : 31: call 0 <tiny_helper>",
        "0.00 : 4b: jmp 0 <tiny_helper>",
    ] {
        assert!(
            lines.iter().any(|line| line == expected),
            "{expected}: {text}"
        );
    }
}

#[test]
fn every_cut_of_a_module_is_survived() {
    for end in (0..MODULE.len()).step_by(397) {
        let places = Machine::new("cut", ("tiny.ko", &MODULE[..end]), "").places();
        assert_eq!(places.len(), PLACES.len(), "cut at {end}");
    }
}
