//! Functions by number, and the objects whose symbols were read for them.

use std::num::NonZeroU32;

use oxperf_machine::DsoId;
use oxperf_symbols::SymbolId;

/// The numbers of functions.
#[derive(Debug, Default)]
pub(super) struct FunctionNumbers {
    /// One more than each number; by dso, and there by symbol.
    by_dso: Vec<Vec<Option<NonZeroU32>>>,
}

impl FunctionNumbers {
    /// The number of a function that has one.
    #[inline]
    pub(super) fn get(&self, dso: DsoId, symbol: SymbolId) -> Option<u32> {
        let symbols = self.by_dso.get(dso.0 as usize)?;
        let number = symbols.get(symbol.0 as usize).copied().flatten()?;
        Some(number.get() - 1)
    }

    /// The number of a function; `add` gives it one if it has none.
    #[inline]
    pub(super) fn get_or_add(
        &mut self,
        dso: DsoId,
        symbol: SymbolId,
        add: impl FnOnce() -> u32,
    ) -> u32 {
        let (dso, symbol) = (dso.0 as usize, symbol.0 as usize);
        if self.by_dso.len() <= dso {
            self.by_dso.resize_with(dso + 1, Vec::new);
        }
        let symbols = &mut self.by_dso[dso];
        if symbols.len() <= symbol {
            symbols.resize(symbol + 1, None);
        }
        let add = || NonZeroU32::MIN.saturating_add(add());
        symbols[symbol].get_or_insert_with(add).get() - 1
    }
}

/// The dsos whose symbols were read.
#[derive(Debug, Default)]
pub(super) struct ReadDsos {
    read: Vec<bool>,
}

impl ReadDsos {
    #[inline]
    pub(super) fn has(&self, dso: DsoId) -> bool {
        self.read.get(dso.0 as usize).copied().unwrap_or(false)
    }

    /// Those of some dsos whose symbols were not read before; they count as read from now on.
    pub(super) fn add(&mut self, dsos: impl Iterator<Item = DsoId>) -> Vec<DsoId> {
        let mut unread = Vec::new();
        for dso in dsos {
            let index = dso.0 as usize;
            if self.read.len() <= index {
                self.read.resize(index + 1, false);
            }
            if !std::mem::replace(&mut self.read[index], true) {
                unread.push(dso);
            }
        }
        unread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_keeps_its_number() {
        let mut numbers = FunctionNumbers::default();
        let (dso, symbol) = (DsoId(2), SymbolId(7));
        assert_eq!(numbers.get(dso, symbol), None);
        assert_eq!(numbers.get_or_add(dso, symbol, || 0), 0);
        assert_eq!(numbers.get_or_add(dso, symbol, || 5), 0);
        assert_eq!(numbers.get(dso, symbol), Some(0));
        assert_eq!(numbers.get(dso, SymbolId(6)), None);
        assert_eq!(numbers.get(DsoId(0), symbol), None);
    }

    #[test]
    fn a_dso_is_unread_once() {
        let mut read = ReadDsos::default();
        let dsos = [3, 1, 3].map(DsoId);
        assert_eq!(read.add(dsos.into_iter()), [3, 1].map(DsoId));
        assert!(read.has(DsoId(1)) && !read.has(DsoId(2)));
        assert_eq!(read.add(dsos.into_iter()), []);
    }
}
