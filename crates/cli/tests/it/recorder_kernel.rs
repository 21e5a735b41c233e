//! `record --kcore`: what is refused, and that nothing is left where the kernel's code cannot be had.

use std::path::Path;

use crate::recorder::{Folder, OXPERF, said};

const RECORD: [&str; 5] = ["record", "-N", "-e", "task-clock", "--kcore"];

fn record(folder: &Folder, options: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(OXPERF, &[&RECORD, options, &["true"]].concat());
    (output.status.code(), said(&output))
}

#[test]
fn without_the_kernels_code_there_is_no_recording() {
    if Path::new("/proc/kcore").exists() {
        eprintln!("SKIPPED: this kernel has /proc/kcore");
        return;
    }
    let folder = Folder::new("kcore");
    let (code, said) = record(&folder, &["-o", "f.data"]);
    assert_eq!(code, Some(255), "{said}");
    assert!(
        said.contains("/proc/kcore") && said.contains("--kcore"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn a_copy_needs_a_directory_and_one_file() {
    let folder = Folder::new("kcore-words");
    for options in [&["-o", "-"][..], &["--switch-output=1M"]] {
        let (code, said) = record(&folder, options);
        assert_eq!(code, Some(234), "{options:?}: {said}");
        assert!(said.starts_with("--kcore "), "{options:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}
