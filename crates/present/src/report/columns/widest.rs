//! The widths that rows need.

use oxperf_analysis::hist::Row;
use rayon::prelude::*;

use super::ADDRESS_WIDTH;
use super::accesses::WidestAccess;
use super::branches::WidestBranch;
use super::names::NameTexts;

/// Rows that one worker looks at before it takes others.
const TOGETHER: usize = 4096;

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
    /// An object without a symbol gets at least the width `unresolved`.
    pub(super) fn of(names: &NameTexts<'_>, rows: &[Row], unresolved: usize) -> Widest {
        let of_some = |rows: &[Row]| {
            let mut widest = Widest::default();
            rows.iter()
                .for_each(|row| widest.add(names, row, unresolved));
            widest
        };
        rows.par_chunks(TOGETHER)
            .map(of_some)
            .reduce(Widest::default, Widest::with)
    }

    fn add(&mut self, names: &NameTexts<'_>, row: &Row, unresolved: usize) {
        let symbol = names.symbol_name(row.frame);
        let dso = names.dso(row.frame).map_or(0, str::len);
        let thread = names.profile.threads.get(row.thread.index());
        self.comm = self
            .comm
            .max(thread.map_or(0, |thread| names.comm(thread.comm).len()));
        self.dso = self.dso.max(if symbol.is_none() {
            dso.max(unresolved)
        } else {
            dso
        });
        self.symbol = self
            .symbol
            .max(symbol.map_or(ADDRESS_WIDTH, |name| name.len() + names.around_names()));
        let sources = names
            .sources_of(row.frame)
            .map(|source| names.source(source).len());
        self.source = [0, 1].map(|nth| self.source[nth].max(sources[nth]));
        if let Some(branch) = WidestBranch::of_row(names, row, unresolved) {
            self.branch = std::mem::take(&mut self.branch).with(branch);
        }
        if let Some(access) = WidestAccess::of_row(names, row, unresolved) {
            self.access = std::mem::take(&mut self.access).with(access);
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
