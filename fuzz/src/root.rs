//! Folders that targets work in.

use std::path::PathBuf;
use std::sync::OnceLock;

use oxperf_testkit::Image;

/// A program that the recordings in the tests run through, in testkit's notation.
pub const PROGRAM: &str = include_str!("../../crates/cli/tests/golden/pt-calls/bin/p.elf.txt");

/// A folder of this process, made once.
pub fn scratch() -> &'static PathBuf {
    static SCRATCH: OnceLock<PathBuf> = OnceLock::new();
    SCRATCH.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("oxperf-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder of one's own");
        folder
    })
}

/// A folder that stands for `/`, with [`PROGRAM`] as `/bin/p`; made once.
pub fn symfs() -> &'static PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = scratch().join("root");
        std::fs::create_dir_all(root.join("bin")).expect("a folder for the program");
        let image = Image::parse(PROGRAM).expect("the program");
        std::fs::write(root.join("bin/p"), image.to_file()).expect("a file for the program");
        root
    })
}
