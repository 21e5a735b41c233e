//! Threads that fill the gaps of a text while the recording is read on: batch by batch, written in order.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use oxperf_machine::Objects;
use oxperf_ordered::{BackgroundWriter, OrderedPool};

use crate::deferred_symbols::{DeferredSymbols, Renderer, SymbolNames, TextPart};

/// Addresses of the first batch: few, because the reader of the text may want no more.
const FIRST: usize = 1 << 10;
/// Addresses of later batches.
const EACH: usize = 8 << 10;
/// Bytes of a batch, whatever addresses it has.
const MAX_TEXT: usize = 256 << 10;
/// So few addresses that they are not worth a thread.
const FEW: usize = 1 << 10;
/// Batches under way for each core: as long as a core reads the symbols of something large, the others go on.
const AHEAD: usize = 6;
/// Most cores that fill gaps: the recording is read as fast as so many fill.
const MAX_CORES: usize = 16;

/// A text, its gaps, and the objects as they are known behind it.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    symbols: DeferredSymbols,
    objects: Objects,
}

/// The filled text, and the batch, to be used again.
type Filled = (Vec<u8>, Batch);

/// Threads that fill gaps, and the batches that they have.
pub(crate) struct SymbolizerPool {
    /// Fills what is too little for a thread.
    own: Renderer,
    pool: OrderedPool<Batch, Filled>,
    /// `true` once threads were asked for.
    started: bool,
    /// Batches that were filled before.
    idle: Vec<Batch>,
    /// Buffers that were written before.
    empty: Arc<Mutex<Vec<Vec<u8>>>>,
    /// The number of batches so far.
    count: u32,
}

impl SymbolizerPool {
    /// A pool without threads: these are made when there is enough to do.
    pub(crate) fn new(names: SymbolNames) -> SymbolizerPool {
        SymbolizerPool {
            own: Renderer::new(names),
            pool: OrderedPool::new(),
            started: false,
            idle: Vec::new(),
            empty: Arc::default(),
            count: 0,
        }
    }

    /// `true` where everything that was handed over is on its way to the writer.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.pool.pending() == 0
    }

    /// `true` where text and gaps are enough for a batch.
    #[inline]
    pub(crate) fn wants(&self, text: &[u8], symbols: &DeferredSymbols) -> bool {
        let much = symbols.work() >= (FIRST << self.count.min(16)).min(EACH);
        much || symbols.is_full() || text.len() >= MAX_TEXT
    }

    /// Takes the text and its gaps; writes what is filled by now.
    pub(crate) fn hand_over(
        &mut self,
        writer: &mut BackgroundWriter,
        symbols: &mut DeferredSymbols,
        objects: &Objects,
    ) -> io::Result<()> {
        let mut batch = self.idle.pop().unwrap_or_default();
        std::mem::swap(&mut batch.text, writer.buffer());
        std::mem::swap(&mut batch.symbols, symbols);
        batch.objects.clone_from(objects);
        self.count = self.count.saturating_add(1);
        self.start();
        if let Err(batch) = self.pool.submit(batch) {
            let filled = filled(&mut self.own, batch, Vec::new());
            self.pool.push_result(filled);
        }
        // None at first: the reader of the text waits for it.
        self.write(writer, (self.count as usize / 4).min(AHEAD * cores()))
    }

    /// Fills all gaps and writes all text but the last, which is in the writer's buffer.
    pub(crate) fn finish(
        &mut self,
        writer: &mut BackgroundWriter,
        symbols: &mut DeferredSymbols,
        objects: &Objects,
    ) -> io::Result<()> {
        if symbols.work() >= FEW {
            self.hand_over(writer, symbols, objects)?;
        }
        self.write(writer, 0)?;
        if let Some(offset) = symbols.first() {
            let text = writer.buffer();
            let bytes = text.split_off(offset);
            let part = TextPart {
                bytes: &bytes,
                offset,
            };
            self.own.fill(symbols, part, objects, text);
            symbols.clear();
        }
        Ok(())
    }

    /// Writes batches that are filled; waits for them as long as more than `limit` are under way.
    fn write(&mut self, writer: &mut BackgroundWriter, limit: usize) -> io::Result<()> {
        let mut pieces = Vec::new();
        while let Some((piece, batch)) = self.pool.take(limit)? {
            pieces.push(piece);
            self.idle.push(batch);
        }
        if !pieces.is_empty() {
            let written = writer.begin(pieces)?;
            self.empty
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(written);
        }
        Ok(())
    }

    /// Starts the threads at the first use, as many as can be had.
    fn start(&mut self) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let (names, empty) = (self.own.names(), &self.empty);
        self.pool.start_workers(cores(), |queue| {
            let empty = Arc::clone(empty);
            let mut renderer = Renderer::new(names.clone());
            let work = move |batch| {
                let piece = empty
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .pop()
                    .unwrap_or_default();
                filled(&mut renderer, batch, piece)
            };
            thread::Builder::new()
                .spawn(move || queue.run(work))
                .map(drop)
        });
    }
}

/// The text of a batch with its gaps filled, in `piece`, and the batch without both.
fn filled(renderer: &mut Renderer, mut batch: Batch, mut piece: Vec<u8>) -> Filled {
    let text = TextPart {
        bytes: &batch.text,
        offset: 0,
    };
    renderer.fill(&batch.symbols, text, &batch.objects, &mut piece);
    batch.symbols.clear();
    batch.text.clear();
    (piece, batch)
}

fn cores() -> usize {
    rayon::current_num_threads().clamp(1, MAX_CORES)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use oxperf_abi::CpuMode;
    use oxperf_machine::{Machine, ThreadId};
    use oxperf_present::script::FieldSet;

    use super::*;
    use crate::deferred_symbols::DeferredForm;
    use crate::location_text::LocationForm;
    use crate::view::AddressContext;

    #[test]
    fn batches_are_written_in_their_order() {
        let form = DeferredForm::Line(LocationForm {
            fields: FieldSet::IP,
            ..LocationForm::default()
        });
        let name = format!("oxperf-symbolizer-pool-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut writer = BackgroundWriter::new(File::create(&path).unwrap());
        let mut pool = SymbolizerPool::new(SymbolNames::none());
        let (mut symbols, mut expected) = (DeferredSymbols::default(), String::new());
        let machine = Machine::default();
        let context = AddressContext {
            machine: &machine,
            thread: ThreadId(0),
        };
        for number in 0..40_000_u64 {
            let text = number.to_string();
            writer.buffer().extend_from_slice(text.as_bytes());
            let at = writer.buffer().len();
            symbols.defer_address(at, form, context, (CpuMode::User, number));
            writer.buffer().push(b'\n');
            expected += &format!("{number} {number:>16x}\n");
            if pool.wants(writer.buffer(), &symbols) {
                pool.hand_over(&mut writer, &mut symbols, machine.objects())
                    .unwrap();
            }
        }
        assert!(pool.count > 4 && !symbols.is_empty());
        pool.finish(&mut writer, &mut symbols, machine.objects())
            .unwrap();
        assert!(pool.is_idle() && symbols.is_empty());
        writer.finish().unwrap();
        let written = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(written == expected);
    }
}
