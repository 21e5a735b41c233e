//! What a stack of a Rust program goes through: sorting with closures, recursion behind a trait, formatting, allocation,
//! threads.

use std::collections::{BTreeMap, HashMap};

/// Whatever can be asked for a number.
trait Leaf {
    fn value(&mut self, at: u32) -> u64;
}

impl<F: FnMut(u32) -> u64> Leaf for F {
    fn value(&mut self, at: u32) -> u64 {
        self(at)
    }
}

fn descend(at: u32, leaf: &mut dyn Leaf) -> u64 {
    if at < 2 { leaf.value(at) } else { descend(at - 1, leaf) + descend(at - 2, leaf) }
}

fn round(seed: u64) -> u64 {
    let mut numbers: Vec<u64> = (0..30_000).map(|n| n * 2_654_435_761 ^ seed).collect();
    numbers.sort_by(|a, b| (a % 1009).cmp(&(b % 1009)).then(b.cmp(a)));
    let mut counts: HashMap<String, u64> = HashMap::new();
    for number in numbers.iter().take(4000) {
        *counts.entry(format!("number {}", number % 313)).or_default() += 1;
    }
    let sorted: BTreeMap<_, _> = counts.into_iter().collect();
    let letters: usize = numbers.iter().map(|number| number.to_string().len()).sum();
    sorted.values().sum::<u64>() + letters as u64 + descend(18, &mut |at| u64::from(at) + seed)
}

fn main() {
    let rounds: u64 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(1);
    let work = move || (0..rounds).map(round).fold(0, u64::wrapping_add);
    let threads: Vec<_> = (0..2).map(|_| std::thread::spawn(work)).collect();
    let sums = threads.into_iter().map(|thread| thread.join().unwrap_or(0));
    println!("{}", sums.fold(0, u64::wrapping_add));
}
