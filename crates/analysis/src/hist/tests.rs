//! Histograms of stacks in text: `NAME/TID;outermost;..;innermost PERIOD`, one sample a line.
//!
//! A frame is a symbol of the program (`main`), of the kernel (`k:schedule`), an address of a library (`lib+0x10`)
//! or of nothing (`0x10`). Out come rows as `ALL OWN LEVEL NAME SYMBOL`, and trees indented below their rows.

use std::fmt::Write;

use super::*;
use oxperf_abi::{Pid, Tid};
use oxperf_profile::*;

fn profile(samples: &str) -> Profile {
    let dso = |name: &str| ProfileDso {
        long: name.to_owned(),
        short: name.to_owned(),
    };
    let mut profile = Profile {
        dsos: ["app", "[kernel.kallsyms]", "lib"].map(dso).to_vec(),
        events: vec![EventProfile {
            has_callchains: true,
            ..EventProfile::default()
        }],
        ..Profile::default()
    };
    samples
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .for_each(|line| sample(&mut profile, 0, line));
    profile
}

fn sample(profile: &mut Profile, event: usize, line: &str) {
    let (stack, period) = line.rsplit_once(' ').unwrap();
    let mut parts = stack.split(';');
    let (comm, tid) = parts.next().unwrap().split_once('/').unwrap();
    let frames: Vec<FrameId> = parts.map(|text| frame(profile, text)).collect();
    let comm = CommId(place(&mut profile.comms, comm.to_owned()));
    let tid: i32 = tid.parse().unwrap();
    let thread = ThreadId(place(
        &mut profile.threads,
        ProfileThread {
            pid: Pid(1),
            tid: Tid(tid),
            comm,
        },
    ));
    let chain = profile.chains.insert(&frames);
    let (frame, period) = (*frames.last().unwrap(), period.parse().unwrap());
    let event = &mut profile.events[event];
    let order = event.sample_count;
    event.groups.push(SampleGroup {
        branch: None,
        history: None,
        thread,
        comm,
        detail: DetailId(0),
        frame,
        chain,
        samples: 1,
        period,
        latency: 0,
        order,
    });
    event.sample_count += 1;
    event.period_total += period;
    profile.frames.seal();
}

fn frame(profile: &mut Profile, text: &str) -> FrameId {
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let bare = |dso, address| Frame {
        dso,
        symbol: None,
        address,
        dso_address: address,
        level: Level::User,
        source: None,
        alone: false,
        outermost: true,
    };
    let frame = match (text.split_once(':'), text.split_once('+')) {
        (Some((_, name)), _) => named(profile, DsoId(1), name, Level::Kernel),
        (_, Some((_, address))) => Frame {
            dso_address: hex(address) & 0xfff,
            ..bare(Some(DsoId(2)), hex(address))
        },
        _ if text.starts_with("0x") => bare(None, hex(text)),
        _ => named(profile, DsoId(0), text, Level::User),
    };
    let known = profile.frames.iter().position(|known| *known == frame);
    known.map_or_else(|| profile.frames.add(frame), |known| FrameId(known as u32))
}

/// Symbols stand at addresses by their first letter.
fn named(profile: &mut Profile, dso: DsoId, name: &str, level: Level) -> Frame {
    let start = u64::from(name.as_bytes()[0]) << 8;
    let symbol = ProfileSymbol {
        name: name.to_owned(),
        dso,
        start,
        end: start + 0x100,
        inlined: false,
        is_data: false,
    };
    let symbol = Some(SymbolId(place(&mut profile.symbols, symbol)));
    Frame {
        dso: Some(dso),
        symbol,
        address: start,
        dso_address: start,
        level,
        source: None,
        alone: false,
        outermost: true,
    }
}

fn place<T: PartialEq>(table: &mut Vec<T>, value: T) -> u32 {
    let known = table.iter().position(|known| *known == value);
    known.unwrap_or_else(|| {
        table.push(value);
        table.len() - 1
    }) as u32
}

fn name(profile: &Profile, frame: FrameId, address: u64) -> String {
    let symbol = profile.frames[frame.index()].symbol;
    symbol.map_or(format!("{address:#x}"), |symbol| {
        profile.symbols[symbol.index()].name.clone()
    })
}

fn text(profile: &Profile, options: &HistOptions) -> String {
    let mut out = String::new();
    for table in histograms(profile, options) {
        for (index, row) in table.rows().enumerate() {
            for cell in table.cells(index) {
                write!(out, "{} {} ", cell.all.period, cell.own.period).unwrap();
            }
            let comm = &profile.comms[row.comm.index()];
            writeln!(
                out,
                "{} {comm} {}",
                row.level.letter(),
                name(profile, row.frame, row.address)
            )
            .unwrap();
            for (_, tree) in table.trees().iter().filter(|(at, _)| *at as usize == index) {
                branches(&mut out, profile, tree, tree.roots(), 1);
            }
        }
    }
    out
}

fn branches(
    out: &mut String,
    profile: &Profile,
    tree: &CallTree,
    indices: std::ops::Range<u32>,
    depth: usize,
) {
    for branch in indices.filter_map(|index| tree.branch(index)) {
        let shown = |&frame: &FrameId| name(profile, frame, profile.frames[frame.index()].address);
        let frames: Vec<String> = tree.frames(branch).iter().map(shown).collect();
        writeln!(
            out,
            "{}{} {}",
            "  ".repeat(depth),
            branch.total.period,
            frames.join(" ")
        )
        .unwrap();
        branches(out, profile, tree, branch.children(), depth + 1);
    }
}

fn graph(order: ChainOrder, min_percent: f64) -> HistOptions {
    let call_graph = Some(CallGraphOptions {
        shape: Shape::Graph,
        order,
        min_percent,
        by_address: false,
    });
    HistOptions {
        order,
        call_graph,
        ..HistOptions::default()
    }
}

#[track_caller]
fn check(options: &HistOptions, samples: &str, expected: &str) {
    let expected = expected.replace("\n         ", "\n");
    assert_eq!(text(&profile(samples), options).trim_end(), expected);
}

#[test]
fn a_sample_adds_once_to_each_row_of_its_chain() {
    check(
        &HistOptions::default(),
        "a/1;main;rec;rec;leaf 3
         a/1;main;rec 2",
        "5 2 . a rec
         5 0 . a main
         3 3 . a leaf",
    );
}

#[test]
fn without_children_only_what_ran_counts() {
    check(
        &HistOptions {
            children: false,
            ..HistOptions::default()
        },
        "a/1;main;leaf 3
         b/2;main;leaf 4",
        "4 4 . b leaf
         3 3 . a leaf",
    );
}

#[test]
fn callers_first_the_graph_of_a_caller_begins_with_it() {
    check(
        &graph(ChainOrder::Caller, 0.0),
        "a/1;main;x;leaf 3
         a/1;main;y 1",
        "4 0 . a main
           4 main
             3 x leaf
             1 y
         3 3 . a leaf
           3 main x leaf
         3 0 . a x
           3 x leaf
         1 1 . a y
           1 main y",
    );
}

#[test]
fn callees_first_the_graph_goes_outwards() {
    let options = HistOptions {
        children: false,
        ..graph(ChainOrder::Callee, 0.0)
    };
    check(
        &options,
        "a/1;main;x;leaf 3
         a/1;main;y;leaf 1",
        "4 4 . a leaf
           4 leaf
             3 x main
             1 y main",
    );
}

#[test]
fn what_ran_in_a_recursive_row_brings_its_whole_chain_once() {
    check(
        &graph(ChainOrder::Caller, 0.0),
        "a/1;main;rec;rec 3
         a/1;main;rec;leaf 1",
        "4 3 . a rec
           3 main rec rec
           1 rec leaf
         4 0 . a main
           4 main rec
             3 rec
             1 leaf
         1 1 . a leaf
           1 main rec leaf",
    );
}

#[test]
fn chains_that_end_midway_part_a_branch() {
    let options = HistOptions {
        children: false,
        ..graph(ChainOrder::Caller, 0.0)
    };
    check(
        &options,
        "a/1;main;x 1
         a/1;main;x;x 2",
        "3 3 . a x
           3 main x
             2 x",
    );
}

#[test]
fn light_branches_and_rows_have_no_graph() {
    check(
        &graph(ChainOrder::Caller, 50.0),
        "a/1;main;heavy 9
         a/1;main;light 1",
        "10 0 . a main
           10 main
             9 heavy
         9 9 . a heavy
           9 main heavy
         1 1 . a light",
    );
}

#[test]
fn callers_stand_above_callees_of_equal_weight_whatever_the_order_goes_on_with() {
    let samples = "a/1;x;y;p;q 3
                   a/1;x;y 1";
    let usual = graph(ChainOrder::Caller, 100.0);
    let weights = [
        Measure::Children,
        Measure::ChildrenLatency,
        Measure::Own,
        Measure::OwnLatency,
    ];
    let keys = usual.keys.iter().copied().map(Field::Key);
    let order_by = weights
        .map(Field::Measure)
        .into_iter()
        .chain(keys)
        .collect();
    let profile = profile(samples);
    let rows = text(&profile, &usual);
    assert_eq!(rows.lines().next(), Some("4 0 . a x"));
    assert_eq!(text(&profile, &HistOptions { order_by, ..usual }), rows);
}

#[test]
fn addresses_of_a_row_and_of_a_caller_are_not_the_same() {
    check(
        &HistOptions::default(),
        "a/1;0x77;lib+0x7f001;lib+0x7f010 1",
        "1 1 . a 0x10
         1 0 . a 0x7f001
         1 0 . a 0x7f010
         1 0 . a 0x77",
    );
}

#[test]
fn the_level_of_a_caller_follows_perf() {
    check(
        &HistOptions::default(),
        "a/1;0x77;k:entry;k:work 1",
        "1 1 k a work
         1 0 . a entry
         1 0 k a 0x77",
    );
}

#[test]
fn events_of_a_group_share_rows() {
    let mut profile = profile("a/1;main 5");
    profile.events.push(EventProfile::default());
    sample(&mut profile, 1, "a/1;main;leaf 7");
    for event in &mut profile.events {
        event.group = Some(EventGroup {
            leader: 0,
            name: None,
            joined: false,
        });
    }
    assert_eq!(
        text(&profile, &HistOptions::default()),
        "5 5 7 0 . a main\n0 0 7 7 . a leaf\n"
    );
    let apart = HistOptions {
        group: false,
        ..HistOptions::default()
    };
    assert_eq!(
        text(&profile, &apart),
        "5 5 . a main\n7 7 . a leaf\n7 0 . a main\n"
    );
}

#[test]
fn in_outlines_each_event_of_a_group_has_a_first_row() {
    let mut profile = profile("a/1;main 5");
    profile.events.push(EventProfile {
        has_callchains: true,
        ..EventProfile::default()
    });
    sample(&mut profile, 1, "a/1;main;leaf 7");
    for event in &mut profile.events {
        event.group = Some(EventGroup {
            leader: 0,
            name: None,
            joined: false,
        });
    }
    let levels = vec![vec![SortKey::Comm], vec![SortKey::Symbol]];
    let outline = HistOptions {
        keys: levels.concat(),
        levels,
        ..HistOptions::default()
    };
    // The leader never saw the leaf, and borrows what it counts with callees.
    assert_eq!(
        text(&profile, &outline),
        "5 5 7 7 . a leaf\n7 0 7 7 . a leaf\n5 5 0 0 . a main\n"
    );
}

#[test]
fn ids_that_lead_nowhere_are_survived() {
    let mut profile = profile("a/1;main;leaf 5");
    let stray = Frame {
        dso: Some(DsoId(99)),
        symbol: Some(SymbolId(99)),
        ..profile.frames[1]
    };
    profile.frames = [profile.frames[0], stray].into_iter().collect();
    let known = profile.events[0].groups[0];
    profile.events[0].groups.push(SampleGroup {
        branch: None,
        history: None,
        frame: FrameId(77),
        chain: NodeId(77),
        thread: ThreadId(77),
        comm: CommId(77),
        ..known
    });
    let tables = histograms(&profile, &graph(ChainOrder::Caller, 0.0));
    assert_eq!(tables.len(), 1);
}

#[test]
fn where_names_are_not_shown_rows_of_equal_weight_stand_by_address() {
    let mut profile = profile("a/1;zoo 1\na/1;ant 1");
    profile.symbols[1].start = profile.symbols[0].start + 0x100;
    let options = HistOptions {
        keys: vec![SortKey::NoIpc],
        ..HistOptions::default()
    };
    assert_eq!(text(&profile, &options), "1 1 . a zoo\n1 1 . a ant\n");
}

#[test]
fn rows_that_are_heavy_enough_show_a_graph() {
    let mut profile = profile(
        "
        a/1;main;work 600
        b/2;main;work 3
        a/3;main;work 300
        a/1;main;rest 4
        a/1;main;idle 93
        ",
    );
    profile.events[0]
        .groups
        .iter_mut()
        .for_each(|group| group.chain = ContextTree::ROOT);
    let graphed = |min_percent, least| {
        let (shape, order) = (Shape::Graph, ChainOrder::Callee);
        let graph = CallGraphOptions {
            shape,
            order,
            min_percent: least,
            by_address: false,
        };
        let options = HistOptions {
            call_graph: Some(graph),
            children: false,
            min_percent,
            ..HistOptions::default()
        };
        super::graphed(&profile, &options).remove(0)
    };
    assert_eq!(graphed(0.0, 0.5), [true, false, true, false, true]);
    assert_eq!(graphed(0.0, 0.4), [true, false, true, true, true]);
    assert_eq!(graphed(20.0, 0.5), [true, false, true, false, false]);
    assert_eq!(
        super::graphed(&profile, &HistOptions::default()),
        [[false; 5]]
    );
}
