//! Shapes of what holds the rest together: order, packing, tables, events, and what single records are made of.

use super::{Draft, Row, hex};

pub(super) const SHAPES: &[Row] = &[
    ("rounds", 2000, rounds),
    ("times down", 500, times_down),
    ("times down in rounds", 500, times_down_in_rounds),
    ("tiny packed frames", 10, packed),
    ("lost", 1000, lost),
    ("unknown records", 1000, unknown),
    ("deep chains", 25, chains),
    ("chains alike at their ends", 25, chains_alike),
    ("branches", 25, branches),
    ("events", 100, events),
    ("ids", 2000, ids),
    ("strings", 500, strings),
    ("build ids", 500, build_ids),
    ("event descriptions", 100, descriptions),
    ("groups", 100, groups),
    ("trace index", 500, trace_index),
    ("trace pieces", 250, trace_pieces),
    ("trace errors", 250, trace_errors),
];

const BASE: u64 = 0x10_0000_0000;

fn rounds(draft: &mut Draft, count: usize) {
    for n in 0..count {
        draft.line(format_args!("finished_round"));
        if n % 8 == 0 {
            draft.sample(1, BASE);
        }
    }
}

fn times_down(draft: &mut Draft, count: usize) {
    for n in (0..count).rev() {
        draft.line(format_args!(
            "sample mode=user ip={BASE:#x} pid=1 tid=1 time={}",
            1000 + n
        ));
    }
}

fn times_down_in_rounds(draft: &mut Draft, count: usize) {
    for n in (0..count).rev() {
        draft.line(format_args!(
            "sample mode=user ip={BASE:#x} pid=1 tid=1 time={}",
            1000 + n
        ));
        draft.line(format_args!("finished_round"));
    }
}

/// Records that hold a sample each, as blocks of zstd that are stored as they are.
fn packed(draft: &mut Draft, count: usize) {
    draft.line(format_args!("feature compressed u32=1,1,1,2,65536"));
    for _ in 0..count {
        draft.time += 10;
        let mut sample = [9, 32 << 16 | 2].map(u32::to_le_bytes).concat();
        sample[4..8].copy_from_slice(&[2, 0, 32, 0]);
        sample.extend(BASE.to_le_bytes());
        sample.extend([1, 1].map(u32::to_le_bytes).concat());
        sample.extend(draft.time.to_le_bytes());
        // The magic number; one segment of so many bytes; the last block, stored.
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, 32];
        frame.extend([1 | 32 << 3, 0, 0]);
        frame.extend(sample);
        // A record of an odd size, as the first version of packed records has it.
        draft.raw_whole(81, &frame);
    }
}

fn lost(draft: &mut Draft, count: usize) {
    (0..count).for_each(|n| draft.at_next(format_args!("lost id=1 lost={}", n + 1)));
    draft.sample(1, BASE);
}

fn unknown(draft: &mut Draft, count: usize) {
    (0..count as u32).for_each(|n| draft.raw(200 + n, b""));
    draft.sample(1, BASE);
}

/// Samples whose chains are of the greatest depth and share nothing.
fn chains(draft: &mut Draft, count: usize) {
    deep_chains(draft, count, |n, depth| BASE + ((n * 8000 + depth) << 4));
}

/// Adds chains with callers that are alike, and functions that are not.
fn chains_alike(draft: &mut Draft, count: usize) {
    deep_chains(draft, count, |n, depth| {
        BASE + if depth == 0 {
            n << 32
        } else {
            (depth + n / 2) << 4
        }
    });
}

fn deep_chains(draft: &mut Draft, count: usize, address: impl Fn(u64, u64) -> u64) {
    draft.events = draft.events.replace("TIME", "TIME|CALLCHAIN");
    draft.mmap(1, BASE, 1 << 40, "/a");
    for n in 0..count as u64 {
        draft.time += 10;
        let chain: Vec<String> = (0..1000)
            .map(|depth| format!("{:#x}", address(n, depth)))
            .collect();
        let (own, chain, time) = (address(n, 0), chain.join(","), draft.time);
        draft.line(format_args!(
            "sample mode=user ip={own:#x} pid=1 tid=1 time={time} chain=user,{chain}"
        ));
    }
}

fn branches(draft: &mut Draft, count: usize) {
    draft.events = draft
        .events
        .replace("TIME", "TIME|BRANCH_STACK")
        .replace("flags=", "branch=USER|ANY flags=");
    draft.mmap(1, BASE, 1 << 40, "/a");
    for n in 0..count as u64 {
        draft.time += 10;
        let entry = |at: u64| {
            format!(
                "{:#x}>{:#x}:0",
                BASE + ((n * 1000 + at) << 4),
                BASE + ((n * 999 + at) << 5)
            )
        };
        let stack: Vec<String> = (0..500).map(entry).collect();
        let (stack, time) = (stack.join(","), draft.time);
        draft.line(format_args!(
            "sample mode=user ip={BASE:#x} pid=1 tid=1 time={time} branches={stack}"
        ));
    }
}

fn events(draft: &mut Draft, count: usize) {
    draft.events = (0..count)
        .map(|n| {
            let id = n + 1;
            format!("event cycles config={n} sample=IDENTIFIER|IP|TID|TIME period=1 flags=sample_id_all ids={id}\n")
        })
        .collect();
    for id in 1..=count {
        draft.time += 10;
        let time = draft.time;
        draft.line(format_args!(
            "sample id={id} mode=user ip={BASE:#x} pid=1 tid=1 time={time}"
        ));
    }
}

fn ids(draft: &mut Draft, count: usize) {
    let list: Vec<String> = (1..=count).map(|id| id.to_string()).collect();
    draft.events = format!(
        "event cycles sample=IDENTIFIER|IP|TID|TIME period=1 flags=sample_id_all ids={}\n",
        list.join(",")
    );
    for id in (1..=count).step_by(8) {
        draft.time += 10;
        let time = draft.time;
        draft.line(format_args!(
            "sample id={id} mode=user ip={BASE:#x} pid=1 tid=1 time={time}"
        ));
    }
}

fn strings(draft: &mut Draft, count: usize) {
    let words: Vec<String> = (0..count).map(|n| format!("string=word{n}")).collect();
    draft.sample(1, BASE);
    draft.line(format_args!(
        "feature cmdline u32={count} {}",
        words.join(" ")
    ));
}

fn build_ids(draft: &mut Draft, count: usize) {
    let mut table = Vec::new();
    for n in 0..count as u32 {
        let name = format!("/missing/{n:08}\0").into_bytes();
        let size = 8 + 4 + 24 + name.len().next_multiple_of(8);
        table.extend(0_u32.to_le_bytes());
        table.extend([2, 0]);
        table.extend((size as u16).to_le_bytes());
        table.extend((-1_i32).to_le_bytes());
        table.extend(
            [
                n.to_le_bytes(),
                [7; 4],
                [8; 4],
                [9; 4],
                [1; 4],
                [20, 0, 0, 0],
            ]
            .concat(),
        );
        table.extend(&name);
        table.resize(
            table.len().next_multiple_of(4) + (size - 36 - name.len()),
            0,
        );
    }
    for n in 0..count as u64 / 8 {
        draft.mmap(1, BASE + (n << 12), 1 << 12, &format!("/missing/{n:08}"));
        draft.sample(1, BASE + (n << 12));
    }
    draft.line(format_args!("feature build_id bytes={}", hex(&table)));
}

fn descriptions(draft: &mut Draft, count: usize) {
    events(draft, count);
    let mut table = [count as u32, 128].map(u32::to_le_bytes).concat();
    for n in 0..count as u64 {
        let mut attr = [0, 128].map(u32::to_le_bytes).concat();
        attr.extend(n.to_le_bytes());
        attr.resize(128, 0);
        table.extend(attr);
        table.extend([1, 64].map(u32::to_le_bytes).concat());
        let mut name = format!("event{n}").into_bytes();
        name.resize(64, 0);
        table.extend(name);
        table.extend((n + 1).to_le_bytes());
    }
    draft.line(format_args!("feature event_desc bytes={}", hex(&table)));
}

fn groups(draft: &mut Draft, count: usize) {
    events(draft, count);
    let groups: Vec<String> = (0..count / 2)
        .map(|n| format!("string=group{n} u32={},2", 2 * n))
        .collect();
    draft.line(format_args!(
        "feature group_desc u32={} {}",
        count / 2,
        groups.join(" ")
    ));
}

fn trace_index(draft: &mut Draft, count: usize) {
    draft.sample(1, BASE);
    let entries: Vec<String> = (0..count).map(|n| format!("{},48", 1000 + n)).collect();
    draft.line(format_args!(
        "feature auxtrace u64={count},{}",
        entries.join(",")
    ));
}

fn trace_pieces(draft: &mut Draft, count: usize) {
    draft.line(format_args!(
        "auxtrace_info pmu=8 shift=0 mult=1 cap_time=1 per_cpu=1"
    ));
    for n in 0..count {
        let (cpu, offset) = (n % 64, n / 64 * 16);
        draft.line(format_args!(
            "auxtrace index={cpu} cpu={cpu} offset={offset} packets=\"psb\""
        ));
        draft.at_next(format_args!("aux offset={offset} size=16"));
    }
    draft.sample(1, BASE);
}

fn trace_errors(draft: &mut Draft, count: usize) {
    for n in 0..count as u32 {
        let mut body = [1, n % 9, 0, 1, 1, 1].map(u32::to_le_bytes).concat();
        body.extend([BASE, draft.time].map(u64::to_le_bytes).concat());
        body.extend(format!("{:63}\0", format!("error {n}")).bytes());
        draft.raw_whole(72, &body);
    }
    draft.sample(1, BASE);
}
