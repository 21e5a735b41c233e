//! Progress of a read: memory behind it is given back, and a terminal shows how far it is.

use std::cell::RefCell;

use oxperf_abi::FileOffset;
use oxperf_session::ProgressObserver;

use super::forms::Form;
use crate::progress::Progress;

/// One walk over a recording; what it shows is taken away with it.
pub(crate) struct ReadProgress<'i> {
    form: &'i Form,
    state: RefCell<State>,
}

struct State {
    progress: Option<Progress>,
    /// The file that is read, and up to where its memory was given back.
    part: usize,
    released: u64,
}

/// Records in so many bytes before the walk may still wait for their turn. More may: then they are read again.
const KEPT: u64 = 4 << 20;

/// So many bytes are given back at once: each time all cores have to forget where these pages were.
const AT_ONCE: u64 = 8 << 20;

impl<'i> ReadProgress<'i> {
    pub(super) fn new(
        form: &'i Form,
        shows_progress: bool,
        writes_meanwhile: bool,
    ) -> ReadProgress<'i> {
        let sizes = form.sizes();
        let total = (!sizes.is_empty()).then(|| sizes.iter().sum());
        let progress = shows_progress
            .then(|| Progress::begin(total, writes_meanwhile))
            .flatten();
        ReadProgress {
            form,
            state: RefCell::new(State {
                progress,
                part: 0,
                released: 0,
            }),
        }
    }
}

impl ProgressObserver for ReadProgress<'_> {
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
        if let Some(progress) = &mut state.progress {
            let before: u64 = self.form.sizes().iter().take(part).sum();
            progress.reach(before + offset.0);
        }
    }
}
