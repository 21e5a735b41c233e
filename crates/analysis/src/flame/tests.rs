//! Trees written as folded stacks: `thread;outer;inner VALUE`, one a line.

use super::*;
use oxperf_profile::{
    CommId, ContextTree, DetailId, DsoId, Frame, FrameId, Level, ProfileDso, ProfileSymbol,
    SampleGroup, SymbolId, ThreadId,
};

/// The tree as text: two spaces a level, own/total values.
fn text(tree: &FlameTree) -> String {
    fn below(tree: &FlameTree, parent: Option<u32>, depth: usize, out: &mut String) {
        for (index, node) in tree
            .nodes
            .iter()
            .enumerate()
            .filter(|(_, n)| n.parent == parent)
        {
            let frame = tree.frames[node.frame as usize];
            let name = &tree.names[frame.name as usize];
            let dso = frame
                .dso
                .map_or("-", |dso| tree.dsos[dso as usize].name.as_str());
            let (indent, own, total) = ("  ".repeat(depth), node.own.value, node.total.value);
            *out += &format!("{indent}{name} {dso} {own}/{total}\n");
            below(tree, Some(index as u32), depth + 1, out);
        }
    }
    let mut out = String::new();
    below(tree, None, 0, &mut out);
    out
}

/// A profile of one event: object 0 with `main` and `work`, object 1 (kernel) without symbols.
fn profile(chains: &[(&[u32], u64)]) -> Profile {
    let mut profile = Profile {
        comms: vec!["app".into()],
        dsos: ["app", "[kernel]"]
            .map(|name| ProfileDso {
                long: name.into(),
                short: name.into(),
            })
            .into(),
        symbols: ["main", "work"]
            .map(|name| ProfileSymbol {
                name: name.into(),
                dso: DsoId(0),
                start: 0,
                end: 1,
                inlined: false,
                is_data: false,
            })
            .into(),
        frames: [
            frame(0, Some(0), 0x10),
            frame(0, Some(1), 0x20),
            frame(0, Some(1), 0x24),
            frame(1, None, 0xffff_0000),
            frame(1, None, 0xffff_0008),
        ]
        .into_iter()
        .collect(),
        ..Profile::default()
    };
    let groups = chains
        .iter()
        .map(|(chain, period)| group(&mut profile.chains, chain, *period))
        .collect();
    profile.events.push(EventProfile {
        groups,
        ..EventProfile::default()
    });
    profile
}

fn frame(dso: u32, symbol: Option<u32>, address: u64) -> Frame {
    let level = if dso == 1 { Level::Kernel } else { Level::User };
    Frame {
        dso: Some(DsoId(dso)),
        symbol: symbol.map(SymbolId),
        address,
        dso_address: address,
        level,
        source: None,
        alone: false,
        outermost: true,
    }
}

fn group(tree: &mut ContextTree, chain: &[u32], period: u64) -> SampleGroup {
    let frame = FrameId(chain.last().copied().unwrap_or(1));
    let frames: Vec<FrameId> = chain.iter().map(|&frame| FrameId(frame)).collect();
    let chain = tree.insert(&frames);
    let (thread, comm) = (ThreadId(0), CommId(0));
    SampleGroup {
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
        order: 0,
    }
}

fn tree(chains: &[(&[u32], u64)]) -> FlameTree {
    let profile = profile(chains);
    FlameTree::of_event(&profile, &profile.events[0])
}

#[test]
fn addresses_of_one_function_merge_and_totals_sum_up() {
    let tree = tree(&[
        (&[0, 1], 5),
        (&[0, 2], 7),
        (&[0, 2, 3], 1),
        (&[0, 1, 4], 2),
        (&[0], 3),
    ]);
    let expected = "\
app - 0/18
  main app 3/18
    work app 12/15
      [unknown] [kernel] 3/3
";
    assert_eq!(text(&tree), expected);
    assert_eq!(
        tree.total(),
        FlameWeight {
            value: 18,
            samples: 5
        }
    );
    assert_eq!(
        tree.dsos.iter().map(|dso| dso.kernel).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn threads_that_share_chains_stand_apart() {
    let mut profile = profile(&[
        (&[0, 1], 5),
        (&[0, 1], 7),
        (&[0, 2], 1),
        (&[0, 2], 2),
        (&[0, 1], 4),
    ]);
    profile.comms.push("two".into());
    for at in [1, 3] {
        profile.events[0].groups[at].comm = CommId(1);
    }
    let expected = "\
app - 0/10
  main app 0/10
    work app 10/10
two - 0/9
  main app 0/9
    work app 9/9
";
    assert_eq!(
        text(&FlameTree::of_event(&profile, &profile.events[0])),
        expected
    );
}

#[test]
fn a_sample_without_a_chain_counts_for_its_own_address() {
    assert_eq!(text(&tree(&[(&[], 4)])), "app - 0/4\n  work app 4/4\n");
}

#[test]
fn recursion_stays_visible() {
    assert_eq!(
        text(&tree(&[(&[1, 2, 1], 1)])),
        "app - 0/1\n  work app 0/1\n    work app 0/1\n      work app 1/1\n"
    );
}

#[test]
fn ids_out_of_their_tables_are_unknown_code() {
    assert_eq!(text(&tree(&[(&[99], 1)])), "app - 0/1\n  [unknown] - 1/1\n");
}

#[test]
fn folding_keeps_every_total_and_says_what_it_took() {
    let mut tree = tree(&[
        (&[0, 1], 1_000_000),
        (&[0, 3], 2),
        (&[0, 3, 1], 3),
        (&[0, 3, 2, 0], 1),
    ]);
    let moved = tree.fold(4);
    assert_eq!(moved, Some(vec![0, 1, 2, 3, 3, 3]));
    let expected = "\
app - 0/1000006
  main app 0/1000006
    work app 1000000/1000000
    [small stacks, folded] - 6/6
";
    assert_eq!(text(&tree), expected);
    let weight = FlameWeight {
        value: 6,
        samples: 3,
    };
    assert_eq!(
        tree.folded,
        Some(Folded {
            nodes: 3,
            limit: 10,
            weight
        })
    );
}

#[test]
fn a_tree_that_fits_is_not_folded() {
    let mut tree = tree(&[(&[0, 1], 1_000_000), (&[0, 3], 1)]);
    assert_eq!(tree.fold(4), None);
    assert_eq!(tree.folded, None);
    assert_eq!(tree.nodes.len(), 4);
}

#[test]
fn an_empty_event_is_an_empty_tree() {
    let mut tree = tree(&[]);
    tree.fold(0);
    assert_eq!(tree.nodes, []);
    assert_eq!(tree.total(), FlameWeight::default());
}
