//! Filters of the addresses that a hardware trace covers: `filter main / 0x20 @/bin/ls, stop 0x1000`.
//!
//! Three steps: [`parse`] reads the text; [`AddressFilter::resolve`] replaces symbols and whole objects by addresses, which
//! [`CodePlaces`] looks up; [`ResolvedFilter`] is shown as the kernel takes it.
//!
//! ```
//! use oxperf_pmu::address_filter::{FilterStart, parse};
//!
//! let filters = parse("filter 0x1000/0x20@/bin/ls start 7").unwrap();
//! assert_eq!(filters.len(), 2);
//! assert_eq!(filters[1].start, FilterStart::Address(7));
//! ```

mod number;
mod resolve;
mod syntax;

pub use resolve::{CodePlaces, CodeRange, ResolvedFilter, Unresolved};
pub use syntax::{FilterSyntaxError, parse};

/// The effect of a filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FilterAction {
    /// The trace covers this range alone.
    Filter,
    /// The trace begins at this address.
    Start,
    /// The trace ends at this address.
    Stop,
    /// The trace ends in this range.
    TraceStop,
}

impl FilterAction {
    /// Finds the action of a word.
    fn of_word(word: &str) -> Option<FilterAction> {
        Some(match word {
            "filter" => FilterAction::Filter,
            "start" => FilterAction::Start,
            "stop" => FilterAction::Stop,
            "tracestop" => FilterAction::TraceStop,
            _ => return None,
        })
    }

    /// The kernel's word: it tells both ways to stop apart by whether there is a size.
    fn kernel_word(self) -> &'static str {
        match self {
            FilterAction::Filter => "filter",
            FilterAction::Start => "start",
            FilterAction::Stop | FilterAction::TraceStop => "stop",
        }
    }

    /// Returns whether it is about a range even where no size is written.
    fn is_about_range(self) -> bool {
        matches!(self, FilterAction::Filter | FilterAction::TraceStop)
    }
}

/// Which of the symbols of one name is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Occurrence {
    /// There must be one alone.
    Only,
    /// There must be one global one alone: `#0`, `#g`, `#G`.
    Global,
    /// The one with this number in order of address, from 1: `#2`.
    Nth(u32),
}

/// A symbol as a filter names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SymbolReference {
    /// Its name.
    pub name: String,
    /// Which of those with the name.
    pub occurrence: Occurrence,
}

/// Where a filter begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FilterStart {
    /// At an address of the kernel, or an offset in the file.
    Address(u64),
    /// At a symbol.
    Symbol(SymbolReference),
    /// `*`: it covers the whole file, or all of the kernel's text.
    Everything,
}

/// How far a filter reaches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// So many bytes; none is as good as no extent.
    Bytes(u64),
    /// To the end of a symbol.
    ToEndOf(SymbolReference),
}

/// One filter as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddressFilter {
    /// Its effect.
    pub action: FilterAction,
    /// Where it begins.
    pub start: FilterStart,
    /// How far it reaches, where that is written.
    pub extent: Option<Extent>,
    /// The file whose code it is about; none for the kernel.
    pub file: Option<String>,
}

#[cfg(test)]
mod tests;
