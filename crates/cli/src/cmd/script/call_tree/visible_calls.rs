//! The calls that are shown: their depth among each other, and their lines.

use oxperf_analysis::calls::{Call, Ended, FunctionId, ThreadKey};
use oxperf_machine::Machine;
use oxperf_present::call_tree::{Caller, write_close, write_leaf, write_open};
use rustc_hash::FxHashMap;

use oxperf_query::Filter;
use oxperf_script::functions::FunctionChoice;

/// Decides which calls are shown.
pub(super) struct VisibleCalls {
    filter: Filter,
    choice: FunctionChoice,
    threads: FxHashMap<ThreadKey, Vec<OpenCall>>,
}

/// A call that goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct OpenCall {
    shown: bool,
    /// VisibleCalls calls that it is in.
    depth: u32,
    /// Whether it is a call of a function whose calls are asked for, or is in one.
    in_graph: bool,
}

impl VisibleCalls {
    pub(super) fn new(filter: Filter, choice: FunctionChoice) -> VisibleCalls {
        VisibleCalls {
            filter,
            choice,
            threads: FxHashMap::default(),
        }
    }

    /// How deep among the shown calls one that begins is; `None` if it is not shown.
    pub(super) fn entered(&mut self, machine: &Machine, call: &Call, name: &str) -> Option<u32> {
        let places = self.threads.entry(call.thread).or_default();
        let above = places.last().copied().unwrap_or(OpenCall {
            shown: false,
            depth: 0,
            in_graph: false,
        });
        let in_graph = above.in_graph || self.choice.begins_graph(name);
        let depth = above.depth + u32::from(above.shown);
        let shown = in_graph
            && self.choice.takes(name)
            && self
                .filter
                .takes_moment(machine, call.thread.0, call.entered);
        places.push(OpenCall {
            shown,
            depth,
            in_graph,
        });
        shown.then_some(depth)
    }

    /// The same when it ends.
    pub(super) fn left(&mut self, call: &Call) -> Option<u32> {
        let place = self.threads.get_mut(&call.thread)?.pop()?;
        place.shown.then_some(place.depth)
    }
}

/// Calls on their way to lines: whether one has others in it is known when the next begins, or when it ends.
#[derive(Default)]
pub(super) struct CallLines {
    waiting: FxHashMap<ThreadKey, (Call, u32)>,
}

impl CallLines {
    /// Takes a call that begins.
    pub(super) fn entered<'n>(
        &mut self,
        call: &Call,
        depth: u32,
        caller: &Caller<'_>,
        name: impl Fn(FunctionId) -> &'n str,
        out: &mut Vec<u8>,
    ) {
        if let Some((outer, depth)) = self.waiting.insert(call.thread, (*call, depth)) {
            write_open(&outer, depth, caller, name(outer.function), out);
        }
    }

    /// Takes a call that ends.
    pub(super) fn left(
        &mut self,
        ended: &Ended,
        depth: u32,
        caller: &Caller<'_>,
        name: &str,
        out: &mut Vec<u8>,
    ) {
        match self.waiting.remove(&ended.call.thread) {
            Some(_) => write_leaf(ended, depth, caller, name, out),
            None => write_close(ended, depth, caller, name, out),
        }
    }
}
