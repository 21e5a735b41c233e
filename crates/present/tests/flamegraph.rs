//! The flame graph's page read back by the rules of its data, as the page's own program reads it.

use std::collections::BTreeMap;

use oxperf_analysis::flame::{FlameFrame, FlameKind, FlameNode, FlameTree, FlameWeight};
use oxperf_present::html::flamegraph::FlamePage;
use oxperf_present::text::unit::WeightUnit;

/// Own weights by the frames of the path that leads there.
type Paths = BTreeMap<Vec<u32>, (u64, u64)>;

fn html(tree: &FlameTree) -> String {
    let unit = WeightUnit::Count("cycles");
    let mut out = Vec::new();
    FlamePage {
        title: "t",
        subtitle: "s",
        unit,
        lost: &[],
        tree,
    }
    .write(&mut out)
    .unwrap();
    String::from_utf8(out).unwrap()
}

/// The text between two others.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    text.split_once(before)
        .unwrap()
        .1
        .split_once(after)
        .unwrap()
        .0
}

fn base64(text: &str) -> Vec<u8> {
    let six = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let letters: Vec<u8> = text.bytes().filter(|c| *c != b'=').collect();
    letters
        .chunks(4)
        .flat_map(|four| {
            let bits = four
                .iter()
                .fold(0_u32, |bits, c| bits << 6 | u32::from(six(*c)))
                << (6 * (4 - four.len()));
            bits.to_be_bytes()[1..four.len()].to_vec()
        })
        .collect()
}

fn number(bytes: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes.next()?;
        value |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            return Some(value);
        }
    }
}

/// The paths of a page; frames are given by the names that the page's table has for them.
fn paths_of_page(html: &str) -> Paths {
    let mean: u64 = between(html, "\"mean\":", ",").parse().unwrap();
    let name_places = between(html, "\"frames\":{\"name\":[", "]");
    let names: Vec<&str> = between(html, "\"names\":[", "]").split(',').collect();
    let frames: Vec<u32> = name_places
        .split(',')
        .map(|place| {
            names[place.parse::<usize>().unwrap()]
                .trim_matches('"')
                .parse()
                .unwrap()
        })
        .collect();
    let mut bytes = base64(between(html, "id=\"nodes\">", "</script>")).into_iter();
    let (mut paths, mut path) = (Paths::new(), Vec::new());
    while let Some(up) = number(&mut bytes) {
        path.truncate(path.len() - up as usize);
        path.push(frames[number(&mut bytes).unwrap() as usize]);
        let word = number(&mut bytes).unwrap();
        let zigzag = if word & 1 == 1 {
            number(&mut bytes).unwrap() as i64
        } else {
            0
        };
        let difference = zigzag >> 1 ^ -(zigzag & 1);
        let value = ((word >> 1) * mean).wrapping_add_signed(difference);
        let seen = paths.insert(path.clone(), (value, word >> 1));
        assert_eq!(seen, None, "a path twice");
    }
    paths
}

fn paths_of_tree(tree: &FlameTree) -> Paths {
    let mut paths: Vec<Vec<u32>> = Vec::new();
    for node in &tree.nodes {
        let mut path = node
            .parent
            .map_or_else(Vec::new, |parent| paths[parent as usize].clone());
        path.push(node.frame);
        paths.push(path);
    }
    paths
        .into_iter()
        .zip(&tree.nodes)
        .map(|(path, node)| (path, (node.own.value, node.own.samples)))
        .collect()
}

/// A tree whose names are the numbers of its frames. `parent` chooses among the nodes so far.
fn tree(nodes: u32, frames: u32, mut parent: impl FnMut(u32) -> Option<u32>) -> FlameTree {
    let mut tree = FlameTree::default();
    for name in 0..frames {
        tree.names.push(name.to_string());
        tree.frames.push(FlameFrame {
            name,
            dso: None,
            kind: FlameKind::Function,
        });
    }
    for node in 0..nodes {
        let value = u64::from(node) * 77_777 % 1_000_003;
        let own = FlameWeight {
            value,
            samples: u64::from(node % 3),
        };
        // A caller has each callee once.
        tree.nodes.push(FlameNode {
            parent: parent(node),
            frame: node % frames,
            own,
            total: own,
        });
    }
    tree.sum_totals();
    tree
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let tree = tree(3000, 3000, |node| {
        (node % 7 > 0).then(|| node * 31 % 1009 % node.max(1))
    });
    assert_eq!(paths_of_page(&html(&tree)), paths_of_tree(&tree));
}

#[test]
fn a_chain_of_any_depth_is_written() {
    let tree = tree(200_000, 5, |node| node.checked_sub(1));
    assert!(html(&tree).contains("\"nodes\":200000,"));
}

#[test]
fn half_a_million_nodes_are_some_megabytes() {
    let tree = tree(500_000, 20_000, |node| (node > 20).then_some(node / 3));
    let size = html(&tree).len();
    assert!(size < 6_000_000, "{size}");
}
