//! The widths that rows need.

use oxperf_analysis::hist::Row;
use rayon::prelude::*;

use super::accesses::WidestAccess;
use super::branches::WidestBranch;
use super::{ADDRESS_WIDTH, Columns};

/// Names of threads count as they are at the end of the recording; a row may show an
/// earlier and longer one, which is cut.
#[derive(Default)]
pub(super) struct Widest {
    pub(super) comm: usize,
    pub(super) dso: usize,
    pub(super) symbol: usize,
    /// Of the source line and file.
    pub(super) source: [usize; 2],
    pub(super) branch: WidestBranch,
    pub(super) access: WidestAccess,
}

impl Widest {
    pub(super) fn of(columns: &Columns<'_>, rows: &[Row], unresolved: usize) -> Widest {
        let rows = rows.par_iter().with_min_len(4096);
        rows.map(|row| Widest::of_row(columns, row, unresolved)).reduce(Widest::default, Widest::with)
    }

    /// An object without a symbol gets at least the width `unresolved`.
    fn of_row(columns: &Columns<'_>, row: &Row, unresolved: usize) -> Widest {
        let symbol = columns.symbol_name(row.frame);
        let thread = columns.profile.threads.get(row.thread.index());
        let dso = columns.dso(row.frame).map_or(0, str::len);
        Widest {
            comm: thread.map_or(0, |thread| columns.comm(thread.comm).len()),
            dso: if symbol.is_none() { dso.max(unresolved) } else { dso },
            symbol: symbol.map_or(ADDRESS_WIDTH, |name| name.len() + columns.around_names()),
            source: row.source.map(|source| columns.source(source).len()),
            branch: WidestBranch::of_row(columns, row, unresolved),
            access: WidestAccess::of_row(columns, row, unresolved),
        }
    }

    fn with(self, other: Widest) -> Widest {
        Widest {
            comm: self.comm.max(other.comm),
            dso: self.dso.max(other.dso),
            symbol: self.symbol.max(other.symbol),
            source: [0, 1].map(|nth| self.source[nth].max(other.source[nth])),
            branch: self.branch.with(other.branch),
            access: self.access.with(other.access),
        }
    }
}
