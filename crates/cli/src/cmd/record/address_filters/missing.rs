//! What a filter names and nobody finds, in perf's words.

use std::fmt;
use std::io;

use oxperf_pmu::address_filter::{Occurrence, SymbolReference};
use oxperf_present::text::sanitize;
use oxperf_symbols::{NamedSymbol, NotChosen};

use crate::failure::code;

/// What is not there.
#[derive(Debug)]
pub(super) enum Missing {
    /// The kernel keeps its addresses for itself.
    HiddenKernel,
    /// The kernel's list cannot be read, or names nothing.
    KernelList(io::Error),
    /// A symbol.
    Symbol {
        of_kernel: bool,
        symbol: SymbolReference,
        why: NotChosen,
    },
    /// A file with a size.
    Size(String),
    /// A file.
    Path(String, io::Error),
}

impl Missing {
    /// perf's exit code.
    pub(super) fn code(&self) -> i32 {
        match self {
            Missing::Path(..) => code::OUT_OF_MEMORY,
            Missing::KernelList(_) => code::FAILED,
            _ => code::INVALID,
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Missing::HiddenKernel => {
                f.write_str("Kernel addresses are restricted. Unable to resolve kernel symbols.")
            }
            Missing::KernelList(error) => write!(f, "Failed to parse /proc/kallsyms: {error}"),
            Missing::Symbol {
                of_kernel,
                symbol,
                why: NotChosen::Several(all),
            } => several(f, *of_kernel, &symbol.name, all),
            Missing::Symbol {
                of_kernel, symbol, ..
            } => not_found(f, *of_kernel, symbol),
            Missing::Size(file) => {
                let file = sanitize(file);
                write!(
                    f,
                    "Failed to determine filter for {file}\nCannot determine file size."
                )
            }
            Missing::Path(file, error) => {
                write!(f, "File '{}' cannot be used: {error}", sanitize(file))
            }
        }
    }
}

fn not_found(f: &mut fmt::Formatter<'_>, of_kernel: bool, symbol: &SymbolReference) -> fmt::Result {
    let name = with_tabs(&symbol.name);
    if of_kernel {
        f.write_str("Kernel symbol lookup: ")?;
    }
    match symbol.occurrence {
        Occurrence::Only => write!(f, "Symbol '{name}' not found.")?,
        Occurrence::Global => write!(f, "Global symbol '{name}' not found.")?,
        Occurrence::Nth(nth) => {
            write!(f, "N'th occurrence (N={nth}) of symbol '{name}' not found.")?
        }
    }
    f.write_str("\nNote that symbols must be functions.")
}

/// The list from which one is to be chosen.
fn several(
    f: &mut fmt::Formatter<'_>,
    of_kernel: bool,
    name: &str,
    all: &[NamedSymbol],
) -> fmt::Result {
    let kernel = if of_kernel { "kernel " } else { "" };
    let name = with_tabs(name);
    writeln!(f, "Multiple {kernel}symbols with name '{name}'")?;
    for (number, symbol) in (1..).zip(all) {
        let NamedSymbol { start, kind, .. } = symbol;
        let shown = with_tabs(&symbol.name);
        writeln!(f, "#{number}\t{start:#x}\t{kind}\t{shown}")?;
        if let Some(neighbour) = &symbol.neighbour {
            writeln!(f, "\t\twhich is near\t\t{}", with_tabs(neighbour))?;
        }
    }
    write!(
        f,
        "Disambiguate symbol name by inserting #n after the name e.g. {name} #2\n\
         Or select a global symbol by inserting #0 or #g or #G"
    )
}

/// A text in which only tabs are left of the characters that steer a terminal: the kernel's list has the module in a column
/// of its own.
pub(super) fn with_tabs(text: &str) -> String {
    let columns: Vec<_> = text.split('\t').map(sanitize).collect();
    columns.join("\t")
}
