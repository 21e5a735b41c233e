//! From entries in any order to a table: where each ends, which name of an address wins, who holds an overlap.

use std::cmp::Ordering;

use crate::demangle::Demangling;
use crate::entry::{Entry, rank};
use crate::shown::Shown;
use crate::spans::Spans;
use crate::table::{Stored, SymbolId, SymbolTable};

/// How far the last symbol reaches when its source does not say: to the end of the page behind its own.
const PAGE: u64 = 4096;

/// Makes a table of entries in the order of their source.
///
/// As in perf: an entry without a size ends where the next entry starts. Of several names of one address one stays:
/// the one with a size, that is not weak, that is global, with fewer leading underscores, the longer, the first.
pub fn build(mut entries: Vec<Entry<'_>>, demangling: Demangling) -> SymbolTable {
    // On this thread alone: who waits for a table must not meanwhile be given work that waits for the same table.
    entries.sort_by_key(|entry| entry.start);
    let mut table = stored(&entries, demangling);
    drop(entries);
    let ranges = table.symbols.iter().enumerate();
    table.spans = Spans::cut(ranges.map(|(id, symbol)| (symbol.start, symbol.end, SymbolId(id as u32))));
    table
}

/// A table with room for exactly what it holds, without spans.
fn stored(entries: &[Entry<'_>], demangling: Demangling) -> SymbolTable {
    let kept = drop_aliases(&end_all(entries), demangling);
    let bytes = kept.iter().map(|ended| ended.entry.name.linkage.len()).sum();
    let mut table = SymbolTable {
        demangling,
        symbols: Vec::with_capacity(kept.len()),
        names: Vec::with_capacity(bytes),
        ..SymbolTable::default()
    };
    kept.into_iter().for_each(|entry| store(&mut table, entry));
    table.shown = Shown::of(table.symbols.len());
    table
}

/// An entry whose end is known.
#[derive(Clone, Copy, Debug)]
struct Ended<'e, 'a> {
    entry: &'e Entry<'a>,
    end: u64,
}

impl Ended<'_, '_> {
    fn is_empty(&self) -> bool {
        self.end <= self.entry.start
    }
}

fn end_all<'e, 'a>(entries: &'e [Entry<'a>]) -> Vec<Ended<'e, 'a>> {
    let nexts = entries.iter().skip(1).map(Some).chain([None]);
    entries.iter().zip(nexts).map(|(entry, next)| Ended { entry, end: end_of(entry, next) }).collect()
}

fn end_of(entry: &Entry<'_>, next: Option<&Entry<'_>>) -> u64 {
    match (entry.size, next) {
        (Some(size), _) => entry.start.saturating_add(size),
        (None, Some(next)) => next.start,
        (None, None) => entry.start.checked_next_multiple_of(PAGE).unwrap_or(u64::MAX).saturating_add(PAGE),
    }
}

/// Keeps one entry of each address.
fn drop_aliases<'e, 'a>(entries: &[Ended<'e, 'a>], demangling: Demangling) -> Vec<Ended<'e, 'a>> {
    let best = |names: &[Ended<'e, 'a>]| {
        names.iter().copied().reduce(|kept, other| preferred(kept, other, demangling))
    };
    entries.chunk_by(|a, b| a.entry.start == b.entry.start).filter_map(best).collect()
}

/// Which of two names of one address is shown: the one with a size, else as [`compare_aliases`] says, else the first.
fn preferred<'e, 'a>(a: Ended<'e, 'a>, b: Ended<'e, 'a>, demangling: Demangling) -> Ended<'e, 'a> {
    let order = b.is_empty().cmp(&a.is_empty()).then_with(|| compare_aliases(a.entry, b.entry, demangling));
    if order == Ordering::Less { b } else { a }
}

/// The greater name is the better one: it is not weak, it is global, it has fewer leading underscores, it is longer as
/// shown.
pub(crate) fn compare_aliases(a: &Entry<'_>, b: &Entry<'_>, demangling: Demangling) -> Ordering {
    rank(a.binding).cmp(&rank(b.binding)).then_with(|| compare_names(a, b, demangling))
}

fn compare_names(a: &Entry<'_>, b: &Entry<'_>, demangling: Demangling) -> Ordering {
    if a.name == b.name {
        return Ordering::Equal;
    }
    let shown = |entry: &Entry<'_>| demangling.show(entry.name.linkage, entry.name.suffix.text());
    let (a, b) = (shown(a), shown(b));
    let underscores = |name: &str| name.bytes().take_while(|&byte| byte == b'_').count();
    underscores(&b).cmp(&underscores(&a)).then_with(|| a.len().cmp(&b.len()))
}

/// Appends a symbol. The ids and name positions are 32 bits wide; what does not fit any more is left out.
fn store(table: &mut SymbolTable, Ended { entry, end }: Ended<'_, '_>) {
    let name = entry.name.linkage;
    let (Ok(name_at), Ok(name_size)) = (u32::try_from(table.names.len()), u32::try_from(name.len())) else {
        return;
    };
    table.names.extend_from_slice(name);
    let (start, binding, suffix) = (entry.start, entry.binding, entry.name.suffix);
    table.symbols.push(Stored { start, end, name_at, name_size, suffix, binding });
}
