//! The samples and rows that `report` shows, of those that it counts.

use clap::{Arg, ArgAction, value_parser};
use oxperf_abi::Cpu;
use oxperf_analysis::hist::{Field, SortKey, Table};
use oxperf_present::report::{ReportText, Restriction};
use oxperf_profile::{Detail, Profile, SampleGroup};

use oxperf_query::{ThreadFilter, parse_cpus, read_names};
use oxperf_sys::cpus::CpuRanges;

use crate::failure::Failure;

/// The options beside those of threads, times and CPUs.
pub(super) fn arguments() -> [Arg; 8] {
    let list =
        |name: &'static str, value, help| Arg::new(name).long(name).value_name(value).help(help);
    [
        list(
            "dsos",
            "dso[,dso...]",
            "Show samples of these objects only, comma separated or file://FILE",
        )
        .short('d'),
        list(
            "symbols",
            "symbol[,symbol...]",
            "Show samples of these functions only",
        )
        .short('S'),
        list(
            "symbol-filter",
            "filter",
            "Show rows only whose functions have TEXT in their names",
        ),
        Arg::new("symbol")
            .value_name("symbol")
            .help("The same as --symbol-filter"),
        list(
            "percentage",
            "relative|absolute",
            "What percentages are of: all samples, or those shown",
        )
        .value_parser(["absolute", "relative"]),
        list("socket-filter", "n", "Show samples of this socket only")
            .value_parser(value_parser!(u64)),
        list(
            "parallelism",
            "parallelism",
            "Show samples of moments at which so many threads ran, such as 1,3-4",
        ),
        Arg::new("hide-unresolved")
            .long("hide-unresolved")
            .short('U')
            .action(ArgAction::SetTrue)
            .help("Leave out code without a symbol"),
    ]
}

/// Conditions for a sample or row to be shown; `None` is no condition.
#[derive(Clone, Debug, Default)]
pub(in crate::cmd) struct RowFilter {
    threads: ThreadFilter,
    dsos: Option<Vec<String>>,
    symbols: Option<Vec<String>>,
    part_of_symbol: Option<String>,
    relative: bool,
    socket: Option<u64>,
    parallelism: Option<CpuRanges>,
}

/// The options of a [`RowFilter`], as they were given.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct RowFilterOptions {
    /// Names of objects.
    pub(super) dsos: Option<String>,
    /// Names of functions.
    pub(super) symbols: Option<String>,
    /// A part of functions' names.
    pub(super) part_of_symbol: Option<String>,
    /// Percentages are of what is shown.
    pub(super) relative: bool,
    /// The number of a socket.
    pub(super) socket: Option<u64>,
    /// Numbers of threads that ran at once.
    pub(super) parallelism: Option<String>,
}

impl RowFilterOptions {
    /// The details that samples need for it.
    pub(super) fn details(&self) -> Vec<Detail> {
        let socket = self.socket.map(|_| Detail::SOCKET);
        let parallelism = self.parallelism.as_ref().map(|_| Detail::PARALLELISM);
        socket.into_iter().chain(parallelism).collect()
    }
}

impl RowFilter {
    /// Reads the lists of the options.
    ///
    /// # Errors
    ///
    /// A file of names that cannot be read, and a list of numbers that is none.
    pub(super) fn new(
        options: &RowFilterOptions,
        threads: ThreadFilter,
    ) -> Result<RowFilter, Failure> {
        let names = |text: &Option<String>| text.as_deref().map(read_names).transpose();
        let parallelism = options.parallelism.as_deref().map(parse_cpus);
        Ok(RowFilter {
            threads,
            dsos: names(&options.dsos)?,
            symbols: names(&options.symbols)?,
            part_of_symbol: options.part_of_symbol.clone(),
            relative: options.relative,
            socket: options.socket,
            parallelism: parallelism.transpose()?,
        })
    }

    /// Samples of these objects and functions.
    pub(in crate::cmd) fn of_names(
        dsos: Option<Vec<String>>,
        symbols: Option<Vec<String>>,
        relative: bool,
    ) -> RowFilter {
        RowFilter {
            dsos,
            symbols,
            relative,
            ..RowFilter::default()
        }
    }

    /// The filter with samples of these threads alone.
    pub(in crate::cmd) fn of_threads(self, threads: ThreadFilter) -> RowFilter {
        RowFilter { threads, ..self }
    }

    /// True if threads or processes are asked for by number.
    pub(in crate::cmd) fn selects_threads(&self) -> bool {
        self.threads.pids.is_some() || self.threads.tids.is_some()
    }

    /// True if threads are asked for by name.
    pub(in crate::cmd) fn selects_names(&self) -> bool {
        self.threads.comms.is_some()
    }

    /// True if no sample is hidden.
    pub(in crate::cmd) fn shows_all(&self) -> bool {
        let asks_moments = self.socket.is_some() || self.parallelism.is_some();
        let asks_names = self.dsos.is_some() || self.symbols.is_some();
        !(self.selects_names() || self.selects_threads() || asks_moments || asks_names)
    }

    /// Hides the other samples of a profile.
    pub(in crate::cmd) fn restrict(&self, profile: &mut Profile) {
        if self.shows_all() {
            return;
        }
        let mut events = std::mem::take(&mut profile.events);
        events
            .iter_mut()
            .for_each(|event| event.retain(self.relative, |group| self.shows(profile, group)));
        profile.events = events;
    }

    fn shows(&self, profile: &Profile, group: &SampleGroup) -> bool {
        let thread = profile.threads.get(group.thread.index());
        let among = |list: &Option<Vec<i32>>, id: Option<i32>| {
            list.as_ref()
                .is_none_or(|list| id.is_some_and(|id| list.contains(&id)))
        };
        let named = |list: &Option<Vec<String>>, names: &[Option<&String>]| {
            list.as_ref()
                .is_none_or(|list| names.iter().flatten().any(|name| list.contains(name)))
        };
        let frame = profile.frames.get(group.frame.index());
        let dso = frame.and_then(|frame| profile.dsos.get(frame.dso?.index()));
        let symbol = frame.and_then(|frame| profile.symbols.get(frame.symbol?.index()));
        self.shows_moment(profile, group)
            && among(&self.threads.pids, thread.map(|thread| thread.pid.0))
            && among(&self.threads.tids, thread.map(|thread| thread.tid.0))
            && named(
                &self.threads.comms,
                &[profile.comms.get(group.comm.index())],
            )
            && named(
                &self.dsos,
                &[dso.map(|dso| &dso.short), dso.map(|dso| &dso.long)],
            )
            && named(&self.symbols, &[symbol.map(|symbol| &symbol.name)])
    }

    fn shows_moment(&self, profile: &Profile, group: &SampleGroup) -> bool {
        let value = |detail| profile.details.value(group.detail, detail);
        // The notation is that of a list of CPUs.
        let within = |list: &CpuRanges, number: u64| {
            u32::try_from(number).is_ok_and(|number| list.contains(Cpu(number)))
        };
        self.socket
            .is_none_or(|socket| value(Detail::SOCKET) == Some(socket))
            && self.parallelism.as_ref().is_none_or(|list| {
                value(Detail::PARALLELISM).is_some_and(|number| within(list, number))
            })
    }

    /// A part that functions must have in their names.
    #[cfg(feature = "browser")]
    pub(super) fn part_of_symbol(&self) -> Option<&str> {
        self.part_of_symbol.as_deref()
    }

    /// Leaves other rows out of a table.
    pub(super) fn restrict_rows(&self, profile: &Profile, table: &mut Table) {
        let Some(part) = &self.part_of_symbol else {
            return;
        };
        table.retain(|row| {
            let symbol = profile
                .frames
                .get(row.frame.index())
                .and_then(|frame| frame.symbol);
            symbol
                .and_then(|id| profile.symbols.get(id.index()))
                .is_some_and(|symbol| symbol.name.contains(part))
        });
    }

    /// Values that all rows have in common: a list with one name stands once, above the table.
    pub(super) fn restrictions(&self, columns: &[Field]) -> Vec<Restriction> {
        let lists = [
            ("comm", &self.threads.comms),
            ("dso", &self.dsos),
            ("symbol", &self.symbols),
        ];
        let only = |list: &Option<Vec<String>>| match list.as_deref() {
            Some([only]) => Some(only.clone()),
            _ => None,
        };
        let fixed = |column: &Field| {
            let is_column = |key| SortKey::parse(key).is_some_and(|key| *column == Field::Key(key));
            let (key, list) = lists.iter().find(|(key, _)| is_column(key))?;
            Some(Restriction {
                key,
                value: only(list)?,
            })
        };
        columns.iter().filter_map(fixed).collect()
    }

    /// Takes the columns away that the restrictions fix, unless no key would have one.
    pub(super) fn narrow(&self, text: &mut ReportText) {
        text.narrow_objects = self.dsos.is_some();
        if !text.levels.is_empty() {
            return;
        }
        let fixed: Vec<Option<SortKey>> = self
            .restrictions(&text.columns)
            .iter()
            .map(|fixed| SortKey::parse(fixed.key))
            .collect();
        let stays = |column: &Field| match column {
            Field::Key(key) => !fixed.contains(&Some(*key)),
            Field::Measure(_) => true,
        };
        let left: Vec<Field> = text.columns.iter().copied().filter(stays).collect();
        if left.iter().any(|column| matches!(column, Field::Key(_))) {
            text.columns = left;
        }
    }
}
