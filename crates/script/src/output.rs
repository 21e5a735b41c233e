//! The output of formats: a buffer before the writer, and symbols that are looked up later.

use std::io;

use oxperf_abi::CpuMode;
use oxperf_machine::Objects;
use oxperf_ordered::BackgroundWriter;

use crate::deferred_symbols::{DeferredForm, DeferredSymbols, SymbolNames};
use crate::symbolizer_pool::SymbolizerPool;
use crate::view::AddressContext;

/// Text on its way out. Where an address belongs, a gap is left that a pool of threads fills while the recording is read
/// on.
pub struct ScriptOutput {
    pub(crate) writer: BackgroundWriter,
    symbols: DeferredSymbols,
    pool: SymbolizerPool,
}

impl ScriptOutput {
    /// Output to a writer, with addresses named by `names`.
    pub fn new(writer: BackgroundWriter, names: SymbolNames) -> ScriptOutput {
        ScriptOutput {
            writer,
            symbols: DeferredSymbols::default(),
            pool: SymbolizerPool::new(names),
        }
    }

    /// The buffer to append to.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        self.writer.buffer()
    }

    /// The buffer, and the symbols that are deferred in it.
    pub(crate) fn parts(&mut self) -> (&mut Vec<u8>, &mut DeferredSymbols) {
        (self.writer.buffer(), &mut self.symbols)
    }

    /// Leaves a gap at the end of the buffer for the symbol of one address.
    pub(crate) fn defer_address(
        &mut self,
        form: DeferredForm,
        context: AddressContext<'_>,
        address: (CpuMode, u64),
    ) {
        let at = self.writer.buffer().len();
        self.symbols.defer_address(at, form, context, address);
    }

    /// Leaves a gap at the end of the buffer for the lines of a call chain.
    pub(crate) fn defer_chain(
        &mut self,
        form: DeferredForm,
        context: AddressContext<'_>,
        chain: &[(CpuMode, u64)],
    ) {
        let at = self.writer.buffer().len();
        self.symbols.defer_chain(at, form, context, chain);
    }

    /// Writes out what is full; `objects` as they are known by now.
    ///
    /// # Errors
    /// It cannot be written.
    #[inline]
    pub(crate) fn settle(&mut self, objects: &Objects) -> io::Result<()> {
        if self.symbols.is_empty() && self.pool.is_idle() {
            return self.writer.settle();
        }
        if self.pool.wants(self.writer.buffer(), &self.symbols) {
            self.pool
                .hand_over(&mut self.writer, &mut self.symbols, objects)?;
        }
        Ok(())
    }

    /// Makes the text of all addresses that were left for later.
    ///
    /// # Errors
    /// Text before them cannot be written.
    pub(crate) fn fill(&mut self, objects: &Objects) -> io::Result<()> {
        self.pool
            .finish(&mut self.writer, &mut self.symbols, objects)
    }
}
