//! Recordings in a directory with a copy of the kernel: its names come from there.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use oxperf_testkit::Recording;

use crate::support::scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
/// A sample at the kernel's second function.
const TEXT: &str = "event cpu-clock sample=IP|TID|TIME|PERIOD flags=sample_id_all\n\
    mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000000@0xffffffff81000000 [kernel.kallsyms]_text\n\
    comm pid=1 tid=1 x\n\
    sample mode=kernel ip=0xffffffff81001004 pid=1 tid=1 time=1 period=10\n";

/// A folder with a recording in a directory, whose kernel's function has the name `copied`, and a list that calls it `given`.
struct Recorded(PathBuf);

impl Recorded {
    fn new(test: &str) -> Recorded {
        let folder = scratch(module_path!()).join("kernel-copy").join(test);
        let copy = folder.join("perf.data/kcore_dir");
        fs::create_dir_all(&copy).unwrap();
        let data = Recording::parse(TEXT).unwrap().to_file();
        fs::write(folder.join("perf.data/data"), data).unwrap();
        let list = |name: &str| format!("ffffffff81000000 T _text\nffffffff81001000 t {name}\n");
        fs::write(copy.join("kallsyms"), list("copied")).unwrap();
        fs::write(folder.join("kallsyms"), list("given")).unwrap();
        Recorded(folder)
    }

    /// The symbol of the sample in the words of a command.
    fn symbol(&self, words: &[&str]) -> String {
        let output = Command::new(PROGRAM)
            .args(words)
            .current_dir(&self.0)
            .env("HOME", "/nonexistent")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_whitespace().last().unwrap().to_owned()
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn names_of_the_kernel_come_from_its_copy() {
    let recorded = Recorded::new("names");
    for words in [
        &["script", "-F", "ip,sym"][..],
        &["script", "-F", "ip,sym", "-i", "perf.data"],
        &["report", "--stdio", "-q", "-s", "sym"],
    ] {
        assert_eq!(recorded.symbol(words), "copied", "{words:?}");
    }
}

#[test]
fn a_list_that_the_user_names_goes_before_the_copy() {
    let recorded = Recorded::new("given");
    let words = ["script", "-F", "ip,sym", "--kallsyms", "kallsyms"];
    assert_eq!(recorded.symbol(&words), "given");
}

#[test]
fn a_copy_without_a_list_is_as_none() {
    let recorded = Recorded::new("none");
    let list = recorded.0.join("perf.data/kcore_dir/kallsyms");
    fs::remove_file(&list).unwrap();
    fs::create_dir(&list).unwrap();
    let words = ["script", "-F", "ip,sym"];
    assert_ne!(recorded.symbol(&words), "copied");
}
