//! Where the workers of a crew take their stretches from, and put what they made of them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use intel_pt::{Checkpoint, PsbScanner, TraceChunk, Tsc};

use super::Progress;
use super::chunk_output::Portion;
use super::instruction_counts::Counts;

/// Bytes that were made and not taken, above which no stretch is begun; what is in work comes on top.
const MOST_KEPT: usize = 16 << 20;

/// Stretches that may be ahead of what was taken.
pub(super) const MOST_AHEAD: usize = 256;

/// A stretch of trace.
pub(crate) struct Task {
    pub(super) number: usize,
    pub(crate) start: Checkpoint,
    pub(crate) end: Checkpoint,
}

impl Task {
    /// Bytes of trace.
    pub(crate) fn length(&self) -> u64 {
        self.end.offset() - self.start.offset()
    }
}

/// Where stretches come from: a scanner that reads on when somebody wants one.
struct Source<'t> {
    scanner: PsbScanner<'t>,
    /// Where the next stretch starts.
    start: Checkpoint,
    /// Where stretches end that nobody took yet.
    ends: VecDeque<Checkpoint>,
    piece: u64,
    number: usize,
}

impl Source<'_> {
    /// Looks ahead till so many stretches are known; whether there are as many.
    fn foretell(&mut self, count: usize) -> bool {
        while self.ends.len() < count {
            let last = self.ends.back().unwrap_or(&self.start).offset();
            let Some(end) = self
                .scanner
                .find(|found| found.offset() - last >= self.piece)
            else {
                return false;
            };
            self.ends.push_back(end);
        }
        true
    }

    fn take(&mut self) -> Option<Task> {
        self.foretell(1);
        let end = self.ends.pop_front()?;
        let start = std::mem::replace(&mut self.start, end.clone());
        let number = self.number;
        self.number += 1;
        Some(Task { number, start, end })
    }
}

/// When no further stretch is begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Closing {
    /// When there is none.
    No,
    /// When there is no room, either.
    WhenFull,
    /// At once.
    Now,
}

/// What was made and not taken, in order.
struct Shelf {
    made: VecDeque<Option<(Portion, Task)>>,
    /// The number of the first of these.
    first: usize,
    /// Stretches that are in work or made.
    ahead: usize,
    /// So many may be; it grows with success, so that little is done in vain.
    window: usize,
    kept: usize,
    closing: Closing,
    /// Workers that are at work.
    workers: usize,
    spare: Vec<Portion>,
    /// So many are kept: they may be big.
    most_spare: usize,
}

/// A place to take stretches from and to put what was made.
pub(crate) struct Desk<'t> {
    source: Mutex<Source<'t>>,
    shelf: Mutex<Shelf>,
    /// Something was made, or a worker left.
    made: Condvar,
    /// Something was taken.
    taken: Condvar,
    /// What ran before each stretch.
    pub(super) counts: Counts,
}

/// Waits till something changed.
pub(super) fn wait<'m, T>(change: &Condvar, guard: MutexGuard<'m, T>) -> MutexGuard<'m, T> {
    change.wait(guard).unwrap_or_else(PoisonError::into_inner)
}

/// A lock is held for moments in which nothing can break.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'t> Desk<'t> {
    /// Stretches of at least `piece` bytes behind `start`, in the trace there up to a time.
    pub(super) fn new(
        from: &Progress,
        (trace, limit): (TraceChunk<'t>, Option<Tsc>),
        piece: u64,
        workers: usize,
        spare: Vec<Portion>,
    ) -> Desk<'t> {
        let (scanner, start) = (PsbScanner::new(&from.at, trace, limit), from.at.clone());
        let source = Source {
            scanner,
            start,
            ends: VecDeque::new(),
            piece,
            number: 0,
        };
        let shelf = Shelf {
            made: VecDeque::new(),
            first: 0,
            ahead: 0,
            window: 2 * workers,
            kept: 0,
            closing: Closing::No,
            workers: 0,
            most_spare: workers,
            spare,
        };
        Desk {
            source: Mutex::new(source),
            shelf: Mutex::new(shelf),
            made: Condvar::new(),
            taken: Condvar::new(),
            counts: Counts::new(from.earlier.instructions),
        }
    }

    /// Whether there is enough for more than one worker.
    pub(crate) fn is_worth_while(&self) -> bool {
        lock(&self.source).foretell(2)
    }

    /// Up to where it was looked ahead.
    pub(crate) fn looked_to(&self) -> u64 {
        lock(&self.source).scanner.offset()
    }

    /// So many instructions ran up to the end of a stretch: whoever decodes the next one may not have known.
    pub(crate) fn went_on(&self, task: &Task, instructions: u64) {
        self.counts.correct(task.number + 1, instructions);
    }

    /// Begins anew after [`Desk::put_back`].
    pub(crate) fn open(&self) {
        lock(&self.shelf).closing = Closing::No;
    }

    /// No further stretch is begun.
    pub(super) fn close(&self) {
        lock(&self.shelf).closing = Closing::Now;
        self.taken.notify_all();
    }

    /// The next stretch.
    pub(super) fn take_task(&self) -> Option<Task> {
        lock(&self.source).take()
    }

    /// Waits until a stretch may be begun; gives room for what will be made of it. `None` when the work is over.
    pub(super) fn wait_for_room(&self) -> Option<Portion> {
        let mut shelf = lock(&self.shelf);
        loop {
            let is_full = shelf.ahead >= shelf.window || shelf.kept >= MOST_KEPT;
            match shelf.closing {
                Closing::Now => return None,
                Closing::WhenFull if is_full => return None,
                _ if !is_full => break,
                _ => shelf = wait(&self.taken, shelf),
            }
        }
        shelf.ahead += 1;
        Some(shelf.spare.pop().unwrap_or_default())
    }

    /// Gives back room when there was no stretch for it.
    pub(super) fn leave_room(&self, portion: Portion) {
        let mut shelf = lock(&self.shelf);
        shelf.ahead -= 1;
        shelf.spare.push(portion);
    }

    /// Puts down what was made of a stretch.
    pub(super) fn put(&self, task: Task, portion: Portion) {
        let mut shelf = lock(&self.shelf);
        let place = task.number - shelf.first;
        if shelf.made.len() <= place {
            shelf.made.resize_with(place + 1, || None);
        }
        shelf.kept += portion.size();
        shelf.made[place] = Some((portion, task));
        drop(shelf);
        if place == 0 {
            self.made.notify_one();
        }
    }

    /// Takes what was made of the next stretch, if it is there.
    pub(crate) fn first(&self) -> Option<(Portion, Task)> {
        lock(&self.shelf).take_first()
    }

    /// Waits for what is made of the next stretch; `None` when no worker is left to make it.
    pub(super) fn wait_for_first(&self) -> Option<(Portion, Task)> {
        let mut shelf = lock(&self.shelf);
        loop {
            match shelf.take_first() {
                Some(first) => return Some(first),
                None if shelf.workers == 0 => return None,
                None => shelf = wait(&self.made, shelf),
            }
        }
    }

    /// What was taken has its use; there is room for more than before.
    pub(crate) fn recycle(&self, portion: Portion) {
        let mut shelf = lock(&self.shelf);
        if shelf.spare.len() < shelf.most_spare {
            shelf.spare.push(portion);
        }
        shelf.window = (shelf.window + 1).min(MOST_AHEAD);
        drop(shelf);
        self.taken.notify_all();
    }

    /// What was taken cannot be used yet: the workers are to leave when there is no room any more.
    pub(super) fn put_back(&self, portion: Portion, task: Task) {
        let mut shelf = lock(&self.shelf);
        shelf.kept += portion.size();
        shelf.ahead += 1;
        shelf.first -= 1;
        shelf.made.push_front(Some((portion, task)));
        shelf.closing = Closing::WhenFull;
        drop(shelf);
        self.taken.notify_all();
    }

    /// Room for later.
    pub(super) fn into_spare(self) -> Vec<Portion> {
        self.shelf
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .spare
    }
}

impl Shelf {
    fn take_first(&mut self) -> Option<(Portion, Task)> {
        let first = self.made.front_mut()?.take()?;
        self.made.pop_front();
        self.first += 1;
        self.ahead -= 1;
        self.kept -= first.0.size();
        Some(first)
    }
}

/// Says that a worker is gone, however it ends.
pub(super) struct Leaving<'d, 't>(&'d Desk<'t>);

impl<'d, 't> Leaving<'d, 't> {
    /// A worker comes.
    pub(super) fn new(desk: &'d Desk<'t>) -> Leaving<'d, 't> {
        lock(&desk.shelf).workers += 1;
        Leaving(desk)
    }
}

impl Drop for Leaving<'_, '_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.counts.break_off();
        }
        lock(&self.0.shelf).workers -= 1;
        self.0.made.notify_one();
    }
}
