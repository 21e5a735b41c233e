//! Bytes as what another run has kept of a program, behind the seal: symbols, or lines and inlined functions. Whatever
//! they say, asking ends. The first byte says which of them these are.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use oxperf_fuzz::scratch;
use oxperf_objects::{ObjectKind, ObjectQuery};
use oxperf_symbols::{StoreOptions, SymbolStore, Topic};

/// A program with symbols, lines and inlined functions.
const PROGRAM: &[u8] = include_bytes!("../inputs/lines.elf");

fn program() -> &'static str {
    static PATH: OnceLock<String> = OnceLock::new();
    PATH.get_or_init(|| {
        let path = scratch().join("lines.elf");
        std::fs::write(&path, PROGRAM).expect("a file of one's own");
        path.to_str().expect("a plain name").to_owned()
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, kept)) = bytes.split_first() else {
        return;
    };
    let topic = if which & 1 == 0 {
        Topic::Symbols
    } else {
        Topic::Sources
    };
    let store = SymbolStore::new(StoreOptions::default());
    let kept = kept.to_vec();
    store.remember(move |_, asked| (asked == topic).then(|| kept.clone()));
    let path = program().as_bytes();
    let wanted = ObjectQuery {
        path,
        build_id: None,
        kind: ObjectKind::User,
        process: None,
    };
    if topic == Topic::Symbols {
        let Ok(table) = store.object(&wanted) else {
            return;
        };
        for id in table.ids() {
            let symbol = table.symbol(id).expect("its own id");
            table.lookup(symbol.start);
            table.lookup(symbol.end.wrapping_sub(1));
            table.object_address(symbol.start);
            table.linkage_name(id);
        }
    } else {
        let info = store.source(&wanted).expect("it has debug information");
        (0x1000..0x1100).for_each(|offset| drop(info.frames(offset)));
        info.lines_between(0, u64::MAX);
        info.lines_between(0x1000, 0x1080);
    }
    store.learned();
});
