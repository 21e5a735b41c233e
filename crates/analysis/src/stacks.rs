//! The distinct stacks of several events, with the weight of each event.

use oxperf_profile::{CommId, EventProfile, NodeId, SampleTotals, ThreadId};
use rustc_hash::FxHashMap;

/// A chain of a thread, under one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stack {
    /// The thread.
    pub thread: ThreadId,
    /// Its name at the time.
    pub comm: CommId,
    /// The chain.
    pub chain: NodeId,
}

/// Stacks in the order of their first samples, event after event.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    list: Vec<Stack>,
    /// For each stack the weights of all events.
    weights: Vec<SampleTotals>,
    events: usize,
}

impl Stacks {
    /// The stacks of these events.
    pub fn of(events: &[&EventProfile]) -> Stacks {
        let mut stacks = Stacks {
            events: events.len(),
            ..Stacks::default()
        };
        let mut known: FxHashMap<Stack, usize> = FxHashMap::default();
        for (nth, event) in events.iter().enumerate() {
            for group in &event.groups {
                let stack = Stack {
                    thread: group.thread,
                    comm: group.comm,
                    chain: group.chain,
                };
                let index = *known.entry(stack).or_insert_with(|| stacks.add(stack));
                let weight = SampleTotals {
                    period: group.period,
                    samples: group.samples,
                    latency: group.latency,
                };
                if let Some(sum) = stacks.weights.get_mut(index * events.len() + nth) {
                    *sum += weight;
                }
            }
        }
        stacks
    }

    fn add(&mut self, stack: Stack) -> usize {
        self.list.push(stack);
        let weights = self.weights.len() + self.events;
        self.weights.resize(weights, SampleTotals::default());
        self.list.len() - 1
    }

    /// Each stack with the weight of each event.
    pub fn iter(&self) -> impl Iterator<Item = (Stack, &[SampleTotals])> + '_ {
        let weights = self.weights.chunks(self.events.max(1));
        self.list.iter().copied().zip(weights)
    }
}
