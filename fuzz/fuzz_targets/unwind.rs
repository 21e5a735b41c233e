#![no_main]
//! Unwind tables, a stack and registers that anybody may have written: a walk ends, and within its limit. The first byte
//! says which section the tables are, the next 128 are the stack, the rest are the tables.

use libfuzzer_sys::fuzz_target;
use oxperf_fuzz::program;
use oxperf_objects::Contents;
use oxperf_unwind::{
    AddressSpace, Arch, Location, ObjectKey, RegisterFile, Snapshot, StackCopy, UnwindCache,
    UnwindInfo, walk,
};

const LIMIT: usize = 127;
const STACK: u64 = 0x7ffd_0000_0000;

struct Everywhere(UnwindInfo);

impl AddressSpace for Everywhere {
    fn spot(&self, address: u64) -> Location<'_> {
        Location::Object {
            key: ObjectKey(0),
            info: &self.0,
            offset: address & 0xffff,
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((which, rest)) = input.split_first() else {
        return;
    };
    let Some((stack, tables)) = rest.split_at_checked(128) else {
        return;
    };
    let section = if which & 1 == 0 {
        ".eh_frame"
    } else {
        ".debug_frame"
    };
    let Some(info) = UnwindInfo::new(Contents::from_memory(program(section, tables)), None) else {
        return;
    };
    let mut registers = RegisterFile::new(Arch::X86_64, 0x100);
    (0..24)
        .filter_map(|bit| Arch::X86_64.recorded(bit))
        .for_each(|register| registers.set(register, STACK));
    let stack = StackCopy {
        start: STACK,
        bytes: stack,
        little_endian: true,
        word_size: 8,
    };
    let mut addresses = Vec::new();
    walk(
        &Snapshot { registers, stack },
        &Everywhere(info),
        &mut UnwindCache::default(),
        LIMIT,
        &mut addresses,
    );
    assert!((1..=LIMIT).contains(&addresses.len()));
});
