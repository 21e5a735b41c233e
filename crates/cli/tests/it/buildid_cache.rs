//! `buildid-cache`: copies of a kernel's memory, and files of processes in containers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::scratch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_oxperf");
const CODE: u64 = 0xffff_ffff_8100_0000;
const ID: [u8; 20] = [0x5a; 20];

/// A folder for one test, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let path = scratch(module_path!()).join("buildid-cache").join(test);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Runs the command over a cache in here; gives what it says beside its output.
    fn run(&self, options: &[&str]) -> String {
        let output = Command::new(PROGRAM)
            .arg("--buildid-dir")
            .arg(self.0.join("cache"))
            .args(["buildid-cache", "-v"])
            .args(options)
            .current_dir(&self.0)
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// The memory of a machine whose kernel has one page of code: a core file.
fn kcore() -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    file.extend([4u16, 62].map(u16::to_le_bytes).concat());
    file.extend(1u32.to_le_bytes());
    file.extend([0u64, 64, 0].map(u64::to_le_bytes).concat());
    file.extend(0u32.to_le_bytes());
    file.extend([64u16, 56, 1, 0, 0, 0].map(u16::to_le_bytes).concat());
    file.extend([1u32, 7].map(u32::to_le_bytes).concat());
    file.extend(
        [4096, CODE, 0, 8192, 8192, 4096]
            .map(u64::to_le_bytes)
            .concat(),
    );
    file.resize(4096 + 8192, 0x90);
    file
}

#[test]
fn a_kernel_s_code_is_kept_once_with_its_lists() {
    let folder = Folder::new("kcore");
    let (proc, sys) = (folder.0.join("proc"), folder.0.join("sys/kernel"));
    fs::create_dir_all(&proc).unwrap();
    fs::create_dir_all(&sys).unwrap();
    fs::write(proc.join("kcore"), kcore()).unwrap();
    fs::write(
        proc.join("kallsyms"),
        format!("{CODE:x} T _stext\n{:x} T _etext\n", CODE + 0x800),
    )
    .unwrap();
    fs::write(proc.join("modules"), "").unwrap();
    let header = [4u32, 20, 3].map(u32::to_le_bytes).concat();
    fs::write(sys.join("notes"), [&header[..], b"GNU\0", &ID].concat()).unwrap();

    assert!(
        folder
            .run(&["-k", "proc/kcore"])
            .starts_with("kcore added to build-id cache directory ")
    );
    let kept = files_below(&folder.0.join("cache"));
    let below = folder.0.join("cache/[kernel.kcore]").join("5a".repeat(20));
    assert!(
        kept.len() == 3 && kept.iter().all(|path| path.starts_with(&below)),
        "{kept:?}"
    );
    let copy = kept.iter().find(|path| path.ends_with("kcore")).unwrap();
    assert_eq!(
        fs::metadata(copy).unwrap().len(),
        4096 + 4096,
        "headers and the page of code"
    );

    assert!(
        folder
            .run(&["-k", "proc/kcore"])
            .starts_with("same kcore found in ")
    );
    std::thread::sleep(std::time::Duration::from_millis(20));
    assert!(
        folder
            .run(&["-f", "-k", "proc/kcore"])
            .starts_with("kcore added ")
    );
    assert_eq!(files_below(&folder.0.join("cache")).len(), 6);

    fs::write(sys.join("notes"), "").unwrap();
    assert!(
        folder
            .run(&["-k", "proc/kcore"])
            .contains("tells no build id")
    );
}

#[test]
fn files_come_from_the_root_of_a_process() {
    let folder = Folder::new("namespace");
    let process = std::process::id().to_string();
    let told = folder.run(&["--target-ns", &process, "-a", PROGRAM]);
    assert!(
        told.starts_with("Adding ") && told.ends_with(": Ok\n"),
        "{told}"
    );
    let kept = folder
        .0
        .join("cache")
        .join(PROGRAM.strip_prefix('/').unwrap());
    assert_eq!(
        files_below(&kept)
            .iter()
            .filter(|path| path.ends_with("elf"))
            .count(),
        1
    );
    let told = folder.run(&["--target-ns", &process, "-r", PROGRAM]);
    assert!(
        told.starts_with("Removing ") && told.ends_with(": Ok\n"),
        "{told}"
    );
    assert_eq!(files_below(&kept), <[PathBuf; 0]>::default());
    // No process has this number.
    assert!(
        !folder
            .run(&["--target-ns", "4294967295", "-a", PROGRAM])
            .ends_with(": Ok\n")
    );
}
