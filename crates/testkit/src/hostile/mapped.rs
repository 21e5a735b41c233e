//! Shapes of user code: mappings, logs of code that programs made, names.

use super::{Draft, Row};

pub(super) const SHAPES: &[Row] = &[
    ("mappings up", 250, up),
    ("mappings down", 250, down),
    ("mappings that overlap", 250, overlapping),
    ("mappings inside each other", 250, nested),
    ("pages inside a mapping", 250, pages),
    ("one mapping again", 250, again),
    ("mapped files", 250, files),
    ("long names", 10, long_names),
    ("jit logs that are missing", 250, missing_logs),
    ("jit log of overlapping code", 250, overlapping_code),
    ("jit log of many processes", 100, shared_log),
    ("anonymous code", 250, anonymous),
    ("deep names", 100, deep_names),
];

const PAGE: u64 = 0x1000;
const BASE: u64 = 0x10_0000_0000;

/// Mappings one page long, each with a sample.
fn map_and_sample(
    draft: &mut Draft,
    starts: impl Iterator<Item = u64>,
    length: impl Fn(u64) -> u64,
) {
    for (n, start) in starts.enumerate() {
        draft.mmap(1, start, length(n as u64), "/a");
        draft.sample(1, start + 8);
    }
}

fn up(draft: &mut Draft, count: usize) {
    map_and_sample(
        draft,
        (0..count as u64).map(|n| BASE + 2 * n * PAGE),
        |_| PAGE,
    );
}

fn down(draft: &mut Draft, count: usize) {
    map_and_sample(
        draft,
        (0..count as u64).rev().map(|n| BASE + 2 * n * PAGE),
        |_| PAGE,
    );
}

fn overlapping(draft: &mut Draft, count: usize) {
    let reach = |n| (count as u64 * 2 - n) * PAGE;
    map_and_sample(draft, (0..count as u64).map(|n| BASE + n * PAGE), reach);
}

fn nested(draft: &mut Draft, count: usize) {
    let reach = |n| (count as u64 * 2 - 2 * n) * PAGE;
    map_and_sample(draft, (0..count as u64).map(|n| BASE + n * PAGE), reach);
}

fn pages(draft: &mut Draft, count: usize) {
    draft.mmap(1, BASE, 4 * PAGE * count as u64, "/large");
    map_and_sample(
        draft,
        (0..count as u64).map(|n| BASE + (n * 7919 % count as u64) * 3 * PAGE),
        |_| PAGE,
    );
}

fn again(draft: &mut Draft, count: usize) {
    up(draft, count / 2);
    map_and_sample(draft, (0..count / 2).map(|_| BASE), |_| PAGE);
}

fn files(draft: &mut Draft, count: usize) {
    for n in 0..count as u64 {
        draft.mmap(1, BASE + n * PAGE, PAGE, &format!("/missing/{n}"));
        draft.sample(1, BASE + n * PAGE);
    }
}

fn long_names(draft: &mut Draft, count: usize) {
    for n in 0..count as u64 {
        let name = format!("/{}{n:08}", "long".repeat(1000));
        draft.mmap(1, BASE + n * PAGE, PAGE, &name);
        draft.at_next(format_args!("comm pid=1 tid=1 {name}"));
        draft.sample(1, BASE + n * PAGE);
    }
}

fn missing_logs(draft: &mut Draft, count: usize) {
    for n in 0..count as u64 {
        draft.mmap(1, BASE + n * PAGE, PAGE, &format!("/missing/jit-{n}.dump"));
        draft.sample(1, BASE + n * PAGE);
    }
}

/// A log of functions; the time of each is in that of the recording.
fn log(functions: impl Iterator<Item = (u64, [u64; 2])>) -> Vec<u8> {
    let mut out = Vec::new();
    let words = |out: &mut Vec<u8>, words: &[u32]| {
        words.iter().for_each(|word| out.extend(word.to_le_bytes()))
    };
    let longs = |out: &mut Vec<u8>, words: &[u64]| {
        words.iter().for_each(|word| out.extend(word.to_le_bytes()))
    };
    words(&mut out, &[0x4a69_5444, 1, 40, 62, 0, 1]);
    longs(&mut out, &[0, 0]);
    for (index, (time, [address, size])) in functions.enumerate() {
        words(&mut out, &[0, 56 + 8]);
        longs(&mut out, &[time]);
        words(&mut out, &[1, 1]);
        longs(&mut out, &[address, address, size, index as u64]);
        out.extend(*b"function");
    }
    out
}

/// Times are those of the clock that logs use.
fn take_clock(draft: &mut Draft) {
    draft.events = draft
        .events
        .replace("flags=", "clockid=1 flags=use_clockid|");
}

fn overlapping_code(draft: &mut Draft, count: usize) {
    take_clock(draft);
    let code =
        (0..count as u64).map(|n| (2000 + 20 * n, [BASE + n * 8, 8 * (count as u64 - n / 2)]));
    draft.others.push(("jit-1.dump".to_owned(), log(code)));
    let name = format!("{}/jit-1.dump", draft.folder);
    draft.mmap(1, PAGE, PAGE, &name);
    draft.time = 2000;
    (0..count as u64).for_each(|n| draft.sample(1, BASE + n * 8));
}

fn shared_log(draft: &mut Draft, count: usize) {
    take_clock(draft);
    let code = (0..count as u64).map(|n| (2000 + 20 * n, [BASE + n * 8, 8]));
    draft.others.push(("jit-1.dump".to_owned(), log(code)));
    let name = format!("{}/jit-1.dump", draft.folder);
    for pid in 1..=count {
        draft.mmap(pid, PAGE, PAGE, &name);
        draft.sample(pid, BASE);
    }
}

fn anonymous(draft: &mut Draft, count: usize) {
    for pid in 1..=count {
        draft.mmap(pid, BASE, PAGE, "//anon");
        draft.sample(pid, BASE);
    }
}

/// Names that stand for far longer ones.
fn deep_names(draft: &mut Draft, count: usize) {
    let twice = |n: usize| {
        let parts = (0..30).map(|n| {
            format!(
                "St4pairIS{0}_S{0}_E",
                char::from(b"0123456789ABCDEFGHIJKLMNOPQRST"[n])
            )
        });
        format!("_Z1f{n}i{}", parts.collect::<String>())
    };
    let deep = |n: usize| format!("_Z4f{n:03}{}i", "PFv".repeat(200));
    let names = (0..count).map(|n| if n % 2 == 0 { twice(n) } else { deep(n) });
    let program = draft.program("program", names);
    draft.mmap(1, 0x40_1000, count as u64, &program);
    draft.text = draft.text.replace("@0 prot", "@0x1000 prot");
    (0..count as u64).for_each(|n| draft.sample(1, 0x40_1000 + n));
}
