//! The frame of each symbol, so that an address of a symbol costs a look into a list.

use oxperf_machine::DsoId as MachineDso;
use oxperf_symbols::SymbolId as TableSymbol;
use rustc_hash::FxHashMap;

use oxperf_profile::{FrameId, Source};

/// An address in its dso, and as it was recorded.
pub(super) type At = (u64, u64);

/// A symbol, with the source and address of the place where these are kept apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct SymbolKey {
    pub(super) dso: MachineDso,
    /// `None` for a dso that is a symbol itself.
    pub(super) symbol: Option<TableSymbol>,
    pub(super) source: Option<Source>,
    /// Where addresses tell frames apart.
    pub(super) at: Option<At>,
}

/// Frames of symbols.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolFrames {
    /// By dso, and there by symbol: for those that nothing else keeps apart.
    whole: Vec<Vec<Option<FrameId>>>,
    others: FxHashMap<SymbolKey, FrameId>,
}

impl SymbolFrames {
    /// The frame, if there is one.
    #[inline]
    pub(super) fn get(&self, key: &SymbolKey) -> Option<FrameId> {
        match key.place() {
            Some((dso, symbol)) => self.whole.get(dso)?.get(symbol).copied().flatten(),
            None => self.others.get(key).copied(),
        }
    }

    /// Notes a frame.
    pub(super) fn insert(&mut self, key: SymbolKey, frame: FrameId) {
        let Some((dso, symbol)) = key.place() else {
            self.others.insert(key, frame);
            return;
        };
        if self.whole.len() <= dso {
            self.whole.resize_with(dso + 1, Vec::new);
        }
        let symbols = &mut self.whole[dso];
        if symbols.len() <= symbol {
            symbols.resize(symbol + 1, None);
        }
        symbols[symbol] = Some(frame);
    }
}

impl SymbolKey {
    /// The places in the lists, for a symbol alone.
    #[inline]
    fn place(&self) -> Option<(usize, usize)> {
        let alone = self.source.is_none() && self.at.is_none();
        let symbol = self.symbol.map_or(0, |symbol| symbol.0 as usize + 1);
        alone.then_some((self.dso.0 as usize, symbol))
    }
}
