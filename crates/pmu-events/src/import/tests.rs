//! Tables come in from folders and archives; nothing else does.

use super::*;
use crate::{EventTables, TableFolder};
use flate2::Compression;
use flate2::Crc;
use flate2::write::DeflateEncoder;
use std::io::Write;

const EVENT: &str = r#"[{"EventName": "A", "EventCode": "0x1"}]"#;

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("oxperf-import-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn file(path: &str, contents: &str) -> ImportedFile {
    ImportedFile {
        path: PathBuf::from(path),
        contents: contents.into(),
    }
}

fn kernel() -> Vec<ImportedFile> {
    vec![
        file("linux-7/tools/arch/x86/mapfile.csv", "\nx,1,one,core\n"),
        file("linux-7/tools/arch/x86/one/cache.json", EVENT),
        file("linux-7/tools/arch/x86/one/notes.txt", "no"),
        file("linux-7/tools/other.json", "[]"),
        file("../outside.json", "[]"),
    ]
}

fn imported(name: &str, files: Vec<ImportedFile>) -> (PathBuf, Result<ImportSummary, TablesError>) {
    let destination = scratch(name);
    let files = files.into_iter().map(Ok);
    let summary = import(Path::new("source"), files, &destination);
    (destination, summary)
}

fn terms(folder: &Path, cpu_id: &str) -> Option<String> {
    let tables = EventTables::of_cpu(cpu_id).with_folder(TableFolder::open(folder).unwrap());
    tables.event("cpu", "a").map(|event| event.terms.to_owned())
}

#[test]
fn the_kernels_tree() {
    let (destination, summary) = imported("kernel", kernel());
    let summary = summary.unwrap();
    assert_eq!(
        (summary.files, &summary.folder),
        (2, &destination.join("kernel"))
    );
    assert_eq!(terms(&summary.folder, "x").as_deref(), Some("event=1"));
    assert!(!summary.folder.join("x86/one/notes.txt").exists());
    assert!(!destination.join("../outside.json").exists());
    fs::remove_dir_all(destination).unwrap();
}

#[test]
fn perfmons_and_arms_files() {
    let perfmon = vec![
        file(
            "perfmon-main/mapfile.csv",
            "\nx,V1,/X/events/x_core.json,core,,,\n",
        ),
        file(
            "perfmon-main/X/events/x_core.json",
            &format!(r#"{{"Events": {EVENT}}}"#),
        ),
    ];
    let (destination, summary) = imported("perfmon", perfmon);
    let summary = summary.unwrap();
    assert!(summary.folder.ends_with("perfmon"));
    assert_eq!(terms(&summary.folder, "x").as_deref(), Some("event=1"));
    fs::remove_dir_all(destination).unwrap();

    let arm = vec![
        file("data-main/cpus.json", "{}"),
        file(
            "data-main/pmu/n1.json",
            r#"{"cpuid": "0x41d0c", "events": [{"name": "A", "code": 3}]}"#,
        ),
    ];
    let (destination, summary) = imported("arm", arm);
    let summary = summary.unwrap();
    assert_eq!(
        terms(&summary.folder, "0x00000000413fd0c1").as_deref(),
        Some("event=3")
    );
    fs::remove_dir_all(destination).unwrap();
}

#[test]
fn an_import_replaces_the_one_before_and_a_failed_one_does_not() {
    let (destination, summary) = imported("twice", kernel());
    summary.unwrap();
    let again = vec![
        file("arch/x86/mapfile.csv", "\nx,1,two,core\n"),
        file("arch/x86/two/cache.json", EVENT),
    ];
    let nothing = import(
        Path::new("source"),
        [Ok(file("a.json", "[]"))],
        &destination,
    );
    assert!(matches!(nothing, Err(TablesError::NoTables { .. })));
    assert!(destination.join("kernel/x86/one").exists());
    import(Path::new("source"), again.into_iter().map(Ok), &destination).unwrap();
    assert!(!destination.join("kernel/x86/one").exists());
    assert!(destination.join("kernel/x86/two").exists());
    fs::remove_dir_all(destination).unwrap();
}

#[test]
fn a_folder_gives_its_tables() {
    let folder = scratch("folder");
    for file in kernel().iter().filter(|file| !file.path.starts_with("..")) {
        write(&folder.join(&file.path), &file.contents).unwrap();
    }
    let files: Result<Vec<_>, _> = files_of_folder(&folder).collect();
    assert_eq!(files.unwrap().len(), 3);
    assert!(files_of_folder(&folder.join("none")).any(|file| file.is_err()));
    fs::remove_dir_all(folder).unwrap();
}

/// A zip archive; every second file is deflated.
fn zip(files: &[ImportedFile]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (index, file) in files.iter().enumerate() {
        let deflated = index % 2 == 1;
        let packed = if deflated {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&file.contents).unwrap();
            encoder.finish().unwrap()
        } else {
            file.contents.clone()
        };
        let mut crc = Crc::new();
        crc.update(&file.contents);
        let name = file.path.to_str().unwrap().as_bytes();
        let mut common = vec![20, 0, 0, 0, if deflated { 8 } else { 0 }, 0, 0, 0, 0, 0];
        common.extend(crc.sum().to_le_bytes());
        common.extend((packed.len() as u32).to_le_bytes());
        common.extend((file.contents.len() as u32).to_le_bytes());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        directory.extend(*b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend((archive.len() as u32).to_le_bytes());
        directory.extend(name);
        archive.extend(*b"PK\x03\x04");
        archive.extend(&common);
        archive.extend(name);
        archive.extend(packed);
    }
    let start = archive.len() as u32;
    archive.extend(&directory);
    archive.extend(*b"PK\x05\x06\0\0\0\0");
    archive.extend([(files.len() as u16).to_le_bytes(); 2].concat());
    archive.extend((directory.len() as u32).to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend(*b"\x02\0hi");
    archive
}

#[test]
fn a_zip_archive_gives_its_tables() {
    let archive = zip(&kernel());
    let files: Result<Vec<_>, _> = files_of_zip(Path::new("a.zip"), &archive).collect();
    let files = files.unwrap();
    assert_eq!(files[..2], kernel()[..2]);
    assert_eq!(files.len(), 4, "the text file is left out");
}

#[test]
fn damaged_archives_are_faults() {
    let archive = zip(&kernel());
    let source = Path::new("a.zip");
    for length in 0..archive.len() - 4 {
        let cut: Result<Vec<_>, _> = files_of_zip(source, &archive[..length]).collect();
        assert!(cut.is_err(), "{length}");
    }
    for place in 0..archive.len() {
        let mut changed = archive.clone();
        changed[place] ^= 0x81;
        // Some changes cannot be seen, such as those of names; none may crash.
        let _ = files_of_zip(source, &changed).count();
    }
    let at = archive
        .windows(4)
        .position(|bytes| bytes == b"x,1,")
        .unwrap();
    let mut changed = archive.clone();
    changed[at] ^= 1;
    let read: Result<Vec<_>, _> = files_of_zip(source, &changed).collect();
    let error = read.unwrap_err().to_string();
    assert!(
        error.contains("mapfile.csv: its checksum is wrong"),
        "{error}"
    );
}
