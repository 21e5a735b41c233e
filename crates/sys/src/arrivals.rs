//! The message of a signal handler to the thread that waits: bits that say what arrived, and a descriptor that wakes it.
//!
//! A bit is set before the descriptor is written to, and taken after it is read from: so whatever comes in between, a bit that
//! nobody has taken leaves the descriptor readable.

/// The bits and the descriptor.
pub(crate) trait Shared {
    /// Sets bits.
    fn add(&self, bits: u32);
    /// Makes the descriptor readable.
    fn wake(&self);
    /// Makes it quiet.
    fn quiet(&self);
    /// Takes all bits that are set.
    fn take_bits(&self) -> u32;
}

/// The handler's side; it may run at any moment, in any thread, and in several at once.
pub(crate) fn leave(shared: &impl Shared, bits: u32) {
    shared.add(bits);
    shared.wake();
}

/// The waiting side: what was left since the last time.
pub(crate) fn take(shared: &impl Shared) -> u32 {
    shared.quiet();
    shared.take_bits()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use oxperf_testkit::{Turn, every_order};

    use super::*;

    #[derive(Default)]
    struct Model {
        bits: AtomicU32,
        readable: AtomicBool,
        taken: AtomicU32,
    }

    /// The model as one thread sees it.
    struct Seen<'a>(&'a Model, &'a Turn<'a>);

    impl Shared for Seen<'_> {
        fn add(&self, bits: u32) {
            self.1.step();
            self.0.bits.fetch_or(bits, Ordering::AcqRel);
        }

        fn wake(&self) {
            self.1.step();
            self.0.readable.store(true, Ordering::Release);
        }

        fn quiet(&self) {
            self.1.step();
            self.0.readable.store(false, Ordering::Release);
        }

        fn take_bits(&self) -> u32 {
            self.1.step();
            self.0.bits.swap(0, Ordering::AcqRel)
        }
    }

    /// Looks twice, each time only where the descriptor is readable, as the recorder's loop does.
    fn wait(model: &Model, turn: &Turn<'_>) {
        for _ in 0..2 {
            turn.step();
            if model.readable.load(Ordering::Acquire) {
                model
                    .taken
                    .fetch_or(take(&Seen(model, turn)), Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn no_signal_is_lost_whenever_it_comes() {
        let first = |model: &Model, turn: &Turn<'_>| leave(&Seen(model, turn), 1);
        let second = |model: &Model, turn: &Turn<'_>| leave(&Seen(model, turn), 2);
        let early = AtomicU32::new(0);
        let orders = every_order(Model::default, &[&first, &second, &wait], |model| {
            let (left, taken) = (
                model.bits.load(Ordering::Acquire),
                model.taken.load(Ordering::Acquire),
            );
            assert_eq!(left | taken, 3);
            assert!(
                left == 0 || model.readable.load(Ordering::Acquire),
                "{left} is left and nobody wakes"
            );
            early.fetch_add(u32::from(left == 0), Ordering::Relaxed);
        });
        let early = early.into_inner() as usize;
        assert!(early > 0 && early < orders, "{early} of {orders}");
    }
}
