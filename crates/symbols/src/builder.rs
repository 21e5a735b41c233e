//! From entries in any order to a table: where each ends, which name of an address wins, who holds an overlap.

use std::cmp::Ordering;

use crate::demangle::Demangling;
use crate::display_names::{DisplayNames, compare_display_names};
use crate::entry::{SymbolEntry, rank};
use crate::names::NameTexts;
use crate::spans::Spans;
use crate::table::{Stored, SymbolId, SymbolTable};

/// Reach of the last symbol when its source does not say: to the end of the page behind its own.
const PAGE: u64 = 4096;

/// Makes a table of entries in the order of their source.
///
/// As in perf: an entry without a size ends where the next entry starts. Of several names of one address one stays:
/// the one with a size, that is not weak, that is global, with fewer leading underscores, the longer, the first.
pub fn build(entries: Vec<SymbolEntry<'_>>, demangling: Demangling) -> SymbolTable {
    build_in(NameTexts::default(), entries, demangling)
}

/// Makes a table of entries whose names may stand in files.
pub(crate) fn build_in(
    names: NameTexts,
    entries: Vec<SymbolEntry<'_>>,
    demangling: Demangling,
) -> SymbolTable {
    // On this thread alone: who waits for a table must not meanwhile be given work that waits for the same table.
    let mut order: Vec<(u64, u32)> = entries.iter().map(|entry| entry.start).zip(0..).collect();
    order.sort_unstable();
    let table = stored(names, &entries, &order, demangling);
    drop((order, entries));
    with_spans(table)
}

/// The table with the stretches of its symbols, which are in order.
pub(crate) fn with_spans(mut table: SymbolTable) -> SymbolTable {
    let ranges = table.symbols.iter().enumerate();
    table.spans =
        Spans::cut(ranges.map(|(id, symbol)| (symbol.start, symbol.end, SymbolId(id as u32))));
    table
}

/// A table without spans.
fn stored(
    names: NameTexts,
    entries: &[SymbolEntry<'_>],
    order: &[(u64, u32)],
    demangling: Demangling,
) -> SymbolTable {
    let addresses = || order.chunk_by(|a, b| a.0 == b.0);
    let symbols = Vec::with_capacity(addresses().count());
    let mut table = SymbolTable {
        demangling,
        names,
        symbols,
        ..SymbolTable::default()
    };
    let (mut ended, mut rest) = (Vec::new(), order);
    for address in addresses() {
        rest = &rest[address.len()..];
        // Of several at one address all but the last end where the next one begins.
        let behind = rest.first().map(|(start, _)| *start);
        ended.clear();
        ended.extend(address.iter().enumerate().map(|(nth, &(start, place))| {
            let next = if nth + 1 < address.len() {
                Some(start)
            } else {
                behind
            };
            let entry = &entries[place as usize];
            Ended {
                entry,
                end: end_of(entry, next),
            }
        }));
        if let Some(group) = group(&ended, demangling) {
            store(&mut table, &group);
        }
    }
    table.names.own.shrink_to_fit();
    table.shown = DisplayNames::of(table.symbols.len());
    table
}

/// An entry whose end is known.
#[derive(Clone, Copy, Debug)]
struct Ended<'e, 'a> {
    entry: &'e SymbolEntry<'a>,
    end: u64,
}

impl Ended<'_, '_> {
    fn is_empty(&self) -> bool {
        self.end <= self.entry.start
    }
}

/// End of an entry that another one follows at `next`.
pub(crate) fn end_of(entry: &SymbolEntry<'_>, next: Option<u64>) -> u64 {
    match (entry.size, next) {
        (Some(size), _) => entry.start.saturating_add(size),
        (None, Some(next)) => next,
        (None, None) => entry
            .start
            .checked_next_multiple_of(PAGE)
            .unwrap_or(u64::MAX)
            .saturating_add(PAGE),
    }
}

/// The names of one address among which the reader's choice is left until somebody asks: most are never asked for, and
/// it takes their demangled forms.
struct Group<'e, 'a> {
    first: Ended<'e, 'a>,
    others: Vec<Ended<'e, 'a>>,
}

/// Keeps the names of one address that are as good as the best but for how they read.
fn group<'e, 'a>(names: &[Ended<'e, 'a>], demangling: Demangling) -> Option<Group<'e, 'a>> {
    let worth = |name: &Ended<'_, '_>| (!name.is_empty(), rank(name.entry.binding));
    let most = names.iter().map(worth).max()?;
    let mut best = names.iter().copied().filter(|name| worth(name) == most);
    let first = best.next()?;
    let others: Vec<_> = best
        .filter(|other| other.entry.name != first.entry.name)
        .collect();
    if others
        .iter()
        .all(|other| other.end == first.end && other.entry.binding == first.entry.binding)
    {
        return Some(Group { first, others });
    }
    // Where the code ends depends on the choice.
    let first = others.into_iter().fold(first, |kept, other| {
        if compare_aliases(kept.entry, other.entry, demangling) == Ordering::Less {
            other
        } else {
            kept
        }
    });
    Some(Group {
        first,
        others: Vec::new(),
    })
}

/// The greater name is the better one: it is not weak, it is global, it has fewer leading underscores, it is longer as
/// shown.
pub(crate) fn compare_aliases(
    a: &SymbolEntry<'_>,
    b: &SymbolEntry<'_>,
    demangling: Demangling,
) -> Ordering {
    rank(a.binding)
        .cmp(&rank(b.binding))
        .then_with(|| compare_names(a, b, demangling))
}

fn compare_names(a: &SymbolEntry<'_>, b: &SymbolEntry<'_>, demangling: Demangling) -> Ordering {
    if a.name == b.name {
        return Ordering::Equal;
    }
    let shown =
        |entry: &SymbolEntry<'_>| demangling.show(entry.name.linkage, entry.name.suffix.text());
    compare_display_names(&shown(a), &shown(b))
}

/// Appends a symbol. The ids and name positions are 32 bits wide; what does not fit any more is left out.
fn store(table: &mut SymbolTable, group: &Group<'_, '_>) {
    let Some(name) = table.names.keep(group.first.entry.name) else {
        return;
    };
    let SymbolEntry {
        start,
        binding,
        is_data,
        ..
    } = *group.first.entry;
    let end = group.first.end;
    let id = SymbolId(table.symbols.len() as u32);
    table.symbols.push(Stored {
        start,
        end,
        name,
        binding,
        is_data,
    });
    for other in &group.others {
        if let Some(name) = table.names.keep(other.entry.name) {
            table.aliases.push((id, name));
        }
    }
}
