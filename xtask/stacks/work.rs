//! Two threads with trees, formatted text and sorting.
use std::collections::BTreeMap;

trait Visit {
    fn visit(&self, depth: u32) -> u64;
}

struct Node {
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
    value: u64,
}

impl Visit for Node {
    fn visit(&self, depth: u32) -> u64 {
        let of = |node: &Option<Box<Node>>| node.as_ref().map_or(0, |node| node.visit(depth + 1));
        self.value.wrapping_mul(31) ^ of(&self.left).wrapping_add(of(&self.right))
    }
}

fn tree(depth: u32, seed: u64) -> Option<Box<Node>> {
    (depth > 0).then(|| {
        Box::new(Node {
            left: tree(depth - 1, seed * 3 + 1),
            right: tree(depth - 1, seed * 5 + 2),
            value: seed,
        })
    })
}

fn words(count: u64) -> usize {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for i in 0..count {
        *counts.entry(format!("key {} {i:x}", i * 7919 % 1000)).or_default() += i;
    }
    counts.keys().map(String::len).sum()
}

fn work(rounds: u64) -> u64 {
    let mut total = 0u64;
    for round in 0..rounds {
        if let Some(tree) = tree(13, round + 1) {
            let visited: &dyn Visit = &*tree;
            total ^= visited.visit(0);
        }
        let mut values: Vec<u64> = (0..20_000).map(|i| (i * 7919 + round) % 65_537).collect();
        values.sort_by(|a, b| b.cmp(a));
        total = total.wrapping_add(values[3] + words(4000) as u64);
    }
    total
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(100);
    let other = std::thread::spawn(move || work(rounds));
    println!("{}", work(rounds) ^ other.join().unwrap());
}
