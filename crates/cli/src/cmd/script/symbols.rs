//! Which functions `script` shows: by name, or by what was called in them.

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_machine::{Machine, ThreadId};
use oxperf_session::{SampleEvent, SampleFlags};
use rustc_hash::FxHashMap;

use super::printer::Printer;
use super::traced::entered_or_left;

/// The options.
pub(super) fn arguments() -> [Arg; 2] {
    let list = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .value_name("NAMES")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help(help)
    };
    [
        list("symbols", "Show these functions only, comma separated").short('S'),
        list(
            "graph-function",
            "Show only calls of these functions and what is called in them; for the call options below",
        ),
    ]
}

/// Functions by name; an empty list asks nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Symbols {
    shown: Vec<String>,
    graph: Vec<String>,
}

impl Symbols {
    /// Takes the options.
    pub(super) fn from_matches(matches: &ArgMatches) -> Symbols {
        let names = |name| matches.get_many::<String>(name).into_iter().flatten().cloned().collect();
        Symbols { shown: names("symbols"), graph: names("graph-function") }
    }

    /// Whether anything is left out.
    pub(super) fn ask_anything(&self) -> bool {
        !self.shown.is_empty() || self.asks_for_graph()
    }

    /// Whether only what is called in some functions is shown.
    pub(super) fn asks_for_graph(&self) -> bool {
        !self.graph.is_empty()
    }

    /// Whether a function is shown.
    pub(super) fn take(&self, name: &str) -> bool {
        self.shown.is_empty() || self.shown.iter().any(|shown| shown == name)
    }

    /// Whether what is called in a function is shown.
    pub(super) fn begins_graph(&self, name: &str) -> bool {
        self.graph.is_empty() || self.graph.iter().any(|graph| graph == name)
    }
}

/// Which threads are in calls that are shown, and how deep these were made.
#[derive(Debug, Default)]
pub(super) struct Entered(FxHashMap<ThreadId, u32>);

impl Printer<'_> {
    /// Whether a sample is one of the functions that are shown.
    pub(super) fn takes_function(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        if !self.symbols.ask_anything() {
            return true;
        }
        self.takes_symbol(machine, event) && (!self.symbols.asks_for_graph() || self.follows(machine, event))
    }

    fn takes_symbol(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        if self.symbols.shown.is_empty() {
            return true;
        }
        let ip = event.sample.ip.unwrap_or(0);
        let Some(name) = self.symbol_at(machine, event, ip) else { return false };
        self.symbols.take(&name)
    }

    /// Whether a thread is in one of the calls that are shown, as of this sample.
    fn follows(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        let depth = event.traced.map_or(0, |traced| traced.depth);
        if let Some(entered) = self.entered.0.get(&event.thread) {
            let inside = depth > *entered;
            if !inside {
                self.entered.0.remove(&event.thread);
            }
            return inside;
        }
        let flags = event.traced.map_or(SampleFlags::default(), |traced| traced.flags);
        let Some(address) = entered_or_left(event, flags) else { return false };
        let name = self.symbol_at(machine, event, address);
        let begins = name.is_some_and(|name| self.symbols.begins_graph(&name));
        if begins {
            self.entered.0.insert(event.thread, depth);
        }
        begins
    }

    fn symbol_at(&mut self, machine: &Machine, event: &SampleEvent<'_>, address: u64) -> Option<String> {
        let mode = match machine.locate(event.thread, event.misc.cpu_mode(), address) {
            Some(_) => event.misc.cpu_mode(),
            None => machine.guess_mode(event.thread, address),
        };
        let (_, place) = self.places.locate(machine, event.thread, mode, address)?;
        self.names.grow(machine);
        self.names.name(machine, &place).map(|name| name.text.to_owned())
    }
}
