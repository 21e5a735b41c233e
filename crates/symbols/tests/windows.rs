//! Names and source lines of programs for Windows, by their offsets in the file.

use std::path::{Path, PathBuf};

use oxperf_abi::BuildId;
use oxperf_objects::{ObjectKind, ObjectQuery};
use oxperf_symbols::SymbolStore;

const IMAGE: &[u8] = include_bytes!("windows/tiny.dll");
/// Start of the section of code in the file.
const TEXT: u64 = 0x600;

fn image() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/windows/tiny.dll")
}

fn wanted(path: &Path, build_id: Option<BuildId>) -> ObjectQuery<'_> {
    let path = path.as_os_str().as_encoded_bytes();
    ObjectQuery {
        path,
        build_id,
        kind: ObjectKind::User,
        process: None,
    }
}

/// The symbol and the source line at an offset.
fn told(store: &SymbolStore, wanted: &ObjectQuery<'_>, offset: u64) -> Option<(String, String)> {
    let table = store.object(wanted).ok()?;
    let name = table.symbol(table.lookup(offset)?)?.name.to_owned();
    let line = store.source(wanted).ok()?.line(offset)?;
    Some((name, format!("{}:{}", line.file, line.line)))
}

#[test]
fn functions_have_names_and_lines() {
    let (store, path) = (SymbolStore::default(), image());
    let at = |offset| told(&store, &wanted(&path, None), TEXT + offset);
    let known = |name: &str, line: &str| Some((name.to_owned(), format!("/build/tiny.c:{line}")));
    assert_eq!(at(0x10), known("helper", "6"));
    assert_eq!(at(0x34), known("work", "13"));
    assert_eq!(at(0x51), known("entry", "19"));
    let table = store.object(&wanted(&path, None)).unwrap();
    assert_eq!(table.object_address(TEXT + 0x10), 0x1_8000_1010);
}

#[test]
fn a_build_is_known_by_what_a_debugger_compares() {
    let id = |last| {
        let mut bytes = [
            0xbe, 0xc8, 0x61, 0x79, 0x39, 0x60, 0x77, 0x90, 0x9e, 0xbe, 0x3c, 0xb5, 0xb2, 0xcb,
            0x1b, 0,
        ];
        bytes[15] = last;
        BuildId::new(&bytes)
    };
    let (store, path) = (SymbolStore::default(), image());
    assert!(store.object(&wanted(&path, id(0x19))).is_ok());
    assert!(store.object(&wanted(&path, id(0x18))).is_err());
}

#[test]
fn cut_and_damaged_images_are_survived() {
    let folder = std::env::temp_dir().join(format!("oxperf-windows-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("damaged.dll");
    let ask = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let store = SymbolStore::default();
        [0x10, 0x34].map(|offset| told(&store, &wanted(&path, None), TEXT + offset))
    };
    for end in (0..IMAGE.len()).step_by(61) {
        ask(&IMAGE[..end]);
    }
    // The headers, the symbols and the export table.
    let places = (0..0x600)
        .step_by(7)
        .chain((0x2600..IMAGE.len()).step_by(37))
        .chain(0x1000..0x1040);
    for at in places {
        let mut bytes = IMAGE.to_vec();
        bytes[at] ^= 0xff;
        ask(&bytes);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
