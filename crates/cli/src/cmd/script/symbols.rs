//! Which functions `script` shows: by name, or by what was called in them.

use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use oxperf_machine::{Dso, Machine, ThreadId};
use oxperf_session::{SampleEvent, SampleFlags};
use rustc_hash::FxHashMap;

use super::printer::Printer;
use super::traced::entered_or_left;

/// The options.
pub(super) fn arguments() -> [Arg; 5] {
    let list = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .value_name("NAMES")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .help(help)
    };
    [
        list("symbols", "Show these functions only, comma separated; addresses such as 0x401000 are those of functions or of samples").short('S'),
        list("dsos", "Show samples of these objects only, comma separated"),
        list("stop-bt", "End call chains with these functions"),
        Arg::new("addr-range")
            .long("addr-range")
            .value_name("BYTES")
            .value_parser(value_parser!(u64))
            .help("With -S ADDRESS: show the samples of so many bytes from there on"),
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
    /// The addresses among those that are shown, and how many bytes from each count.
    addresses: Vec<u64>,
    range: u64,
    dsos: Vec<String>,
    last: Arc<[String]>,
    graph: Vec<String>,
}

impl Symbols {
    /// Takes the options.
    pub(super) fn from_matches(matches: &ArgMatches) -> Symbols {
        let names = |name| -> Vec<String> {
            matches
                .get_many::<String>(name)
                .into_iter()
                .flatten()
                .cloned()
                .collect()
        };
        let shown = names("symbols");
        let address = |text: &String| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
        Symbols {
            addresses: shown.iter().filter_map(address).collect(),
            shown,
            range: matches.get_one("addr-range").copied().unwrap_or(0),
            dsos: names("dsos"),
            last: names("stop-bt").into(),
            graph: names("graph-function"),
        }
    }

    /// Whether anything is left out.
    pub(super) fn ask_anything(&self) -> bool {
        !self.shown.is_empty() || !self.dsos.is_empty() || self.asks_for_graph()
    }

    /// Whether only what is called in some functions is shown.
    pub(super) fn asks_for_graph(&self) -> bool {
        !self.graph.is_empty()
    }

    /// The functions that call chains end with.
    pub(super) fn last_of_chains(&self) -> Arc<[String]> {
        Arc::clone(&self.last)
    }

    /// Whether a function is shown.
    pub(super) fn take(&self, name: &str) -> bool {
        self.shown.is_empty() || self.shown.iter().any(|shown| shown == name)
    }

    /// Whether an address is, in a function that begins at another.
    fn take_address(&self, address: u64, start: Option<u64>) -> bool {
        let covers = |&from: &u64| {
            Some(from) == start
                || (from..=from.saturating_add(self.range.saturating_sub(1))).contains(&address)
        };
        self.addresses.iter().any(covers)
    }

    /// Whether an object is shown, by its name or its path.
    fn take_object(&self, object: Option<&Dso>) -> bool {
        self.dsos.is_empty()
            || object.is_some_and(|object| {
                self.dsos.iter().any(|name| {
                    *name == object.short_name || *name == object.name || *name == object.shown
                })
            })
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
        self.takes_symbol(machine, event)
            && (!self.symbols.asks_for_graph() || self.follows(machine, event))
    }

    fn takes_symbol(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> bool {
        let ip = event.sample.ip.unwrap_or(0);
        if !self.symbols.dsos.is_empty() {
            let place = machine.locate(event.thread, event.misc.cpu_mode(), ip);
            if !self
                .symbols
                .take_object(place.map(|place| machine.dso(place.dso)))
            {
                return false;
            }
        }
        if self.symbols.shown.is_empty() {
            return true;
        }
        let Some((_, place)) = self
            .places
            .locate(machine, event.thread, event.misc.cpu_mode(), ip)
        else {
            return false;
        };
        let name = self.names.name(machine.objects(), &place);
        let start = name.map(|name| ip.wrapping_sub(place.address.wrapping_sub(name.start)));
        name.is_some_and(|name| self.symbols.take(name.text))
            || self.symbols.take_address(ip, start)
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
        let flags = event
            .traced
            .map_or(SampleFlags::default(), |traced| traced.flags);
        let Some(address) = entered_or_left(event, flags) else {
            return false;
        };
        let name = self.symbol_at(machine, event, address);
        let begins = name.is_some_and(|name| self.symbols.begins_graph(&name));
        if begins {
            self.entered.0.insert(event.thread, depth);
        }
        begins
    }

    fn symbol_at(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
        address: u64,
    ) -> Option<String> {
        let mode = match machine.locate(event.thread, event.misc.cpu_mode(), address) {
            Some(_) => event.misc.cpu_mode(),
            None => machine.guess_mode(event.thread, address),
        };
        let (_, place) = self.places.locate(machine, event.thread, mode, address)?;
        self.names
            .name(machine.objects(), &place)
            .map(|name| name.text.to_owned())
    }
}
