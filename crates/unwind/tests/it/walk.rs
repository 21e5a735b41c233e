//! Walks over stacks that are written out word by word.

use crate::tables::{BASE, Mapped, debug_frame, eh_frame, eh_frame_32, object, rule};
use oxperf_unwind::{
    AddressSpace, Arch, Location, ObjectKey, RegisterFile, Snapshot, StackCopy, UnwindCache,
    UnwindEnd, UnwindInfo, walk,
};

const X86_64: u16 = 62;
const AARCH64: u16 = 183;
const X86: u16 = 3;
const RSP: u8 = 7;
const RBP: u8 = 6;
const RIP: u8 = 16;
const SP: u64 = 0x7ffd_0000_1000;

/// Offsets in the object are shown without its base.
fn walked(
    space: &impl AddressSpace,
    registers: RegisterFile,
    words: &[u64],
    limit: usize,
) -> (Vec<u64>, UnwindEnd) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let stack = StackCopy {
        start: SP,
        bytes: &bytes,
        little_endian: true,
        word_size: 8,
    };
    let mut addresses = Vec::new();
    let end = walk(
        &Snapshot { registers, stack },
        space,
        &mut UnwindCache::default(),
        limit,
        &mut addresses,
    );
    (
        addresses
            .iter()
            .map(|address| address.checked_sub(BASE).unwrap_or(*address))
            .collect(),
        end,
    )
}

fn at(offset: u64) -> RegisterFile {
    let mut registers = RegisterFile::new(Arch::X86_64, BASE + offset);
    registers.set(Arch::X86_64.stack_pointer(), SP);
    registers
}

/// `inner` keeps nothing, `middle` keeps rbp and moves its frame there, `outer` has no caller.
fn three() -> Vec<u8> {
    let inner = [rule::frame(RSP, 8), rule::below(RIP, 1)];
    let middle = [
        rule::frame(RBP, 16),
        rule::below(RIP, 1),
        rule::below(RBP, 2),
    ];
    let outer = [rule::frame(RSP, 8), rule::undefined(RIP)];
    eh_frame(
        "zR",
        RIP,
        &[
            (0x100, 0x10, &inner),
            (0x200, 0x20, &middle),
            (0x300, 0x10, &outer),
        ],
    )
}

/// The stack in `inner`, whose caller has its frame three words up.
const STACK: [u64; 6] = [BASE + 0x210, 11, 12, 0x77, BASE + 0x308, 13];

fn with_frame(offset: u64) -> RegisterFile {
    let mut registers = at(offset);
    let rbp = Arch::X86_64.recorded(6).unwrap();
    registers.set(rbp, SP + 24);
    registers
}

#[test]
fn callers_are_shown_at_their_calls() {
    let space = Mapped(object(X86_64, ".eh_frame", three()).unwrap());
    assert_eq!(
        walked(&space, with_frame(0x108), &STACK, 127),
        (vec![0x108, 0x20f, 0x307], UnwindEnd::Outermost)
    );
    assert_eq!(
        walked(&space, with_frame(0x108), &STACK, 2),
        (vec![0x108, 0x20f], UnwindEnd::Limit)
    );
}

#[test]
fn a_return_to_the_first_byte_of_memory_is_no_call() {
    let space = Mapped(object(X86_64, ".eh_frame", three()).unwrap());
    let inner = walked(&space, at(0x108), &[1, 11], 127);
    assert_eq!(inner, (vec![0x108], UnwindEnd::Unmapped));
}

#[test]
fn a_walk_says_what_it_lacks() {
    let space = Mapped(object(X86_64, ".eh_frame", three()).unwrap());
    let frames = vec![0x108, 0x20f];
    assert_eq!(
        walked(&space, with_frame(0x108), &STACK[..4], 127),
        (frames.clone(), UnwindEnd::CopyTooShort)
    );
    assert_eq!(
        walked(&space, at(0x108), &STACK, 127),
        (frames, UnwindEnd::RegisterUnknown)
    );
    assert_eq!(
        walked(&space, at(0x180), &STACK, 127),
        (vec![0x180], UnwindEnd::NoUnwindInfo)
    );
    let mut elsewhere = STACK;
    elsewhere[4] = 0x1234;
    let (addresses, end) = walked(&space, with_frame(0x108), &elsewhere, 127);
    assert_eq!(
        (addresses, end),
        (vec![0x108, 0x20f, 0x1233], UnwindEnd::Unmapped)
    );
}

#[test]
fn what_a_signal_interrupted_is_shown_where_it_was() {
    // The registers of the interrupted function lie on the stack: its address, its stack pointer.
    let saved = [
        rule::frame_expression(&[0x77, 24, 0x06]),
        rule::at_expression(RIP, &[0x77, 16]),
    ];
    let signal = eh_frame(
        "zRS",
        RIP,
        &[
            (0x3ff, 0x10, &saved),
            (0x300, 0x10, &[rule::frame(RSP, 8), rule::undefined(RIP)]),
        ],
    );
    let space = Mapped(object(X86_64, ".eh_frame", signal).unwrap());
    let stack = [0, 0, BASE + 0x300, SP + 0x100];
    // Both entries are marked: neither address is moved.
    assert_eq!(
        walked(&space, at(0x400), &stack, 127),
        (vec![0x400, 0x300], UnwindEnd::Outermost)
    );
}

#[test]
fn tables_for_debuggers_do_where_there_are_no_others() {
    let inner = [rule::frame(RSP, 8), rule::below(RIP, 1)];
    let outer = [rule::frame(RSP, 8), rule::undefined(RIP)];
    let tables = debug_frame(RIP, &[(0x300, 0x10, &outer), (0x100, 0x10, &inner)]);
    let space = Mapped(object(X86_64, ".debug_frame", tables).unwrap());
    let walked = walked(&space, at(0x101), &[BASE + 0x301], 127);
    assert_eq!(walked, (vec![0x101, 0x300], UnwindEnd::Outermost));
}

#[test]
fn a_frame_pointer_stands_in_for_missing_tables() {
    let space = Mapped(object(X86_64, ".eh_frame", three()).unwrap());
    let words = [1, 2, 3, 0, BASE + 0x305];
    assert_eq!(
        walked(&space, with_frame(0x150), &words, 127),
        (vec![0x150, 0x304], UnwindEnd::Outermost)
    );
    // One that points below the stack pointer, or to what was not copied, is none.
    let mut below = at(0x150);
    below.set(Arch::X86_64.recorded(6).unwrap(), SP - 16);
    assert_eq!(
        walked(&space, below, &words, 127),
        (vec![0x150], UnwindEnd::NoUnwindInfo)
    );
    below.set(Arch::X86_64.recorded(6).unwrap(), 0);
    assert_eq!(
        walked(&space, below, &words, 127),
        (vec![0x150], UnwindEnd::Outermost)
    );
}

#[test]
fn a_frame_that_calls_itself_ends_the_walk() {
    let same = [rule::frame(RSP, 0), rule::at_expression(RIP, &[0x77, 0])];
    let space = Mapped(
        object(
            X86_64,
            ".eh_frame",
            eh_frame("zRS", RIP, &[(0x100, 0x10, &same)]),
        )
        .unwrap(),
    );
    assert_eq!(
        walked(&space, at(0x104), &[BASE + 0x104], 127),
        (vec![0x104], UnwindEnd::Loop)
    );
}

#[test]
fn arm64_returns_to_its_link_register() {
    let (link, stack) = (30, 31);
    let leaf = [rule::frame(stack, 0)];
    let outer = [rule::frame(stack, 16), rule::undefined(link)];
    let middle = [rule::frame(stack, 16), rule::below(link, 1)];
    let functions: [crate::tables::Function<'_>; 3] = [
        (0x100, 0x10, &leaf),
        (0x200, 0x10, &middle),
        (0x300, 0x10, &outer),
    ];
    let space = Mapped(object(AARCH64, ".eh_frame", eh_frame("zR", link, &functions)).unwrap());
    let signed = |address: u64| address | 0x2a << 48;
    let values = (0..33).map(|bit| match bit {
        30 => signed(BASE + 0x208),
        31 => SP,
        32 => BASE + 0x104,
        _ => 0,
    });
    let registers = Arch::Aarch64.registers((1 << 33) - 1, values).unwrap();
    let walked = walked(&space, registers, &[0, signed(BASE + 0x30c), 0, 0], 127);
    assert_eq!(walked, (vec![0x104, 0x207, 0x30b], UnwindEnd::Outermost));
}

#[test]
fn damaged_tables_end_walks_and_nothing_else() {
    let (good, mut seed) = (three(), 1_u64);
    let mut random = move |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    let mut ends = std::collections::HashSet::new();
    for _ in 0..4_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + random(4) {
            let at = random(bytes.len());
            bytes[at] = random(256) as u8;
        }
        let Some(info) = object(X86_64, ".eh_frame", bytes) else {
            continue;
        };
        let (addresses, end) = walked(&Mapped(info), with_frame(0x108), &STACK, 127);
        assert!((1..=127).contains(&addresses.len()));
        ends.insert(end);
    }
    assert!(
        ends.contains(&UnwindEnd::DamagedUnwindInfo) && ends.contains(&UnwindEnd::Outermost),
        "{ends:?}"
    );
}

/// These entries, with addresses from where they stand themselves, with addresses from where they stand themselves, as
/// compilers write them that do not know yet where the table will be.
fn relative(mut entries: Vec<u8>, table: u64) -> Vec<u8> {
    const PC_RELATIVE: u8 = 0x1c;
    entries[16] = PC_RELATIVE;
    let mut at = 0;
    while let Some(size) = entries[at..]
        .first_chunk()
        .map(|size| u32::from_le_bytes(*size) as usize)
    {
        let place = at + 8;
        if at > 0 && size > 0 {
            let start = u64::from_le_bytes(*entries[place..].first_chunk().unwrap());
            let start = start.wrapping_sub(table + place as u64);
            entries[place..place + 8].copy_from_slice(&start.to_le_bytes());
        }
        at += size + 4;
    }
    entries
}

#[test]
fn a_function_without_a_file_is_unwound_by_the_table_that_came_with_it() {
    const TABLE: u64 = 0x310;
    let entries = relative(three(), TABLE);
    let arch = Arch::by_elf_machine(X86_64).unwrap();
    let info = |entries: &[u8]| UnwindInfo::of_table(arch, true, 0x100, TABLE, entries);
    let space = Mapped(info(&entries));
    assert_eq!(
        walked(&space, with_frame(0x108), &STACK, 127),
        (vec![0x108, 0x20f, 0x307], UnwindEnd::Outermost)
    );
    assert_eq!(
        walked(&space, at(0x180), &STACK, 127),
        (vec![0x180], UnwindEnd::NoUnwindInfo)
    );
    for end in 0..entries.len() {
        walked(
            &Mapped(info(&entries[..end])),
            with_frame(0x108),
            &STACK,
            127,
        );
    }
    assert_eq!(Arch::by_elf_machine(1), None);
}

/// A 32-bit program lies at 0 here, as one that is not position independent may.
struct Low(UnwindInfo);

impl AddressSpace for Low {
    fn spot(&self, address: u64) -> Location<'_> {
        match address {
            0..0x10_0000 => Location::Object {
                key: ObjectKey(0),
                info: &self.0,
                offset: address,
            },
            _ => Location::Nothing,
        }
    }
}

#[test]
fn programs_of_32_bits_have_words_of_four_bytes() {
    const ESP: u8 = 4;
    const EBP: u8 = 5;
    const EIP: u8 = 8;
    let inner = [
        rule::frame(ESP, 8),
        rule::below(EIP, 1),
        rule::below(EBP, 2),
    ];
    // What `main` does that aligns its stack: the frame's address lies below the frame pointer.
    let main = [
        rule::frame_expression(&[0x70 | EBP, 0x7c, 0x06]),
        rule::below(EIP, 1),
    ];
    let start = [rule::frame(ESP, 4), rule::undefined(EIP)];
    let tables = eh_frame_32(
        EIP,
        &[
            (0x100, 0x10, &inner),
            (0x200, 0x20, &main),
            (0x300, 0x10, &start),
        ],
    );
    let words: [u32; 6] = [
        0xffff_d010,
        0x210,
        0x1234_5678,
        0xffff_d014,
        0x308,
        0x9abc_def0,
    ];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let stack = StackCopy {
        start: 0xffff_d000,
        bytes: &bytes,
        little_endian: true,
        word_size: 4,
    };
    let mut registers = RegisterFile::new(Arch::X86, 0x108);
    registers.set(Arch::X86.stack_pointer(), stack.start);
    let walked = |info| {
        let mut addresses = Vec::new();
        let snapshot = Snapshot { registers, stack };
        let end = walk(
            &snapshot,
            &Low(info),
            &mut UnwindCache::default(),
            127,
            &mut addresses,
        );
        (addresses, end)
    };
    let info = object(X86, ".eh_frame", tables.clone()).unwrap();
    assert_eq!(
        walked(info),
        (vec![0x108, 0x20f, 0x307], UnwindEnd::Outermost)
    );
    let other = object(X86_64, ".eh_frame", tables).unwrap();
    assert_eq!(walked(other), (vec![0x108], UnwindEnd::ObjectMissing));
}
