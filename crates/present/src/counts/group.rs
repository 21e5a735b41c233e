//! The cells that say which group a row belongs to.

use oxperf_analysis::counts::{ClusterNumber, CountGroup, CountGrouping};

use super::{Cells, ThreadLabel};
use crate::text::sanitize;

/// The name of a group as all forms show it.
pub(super) struct GroupLabel {
    /// The key of JSON.
    pub(super) key: &'static str,
    /// The name.
    pub(super) name: String,
    /// The number of counters stands beside it.
    pub(super) has_counters: bool,
}

/// Words and widths of a grouping.
pub(super) struct GroupColumn {
    /// The key of JSON, and the heading.
    pub(super) key: &'static str,
    /// The width of the column in a table.
    pub(super) width: usize,
}

/// The column of a grouping; none where everything is one group.
pub(super) fn column(grouping: CountGrouping) -> Option<GroupColumn> {
    let (key, width) = match grouping {
        CountGrouping::All => return None,
        CountGrouping::Socket => ("socket", 6),
        CountGrouping::Die => ("die", 12),
        CountGrouping::Cluster => ("cluster", 20),
        CountGrouping::Cache(_) => ("cache", 22),
        CountGrouping::Core => ("core", 18),
        CountGrouping::Node => ("node", 6),
        CountGrouping::Cpu => ("cpu", 6),
        CountGrouping::Thread => ("thread", 24),
    };
    Some(GroupColumn { key, width })
}

/// The column as a row has it: that of its core, where the counts of cores stand between those of CPUs.
pub(super) fn row_column(cells: Cells<'_>) -> Option<GroupColumn> {
    match cells.row.group {
        CountGroup::Core { .. } => column(CountGrouping::Core),
        _ => column(cells.style.grouping),
    }
}

/// The label of the row's group; none where everything is one group, or an event follows tasks over all CPUs.
pub(super) fn label(cells: Cells<'_>) -> Option<GroupLabel> {
    let key = row_column(cells)?.key;
    let name = match cells.row.group {
        CountGroup::Cpu(cpu) => cpu?.to_string(),
        CountGroup::Thread(index) => thread_name(cells.page.threads.get(index), |comm, tid| {
            format!("{comm}-{tid}")
        }),
        group => place_name(group),
    };
    Some(GroupLabel {
        key,
        name,
        has_counters: cells.style.grouping.is_by_place(),
    })
}

/// The number that perf shows for no cluster.
const NO_CLUSTER: u32 = 65535;

/// The name of a part of the machine: `S0-D0-C1`.
fn place_name(group: CountGroup) -> String {
    let unknown = |number: Option<u32>| number.map_or_else(|| "-1".to_owned(), |n| n.to_string());
    match group {
        CountGroup::Socket(socket) => format!("S{}", unknown(socket)),
        CountGroup::Node(node) => format!("N{}", unknown(node)),
        CountGroup::Die { socket, die } => format!("S{}-D{}", unknown(socket), unknown(die)),
        CountGroup::Core {
            socket, die, core, ..
        } => {
            format!("S{}-D{}-C{}", unknown(socket), unknown(die), unknown(core))
        }
        CountGroup::Cluster {
            socket,
            die,
            cluster,
        } => {
            let cluster = match cluster {
                ClusterNumber::Known(number) => number.to_string(),
                // What follows tasks is at no place at all.
                ClusterNumber::Unknown if socket.or(die).is_none() => unknown(None),
                ClusterNumber::Unknown => NO_CLUSTER.to_string(),
            };
            format!("S{}-D{}-CLS{cluster}", unknown(socket), unknown(die))
        }
        CountGroup::Cache { socket, die, cache } => {
            let (level, id) = (cache.map(|cache| cache.level), cache.map(|cache| cache.id));
            let (level, id) = (unknown(level), unknown(id));
            format!("S{}-D{}-L{level}-ID{id}", unknown(socket), unknown(die))
        }
        CountGroup::All | CountGroup::Cpu(_) | CountGroup::Thread(_) => String::new(),
    }
}

/// A thread's name and id, put together; those of a thread that is not known are empty.
pub(super) fn thread_name(
    thread: Option<&ThreadLabel>,
    together: impl FnOnce(&str, &str) -> String,
) -> String {
    match thread {
        Some(thread) => together(&sanitize(&thread.comm), &thread.tid.to_string()),
        None => together("", ""),
    }
}
