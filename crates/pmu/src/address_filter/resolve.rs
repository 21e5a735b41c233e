//! From filters with symbols to filters with addresses.

use std::fmt;

use super::{AddressFilter, Extent, FilterAction, FilterStart, SymbolReference};

/// A range of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CodeRange {
    /// The address of its first byte in the kernel, or its offset in the file.
    pub start: u64,
    /// Its bytes; `None` where nobody knows them.
    pub size: Option<u64>,
}

/// The symbols and files of a system. Each question is about a file, or about the kernel where none is named.
pub trait CodePlaces {
    /// The reason why there is no answer.
    type Error;

    /// The range of a symbol.
    ///
    /// # Errors
    /// There is none, or there are several.
    fn symbol(
        &self,
        file: Option<&str>,
        symbol: &SymbolReference,
    ) -> Result<CodeRange, Self::Error>;

    /// The range of a whole file, or of the kernel's text.
    ///
    /// # Errors
    /// It is not known.
    fn everything(&self, file: Option<&str>) -> Result<CodeRange, Self::Error>;

    /// The path of a file as the kernel knows it.
    ///
    /// # Errors
    /// There is no such file.
    fn real_path(&self, file: &str) -> Result<String, Self::Error>;
}

/// The reason why a filter has no addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unresolved<E> {
    /// A symbol or a file was not found.
    Place(E),
    /// The size of this symbol is not known, and is what the filter's would be.
    NoSize(String),
    /// The end comes before the start.
    EndsBefore {
        /// The symbol at whose end it ends, and its address.
        end: (String, u64),
        /// The symbol that it begins at, if it is one.
        start: Option<String>,
        /// The address that it begins at.
        address: u64,
    },
}

impl<E: fmt::Display> fmt::Display for Unresolved<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unresolved::Place(error) => error.fmt(f),
            Unresolved::NoSize(symbol) => {
                write!(f, "Cannot determine size of symbol '{symbol}'")
            }
            Unresolved::EndsBefore {
                end: (end, at),
                start: Some(start),
                address,
            } => write!(
                f,
                "Symbol '{end}' ({at:#x}) comes before '{start}' ({address:#x})"
            ),
            // The last bracket stands in perf's text, too.
            Unresolved::EndsBefore {
                end: (end, at),
                start: None,
                address,
            } => write!(
                f,
                "Symbol '{end}' ({at:#x}) comes before address {address:#x})"
            ),
        }
    }
}

/// A filter with addresses; shown as the kernel takes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResolvedFilter {
    action: FilterAction,
    start: u64,
    /// The bytes of a range; `None` where the filter is about one address.
    size: Option<u64>,
    file: Option<String>,
}

impl fmt::Display for ResolvedFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:#x}", self.action.kernel_word(), self.start)?;
        if let Some(size) = self.size {
            write!(f, "/{size:#x}")?;
        }
        match &self.file {
            Some(file) => write!(f, "@{file}"),
            None => Ok(()),
        }
    }
}

impl AddressFilter {
    /// Replaces symbols and whole objects by addresses, and the file by its real path.
    ///
    /// # Errors
    /// See [`Unresolved`].
    pub fn resolve<P: CodePlaces>(
        &self,
        places: &P,
    ) -> Result<ResolvedFilter, Unresolved<P::Error>> {
        let file = self.file.as_deref();
        let range = self.range(places)?;
        let is_range = self.action.is_about_range() || self.extent.is_some();
        let real = file.map(|file| places.real_path(file)).transpose();
        Ok(ResolvedFilter {
            action: self.action,
            start: range.start,
            size: is_range.then(|| range.size.unwrap_or(0)),
            file: real.map_err(Unresolved::Place)?,
        })
    }

    fn range<P: CodePlaces>(&self, places: &P) -> Result<CodeRange, Unresolved<P::Error>> {
        let symbol = |symbol: &SymbolReference| {
            let found = places.symbol(self.file.as_deref(), symbol);
            found.map_err(Unresolved::Place)
        };
        let written = match self.extent {
            Some(Extent::Bytes(bytes)) => Some(bytes),
            _ => None,
        };
        let (named, own) = match &self.start {
            FilterStart::Everything => {
                let all = places.everything(self.file.as_deref());
                return all.map_err(Unresolved::Place);
            }
            FilterStart::Address(start) => {
                let own = CodeRange {
                    start: *start,
                    size: Some(written.unwrap_or(0)),
                };
                (None, own)
            }
            FilterStart::Symbol(reference) => (Some(&reference.name), symbol(reference)?),
        };
        let size = match &self.extent {
            Some(Extent::ToEndOf(end)) => Some(size_to(own.start, named, end, symbol(end)?)?),
            _ => written.filter(|bytes| *bytes > 0).or(own.size),
        };
        let is_range = self.action.is_about_range() || self.extent.is_some();
        match (size, named) {
            (None, Some(symbol)) if is_range => Err(Unresolved::NoSize(symbol.clone())),
            _ => Ok(CodeRange { size, ..own }),
        }
    }
}

/// The bytes from an address to the end of a symbol.
fn size_to<E>(
    address: u64,
    start: Option<&String>,
    end: &SymbolReference,
    place: CodeRange,
) -> Result<u64, Unresolved<E>> {
    let last = place.start.wrapping_add(place.size.unwrap_or(0));
    if last < address {
        return Err(Unresolved::EndsBefore {
            end: (end.name.clone(), place.start),
            start: start.cloned(),
            address,
        });
    }
    match place.size {
        Some(_) => Ok(last - address),
        None => Err(Unresolved::NoSize(end.name.clone())),
    }
}
