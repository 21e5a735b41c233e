//! A store over files of its own.

#![allow(clippy::print_stderr)]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use oxperf_abi::BuildId;
use oxperf_objects::{ObjectKind, ObjectQuery};
use oxperf_symbols::{
    KernelSource, ReferenceSymbol, StoreOptions, SymbolPrefilter, SymbolStore, Unavailable,
};

/// A file that vanishes with the test.
struct Text(PathBuf);

impl Text {
    fn new(name: &str, text: &str) -> Text {
        let path = std::env::temp_dir().join(format!("oxperf-store-{}-{name}", std::process::id()));
        fs::write(&path, text).expect("a file for the test");
        Text(path)
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn own_path() -> Vec<u8> {
    std::env::current_exe()
        .expect("this test's file")
        .as_os_str()
        .as_encoded_bytes()
        .to_vec()
}

#[test]
fn each_table_is_built_once() {
    let store = SymbolStore::default();
    let path = own_path();
    let wanted = ObjectQuery {
        path: &path,
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    store.prepare(&[wanted, wanted]);
    let (first, second) = (
        store.object(&wanted).expect("a table"),
        store.object(&wanted).expect("a table"),
    );
    assert!(Arc::ptr_eq(&first, &second));
    let named = first
        .ids()
        .filter_map(|id| first.symbol(id))
        .any(|symbol| symbol.name.contains("each_table_is_built_once"));
    assert!(named, "this very function has a name");
}

#[test]
fn an_object_without_the_words_of_a_name_has_no_table() {
    let path = own_path();
    let wanted = ObjectQuery {
        path: &path,
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    let table = |name: &str| {
        let only_with = Some(SymbolPrefilter::of(name));
        SymbolStore::new(StoreOptions {
            only_with,
            ..StoreOptions::default()
        })
        .object(&wanted)
    };
    assert!(table("store::an_object_without_the_words_of_a_name_has_no_table").is_ok());
    // Made here, so that it does not stand in this very file.
    let nowhere = "eman_taht_fo_noitcnuf_on".chars().rev().collect::<String>();
    assert_eq!(
        table(&format!("store::{nowhere}")).err(),
        Some(Unavailable::NoSymbols)
    );
}

#[test]
fn another_version_of_a_file_gives_no_names() {
    let path = own_path();
    let build_id = BuildId::new(&[0x5a; 20]);
    let wanted = ObjectQuery {
        path: &path,
        build_id,
        kind: ObjectKind::User,
        process: None,
    };
    match SymbolStore::default().object(&wanted) {
        Err(Unavailable::NotFound(why)) => assert_eq!(why.tried.len(), 1),
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn the_kernel_is_named_from_the_given_list() {
    let list = Text::new(
        "kallsyms",
        "ffffffff81000000 T _text\nffffffff81000040 t schedule\n",
    );
    let kernel = KernelSource::Kallsyms(list.0.clone());
    let store = SymbolStore::new(StoreOptions {
        kernel,
        ..StoreOptions::default()
    });
    let reference = ReferenceSymbol {
        symbol: b"_text",
        address: 0xffff_ffff_8200_0000,
    };
    let table = store.kernel(None, Some(&reference)).expect("a table");
    let id = table.lookup(0xffff_ffff_8200_0041).expect("a symbol");
    assert_eq!(table.symbol(id).map(|symbol| symbol.name), Some("schedule"));
}

#[test]
fn a_kernel_that_is_not_the_recorded_one_can_be_refused() {
    if oxperf_objects::running_kernel_build_id().is_none() {
        eprintln!("skipped: this system does not tell its kernel's build id");
        return;
    }
    let store = SymbolStore::new(StoreOptions {
        kernel: KernelSource::RunningIfSame,
        ..StoreOptions::default()
    });
    assert_eq!(
        store.kernel(BuildId::new(&[0x5a; 20]), None).err(),
        Some(Unavailable::OtherKernel)
    );
    let nothing = SymbolStore::new(StoreOptions {
        kernel: KernelSource::Nothing,
        ..StoreOptions::default()
    });
    assert_eq!(nothing.kernel(None, None).err(), Some(Unavailable::Off));
}

#[test]
fn code_made_at_run_time_is_named_by_its_map() {
    let map = Text::new("map", "7f0000001000 20 JS:fib /tmp/x.js:1\n");
    let store = SymbolStore::default();
    let table = store.perf_map(&map.0).expect("a table");
    let id = table.lookup(0x7f00_0000_101f).expect("a symbol");
    assert_eq!(
        table.symbol(id).map(|symbol| symbol.name),
        Some("JS:fib /tmp/x.js:1")
    );
    assert!(matches!(
        store.perf_map(&map.0.with_extension("absent")),
        Err(Unavailable::Unusable { .. })
    ));
}
