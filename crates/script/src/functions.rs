//! The functions that are shown: by name, or by the calls that they are in.

use std::sync::Arc;

use oxperf_machine::{Dso, ThreadId};
use oxperf_resolve::{DsoAddressTable, Names};
use rustc_hash::FxHashMap;

use crate::view::SampleView;

/// Names of functions and objects, as asked for.
#[derive(Clone, Debug, Default)]
pub struct FunctionNames {
    /// Functions whose samples are shown; with `0x`, addresses.
    pub shown: Vec<String>,
    /// Bytes from these addresses on.
    pub address_range: u64,
    /// Objects whose samples are shown.
    pub dsos: Vec<String>,
    /// Functions that call chains end with.
    pub last_of_chains: Vec<String>,
    /// Functions whose calls are shown.
    pub graph: Vec<String>,
}

/// The functions whose samples are shown; an empty list asks nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FunctionChoice {
    shown: Vec<String>,
    /// The addresses among those that are shown.
    addresses: Vec<u64>,
    /// Bytes that count from each of these addresses on.
    range: u64,
    dsos: Vec<String>,
    last: Arc<[String]>,
    graph: Vec<String>,
}

impl FunctionChoice {
    /// The functions, objects and calls that are asked for.
    pub fn new(names: FunctionNames) -> FunctionChoice {
        let address = |text: &String| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        FunctionChoice {
            addresses: names.shown.iter().filter_map(address).collect(),
            shown: names.shown,
            range: names.address_range,
            dsos: names.dsos,
            last: names.last_of_chains.into(),
            graph: names.graph,
        }
    }

    /// Whether anything is left out.
    pub fn asks_anything(&self) -> bool {
        !self.shown.is_empty() || !self.dsos.is_empty() || self.asks_for_graph()
    }

    /// Whether only what is called in some functions is shown.
    pub fn asks_for_graph(&self) -> bool {
        !self.graph.is_empty()
    }

    /// The functions that call chains end with.
    pub fn last_of_chains(&self) -> Arc<[String]> {
        Arc::clone(&self.last)
    }

    /// Whether a function is shown.
    pub fn takes(&self, name: &str) -> bool {
        self.shown.is_empty() || self.shown.iter().any(|shown| shown == name)
    }

    /// Whether an address is, in a function that begins at another.
    fn takes_address(&self, address: u64, start: Option<u64>) -> bool {
        let covers = |&from: &u64| {
            Some(from) == start
                || (from..=from.saturating_add(self.range.saturating_sub(1))).contains(&address)
        };
        self.addresses.iter().any(covers)
    }

    /// Whether an object is shown, by its name or its path.
    fn takes_object(&self, object: Option<&Dso>) -> bool {
        self.dsos.is_empty()
            || object.is_some_and(|object| {
                self.dsos.iter().any(|name| {
                    *name == object.short_name || *name == object.name || *name == object.shown
                })
            })
    }

    /// Whether what is called in a function is shown.
    pub fn begins_graph(&self, name: &str) -> bool {
        self.graph.is_empty() || self.graph.iter().any(|graph| graph == name)
    }
}

/// Judges samples by their functions.
pub struct FunctionFilter {
    pub(crate) choice: FunctionChoice,
    names: Arc<Names<'static>>,
    addresses: DsoAddressTable,
    /// The depth of the shown call that each thread is in.
    entered: FxHashMap<ThreadId, u32>,
}

impl FunctionFilter {
    /// Judges by these names.
    pub fn new(choice: FunctionChoice, names: Arc<Names<'static>>) -> FunctionFilter {
        FunctionFilter {
            choice,
            names,
            addresses: DsoAddressTable::default(),
            entered: FxHashMap::default(),
        }
    }

    /// Whether a sample is one of the functions that are shown.
    #[inline]
    pub fn takes(&mut self, view: &SampleView<'_>) -> bool {
        if !self.choice.asks_anything() {
            return true;
        }
        self.takes_symbol(view) && (!self.choice.asks_for_graph() || self.is_in_graph(view))
    }

    fn takes_symbol(&mut self, view: &SampleView<'_>) -> bool {
        let ip = view.ip_or_zero();
        if !self.choice.dsos.is_empty() {
            let located = view.context().locate(view.mode(), ip);
            let object = located.map(|located| view.machine.dso(located.dso));
            if !self.choice.takes_object(object) {
                return false;
            }
        }
        if self.choice.shown.is_empty() {
            return true;
        }
        let (machine, thread) = (view.machine, view.event.thread);
        let located = self.addresses.locate(machine, thread, view.mode(), ip);
        let Some((_, located)) = located else {
            return false;
        };
        let name = self.names.name(machine.objects(), &located);
        let start = name.map(|name| ip.wrapping_sub(located.address.wrapping_sub(name.start)));
        name.is_some_and(|name| self.choice.takes(name.text))
            || self.choice.takes_address(ip, start)
    }

    /// Whether a thread is in one of the calls that are shown, as of this sample.
    fn is_in_graph(&mut self, view: &SampleView<'_>) -> bool {
        let (thread, depth) = (
            view.event.thread,
            view.traced().map_or(0, |traced| traced.depth),
        );
        if let Some(entered) = self.entered.get(&thread) {
            let inside = depth > *entered;
            if !inside {
                self.entered.remove(&thread);
            }
            return inside;
        }
        let Some(address) = view.entered_or_left() else {
            return false;
        };
        let begins = self.begins_graph(view, address);
        if begins {
            self.entered.insert(thread, depth);
        }
        begins
    }

    /// Whether the function of an address is one whose calls are shown.
    fn begins_graph(&mut self, view: &SampleView<'_>, address: u64) -> bool {
        let (machine, thread) = (view.machine, view.event.thread);
        let mode = view.mode_at(address);
        let located = self.addresses.locate(machine, thread, mode, address);
        let name = located.and_then(|(_, located)| self.names.name(machine.objects(), &located));
        name.is_some_and(|name| self.choice.begins_graph(name.text))
    }
}
