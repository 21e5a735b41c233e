//! Bytes as what a bundle or an archive of binaries holds, through the commands that unpack them: nothing panics, and
//! nothing is written beside the folder it belongs in.

#![no_main]

use std::ffi::OsString;
use std::fs;

use libfuzzer_sys::fuzz_target;
use oxperf_fuzz::scratch;

/// The head of the first entry of a bundle, and its contents, as `oxperf bundle` writes them.
fn mark() -> Vec<u8> {
    let mut writer = oxperf_tar::ArchiveWriter::new(Vec::new());
    writer
        .file("oxperf-bundle", 2, 0, &mut &b"1\n"[..])
        .expect("a vector grows");
    let mut bytes = writer.finish().expect("a vector grows");
    bytes.truncate(1024);
    bytes
}

fn run(words: &[&str]) {
    let folder = scratch();
    let name = |word: &str| OsString::from(word.replace('@', &folder.display().to_string()));
    let _ = oxperf::run(["oxperf"].iter().chain(words).map(|word| name(word)));
}

fuzz_target!(|bytes: &[u8]| {
    let folder = scratch();
    let packed = |bytes: &[u8]| zstd::bulk::compress(bytes, 1).expect("bytes are compressed");
    fs::write(folder.join("bundle"), packed(&[&mark(), bytes].concat()))
        .expect("a file of one's own");
    run(&["evlist", "-v", "-i", "@/bundle"]);
    fs::write(folder.join("archive.tar.zst"), packed(bytes)).expect("a file of one's own");
    let inside = folder.join("inside");
    fs::create_dir_all(&inside).expect("a folder of one's own");
    let before = std::env::current_dir().expect("a folder to work in");
    std::env::set_current_dir(&inside).expect("it was made");
    run(&[
        "--buildid-dir",
        "@/inside/cache",
        "archive",
        "--unpack",
        "@/archive.tar.zst",
    ]);
    let names = fs::read_dir(folder)
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name());
    let known = ["bundle", "archive.tar.zst", "inside"];
    names.for_each(|name| assert!(known.iter().any(|known| name == *known), "{name:?}"));
    std::env::set_current_dir(before).expect("it is there");
    fs::remove_dir_all(&inside).expect("it is there");
});
