//! Text with gaps, filled in the background while the recording is read on: batch by batch, on all cores, written in order.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use oxperf_machine::Objects;

use super::gaps::{Filler, Gaps, Naming};
use crate::output::Output;

/// Addresses of a batch: few at first, because who reads the text may want no more.
const FIRST: usize = 1 << 10;
const EACH: usize = 8 << 10;
/// Bytes of a batch, whatever addresses it has.
const MOST_TEXT: usize = 256 << 10;
/// So few addresses that they are not worth a thread.
const FEW: usize = 1 << 10;
/// Batches under way for each core: as long as a core reads the symbols of something large, the others go on.
const AHEAD: usize = 6;
/// Most cores that fill gaps: one reads as fast as so many fill.
const MOST_CORES: usize = 16;

/// A text, its gaps, and the objects as they are known behind it.
#[derive(Default)]
struct Batch {
    text: Vec<u8>,
    gaps: Gaps,
    objects: Objects,
}

/// A batch, and where it goes when it is filled.
type Job = (Batch, Sender<Done>);

/// The filled text, and the batch, to be used again.
type Done = (Vec<u8>, Batch);

/// Threads that fill gaps, and the batches that they have.
pub(super) struct Crew {
    /// Fills what is too little for a thread.
    own: Filler,
    jobs: Option<Sender<Job>>,
    under_way: VecDeque<Receiver<Done>>,
    /// Batches that were filled before.
    idle: Vec<Batch>,
    /// Buffers that were written before.
    empty: Arc<Mutex<Vec<Vec<u8>>>>,
    /// How many batches there were.
    count: u32,
}

impl Crew {
    /// Nobody yet: threads are made when there is enough to do.
    pub(super) fn new(naming: Naming) -> Crew {
        Crew {
            own: Filler::new(naming),
            jobs: None,
            under_way: VecDeque::new(),
            idle: Vec::new(),
            empty: Arc::default(),
            count: 0,
        }
    }

    /// Whether everything that was handed over is on its way to the sink.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty()
    }

    /// Whether text and gaps are enough for a batch.
    #[inline]
    pub(super) fn wants(&self, text: &[u8], gaps: &Gaps) -> bool {
        let much = gaps.work() >= (FIRST << self.count.min(16)).min(EACH);
        much || gaps.is_full() || text.len() >= MOST_TEXT
    }

    /// Takes the text and its gaps; writes what is filled by now.
    pub(super) fn hand_over(
        &mut self,
        output: &mut Output,
        gaps: &mut Gaps,
        objects: &Objects,
    ) -> io::Result<()> {
        let mut batch = self.idle.pop().unwrap_or_default();
        std::mem::swap(&mut batch.text, output.buffer());
        std::mem::swap(&mut batch.gaps, gaps);
        batch.objects.clone_from(objects);
        let (done, waiting) = channel();
        self.under_way.push_back(waiting);
        self.count = self.count.saturating_add(1);
        if let Err(SendError((batch, done))) = self.jobs().send((batch, done)) {
            // No thread could be had. Nobody is gone: the other end is in this structure.
            let _ = done.send(filled(&mut self.own, batch, Vec::new()));
        }
        // None at first: who reads the text waits for it.
        self.write(output, (self.count as usize / 4).min(AHEAD * cores()))
    }

    /// Fills all gaps and writes all text but the last, which is in the output's buffer.
    pub(super) fn finish(
        &mut self,
        output: &mut Output,
        gaps: &mut Gaps,
        objects: &Objects,
    ) -> io::Result<()> {
        if gaps.work() >= FEW {
            self.hand_over(output, gaps, objects)?;
        }
        self.write(output, 0)?;
        if let Some(first) = gaps.first() {
            let text = output.buffer();
            let around = text.split_off(first);
            self.own.fill(gaps, (&around, first), objects, text);
            gaps.clear();
        }
        Ok(())
    }

    /// Writes batches that are filled; waits for them as long as more than `most` are under way.
    fn write(&mut self, output: &mut Output, most: usize) -> io::Result<()> {
        let mut pieces = Vec::new();
        while let Some(first) = self.under_way.front() {
            let waits = self.under_way.len() > most;
            let done = if waits {
                first.recv().map_err(io::Error::other)?
            } else {
                let Ok(done) = first.try_recv() else { break };
                done
            };
            self.under_way.pop_front();
            let (piece, batch) = done;
            pieces.push(piece);
            self.idle.push(batch);
        }
        if !pieces.is_empty() {
            let written = output.begin(pieces)?;
            self.empty
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(written);
        }
        Ok(())
    }

    /// The way to the threads, which are made at the first use, as many as can be had.
    fn jobs(&mut self) -> &Sender<Job> {
        let (own, empty) = (&self.own, &self.empty);
        self.jobs.get_or_insert_with(|| {
            let (jobs, queue) = channel();
            let queue = Arc::new(Mutex::new(queue));
            for _ in 0..cores() {
                let (queue, empty) = (Arc::clone(&queue), Arc::clone(empty));
                let filler = Filler::new(own.naming().clone());
                if thread::Builder::new()
                    .spawn(move || work(&queue, &empty, filler))
                    .is_err()
                {
                    break;
                }
            }
            jobs
        })
    }
}

/// What each thread does, as long as batches can come.
fn work(queue: &Mutex<Receiver<Job>>, empty: &Mutex<Vec<Vec<u8>>>, mut filler: Filler) {
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    while let Ok((batch, done)) = next() {
        let piece = empty
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        // Nobody waits when the program ends early.
        let _ = done.send(filled(&mut filler, batch, piece));
    }
}

/// The text of a batch with its gaps filled, in `piece`, and the batch without both.
fn filled(filler: &mut Filler, mut batch: Batch, mut piece: Vec<u8>) -> Done {
    filler.fill(&batch.gaps, (&batch.text, 0), &batch.objects, &mut piece);
    batch.gaps.clear();
    batch.text.clear();
    (piece, batch)
}

fn cores() -> usize {
    rayon::current_num_threads().clamp(1, MOST_CORES)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use oxperf_abi::CpuMode;
    use oxperf_machine::{Dso, Machine, ThreadId};
    use oxperf_present::script::FieldSet;
    use oxperf_resolve::{Names, SymbolSource};
    use oxperf_symbols::SymbolTable;

    use super::super::gaps::GapForm;
    use super::super::lines::LineForm;
    use super::*;

    struct Nameless;

    impl SymbolSource for Nameless {
        fn table(&self, _: &Dso, _: &Objects) -> Option<Arc<SymbolTable>> {
            None
        }
    }

    #[test]
    fn batches_are_written_in_their_order() {
        let naming = Naming {
            names: Arc::new(Names::new(Nameless)),
            last: [].into(),
        };
        let form = GapForm::Line(LineForm {
            fields: FieldSet::IP,
            ..LineForm::default()
        });
        let path = std::env::temp_dir().join(format!("oxperf-crew-{}", std::process::id()));
        let mut output = Output::new(File::create(&path).unwrap());
        let (mut crew, mut gaps) = (Crew::new(naming), Gaps::default());
        let (machine, mut expected) = (Machine::default(), String::new());
        for number in 0..40_000_u64 {
            output
                .buffer()
                .extend_from_slice(number.to_string().as_bytes());
            gaps.leave_address(
                (output.buffer(), form),
                (&machine, ThreadId(0)),
                (CpuMode::User, number),
            );
            output.buffer().push(b'\n');
            expected += &format!("{number} {number:>16x}\n");
            if crew.wants(output.buffer(), &gaps) {
                crew.hand_over(&mut output, &mut gaps, machine.objects())
                    .unwrap();
            }
        }
        assert!(crew.count > 4 && !gaps.is_empty());
        crew.finish(&mut output, &mut gaps, machine.objects())
            .unwrap();
        assert!(crew.is_idle() && gaps.is_empty());
        output.finish().unwrap();
        let written = fs::read_to_string(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(written == expected);
    }
}
