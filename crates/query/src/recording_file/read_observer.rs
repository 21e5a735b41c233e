//! The observer of a read: memory behind it is given back, and its progress is reported.

use std::cell::RefCell;

use oxperf_abi::FileOffset;
use oxperf_session::ProgressObserver;

use super::form::Form;

/// Receives the number of bytes that were read so far.
pub type ReadReport = Box<dyn FnMut(u64)>;

/// Observes one walk over a recording: gives memory of the part that was read back, and reports the bytes so far.
pub struct ReadObserver<'f> {
    form: &'f Form,
    state: RefCell<State>,
}

struct State {
    report: Option<ReadReport>,
    /// The file that is read, and the offset up to which its memory was given back.
    part: usize,
    released: u64,
}

/// Records in so many bytes before the walk may still wait for their turn. More may: then they are read again.
const KEPT: u64 = 4 << 20;

/// So many bytes are given back at once: each time all cores have to forget where these pages were.
const AT_ONCE: u64 = 8 << 20;

impl<'f> ReadObserver<'f> {
    pub(super) fn new(form: &'f Form, report: Option<ReadReport>) -> ReadObserver<'f> {
        ReadObserver {
            form,
            state: RefCell::new(State {
                report,
                part: 0,
                released: 0,
            }),
        }
    }
}

impl ProgressObserver for ReadObserver<'_> {
    fn passed(&self, part: usize, offset: FileOffset) {
        let state = &mut *self.state.borrow_mut();
        if state.part != part {
            (state.part, state.released) = (part, 0);
        }
        let done = offset.0.saturating_sub(KEPT);
        if done >= state.released.saturating_add(AT_ONCE) {
            self.form.release(part, state.released..done);
            state.released = done;
        }
        if let Some(report) = &mut state.report {
            let before: u64 = self.form.sizes().iter().take(part).sum();
            report(before + offset.0);
        }
    }
}
