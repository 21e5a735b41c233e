//! The filters of rows.

use oxperf_analysis::hist::{Row, SortKey, Table};
use oxperf_present::report::RowText;
use oxperf_present::text::sanitize;
use oxperf_profile::{CommId, Detail, DsoId, Level, Profile, ThreadId};

/// A condition that a key puts on all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zoom {
    /// An object.
    Dso(DsoId),
    /// The name of a thread.
    Comm(CommId),
    /// A thread.
    Thread(ThreadId),
    /// Code of the kernel.
    Kernel,
    /// A socket.
    Socket(u64),
}

impl Zoom {
    /// The thread of a row, by the keys of rows.
    pub(crate) fn thread(row: &Row, keys: &[SortKey]) -> Option<Zoom> {
        let has = |key| keys.contains(&key);
        if has(SortKey::Thread) || has(SortKey::Process) {
            return Some(Zoom::Thread(row.thread));
        }
        has(SortKey::Comm).then_some(Zoom::Comm(row.comm))
    }

    /// The object of a row, where objects are a key of rows.
    pub(crate) fn object(profile: &Profile, row: &Row, keys: &[SortKey]) -> Option<Zoom> {
        let is_key = keys.contains(&SortKey::Dso) || keys.contains(&SortKey::Symbol);
        profile
            .frames
            .get(row.frame.index())?
            .dso
            .filter(|_| is_key)
            .map(Zoom::Dso)
    }

    /// The socket of a row, where sockets are a key of rows.
    pub(crate) fn socket(profile: &Profile, row: &Row, keys: &[SortKey]) -> Option<Zoom> {
        let socket = profile.details.value(row.detail, Detail::SOCKET);
        socket
            .filter(|_| keys.contains(&SortKey::SOCKET))
            .map(Zoom::Socket)
    }

    /// The key that says the same for every row now.
    pub(crate) fn fixed_key(self) -> Option<SortKey> {
        match self {
            Zoom::Dso(_) => Some(SortKey::Dso),
            Zoom::Comm(_) => Some(SortKey::Comm),
            Zoom::Socket(_) => Some(SortKey::SOCKET),
            Zoom::Thread(_) | Zoom::Kernel => None,
        }
    }

    /// The condition in words.
    pub(crate) fn text(self, profile: &Profile) -> String {
        let comm = |comm: CommId| {
            profile
                .comms
                .get(comm.index())
                .map_or("?".into(), |name| sanitize(name))
        };
        match self {
            Zoom::Dso(dso) => {
                let name = profile
                    .dsos
                    .get(dso.index())
                    .map_or("?".into(), |dso| sanitize(&dso.short));
                format!("DSO: {name}")
            }
            Zoom::Comm(id) => format!("Thread: {}", comm(id)),
            Zoom::Thread(id) => match profile.threads.get(id.index()) {
                Some(thread) => format!("Thread: {}({})", comm(thread.comm), thread.tid.0),
                None => "Thread: ?".to_owned(),
            },
            Zoom::Kernel => "kernel".to_owned(),
            Zoom::Socket(number) => format!("Socket: {number}"),
        }
    }

    fn passes(self, profile: &Profile, row: &Row) -> bool {
        match self {
            Zoom::Dso(dso) => profile
                .frames
                .get(row.frame.index())
                .is_some_and(|frame| frame.dso == Some(dso)),
            Zoom::Comm(comm) => row.comm == comm,
            Zoom::Thread(thread) => row.thread == thread,
            Zoom::Socket(number) => {
                profile.details.value(row.detail, Detail::SOCKET) == Some(number)
            }
            Zoom::Kernel => matches!(row.level, Level::Kernel | Level::GuestKernel),
        }
    }
}

/// All conditions for a row to be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// The zooms, the last one last.
    pub(crate) zooms: Vec<Zoom>,
    /// A part of the name of its function; any, where it is empty.
    pub(crate) symbol: String,
    /// Its least part of all samples, in hundredths.
    pub(crate) min_percent: f64,
    /// Percentages are of the rows that pass, and not of all samples.
    pub(crate) relative: bool,
}

impl Filter {
    /// The rows that pass.
    pub(crate) fn rows(&self, profile: &Profile, table: &Table, text: &RowText<'_>) -> Vec<u32> {
        let rows = (0u32..).zip(table.rows());
        rows.filter(|&(index, row)| {
            self.passes(profile, row, || text.percent(table, index as usize))
        })
        .map(|(index, _)| index)
        .collect()
    }

    fn passes(&self, profile: &Profile, row: &Row, percent: impl Fn() -> f64) -> bool {
        self.zooms.iter().all(|zoom| zoom.passes(profile, row))
            && (self.symbol.is_empty() || self.names(profile, row))
            && (self.min_percent <= 0.0 || percent() >= self.min_percent)
    }

    fn names(&self, profile: &Profile, row: &Row) -> bool {
        let symbol = profile
            .frames
            .get(row.frame.index())
            .and_then(|frame| frame.symbol);
        symbol
            .and_then(|id| profile.symbols.get(id.index()))
            .is_some_and(|symbol| symbol.name.contains(&self.symbol))
    }

    /// All of it in words, for the title.
    pub(crate) fn text(&self, profile: &Profile) -> String {
        let mut text: String = self
            .zooms
            .iter()
            .map(|zoom| format!(", {}", zoom.text(profile)))
            .collect();
        if !self.symbol.is_empty() {
            text.push_str(&format!(", symbol with '{}'", sanitize(&self.symbol)));
        }
        if self.min_percent > 0.0 {
            text.push_str(&format!(", from {}%", self.min_percent));
        }
        if self.relative {
            text.push_str(", relative");
        }
        text
    }
}
