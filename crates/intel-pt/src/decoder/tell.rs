//! Telling items, with what is known of the moment.

use super::Decoder;
use crate::event::Event;
use crate::item::{Cycles, Error, ErrorKind, Item, Mode, Tsc};

/// What a [`Moment`](crate::Moment) is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stamp {
    pub(super) offset: u64,
    pub(super) time: Option<Tsc>,
    /// Instructions since the time was told.
    pub(super) since: u64,
    pub(super) since_is_known: bool,
    pub(super) ip: u64,
    pub(super) instructions: u64,
    pub(super) cycles: Cycles,
    pub(super) cycles_fresh: bool,
    pub(super) cycles_counted: bool,
    pub(super) mode: Mode,
}

impl Decoder<'_> {
    /// The next of the items that were found already.
    #[inline]
    pub(super) fn told(&mut self) -> Option<Item> {
        let (item, stamp) = self.queue.pop_front()?;
        self.stamp = stamp;
        Some(item)
    }

    /// Tells a new core to bus ratio once.
    pub(super) fn tell_cbr(&mut self) {
        self.tell_cbr_with(None);
    }

    /// The same, where code begins at `to`.
    pub(super) fn tell_cbr_with(&mut self, to: Option<u64>) {
        let ratio = self.clock.cbr();
        if ratio != self.told_cbr {
            self.told_cbr = ratio;
            self.tell_event(Event::Cbr {
                ratio,
                payload: self.run.cbr_payload,
                to,
            });
        }
    }

    /// What is known when an item is told at `time`.
    #[inline]
    pub(super) fn stamp(&self, time: Option<Tsc>) -> Stamp {
        Stamp {
            offset: self.input.offset_of_packet(),
            time,
            since: self.clock.since(self.instructions),
            since_is_known: self.clock.changed_at.is_some(),
            ip: self.ip(),
            instructions: self.instructions,
            cycles: self.cycles,
            cycles_fresh: self.fresh,
            cycles_counted: self.clock.has_cycles(),
            mode: self.mode,
        }
    }

    pub(super) fn tell(&mut self, item: Item) {
        self.queue.push_back((item, self.stamp(self.decided)));
    }

    /// Tells something that happens now, and not with an outcome of a branch.
    pub(super) fn tell_now(&mut self, item: Item) {
        self.happen_now();
        self.tell(item);
    }

    /// Time and cycles so far belong to this moment.
    fn happen_now(&mut self) {
        self.decided = self.clock.time();
        self.count_cycles(true);
    }

    pub(super) fn tell_at_once(&mut self, item: Item) -> Item {
        self.stamp = self.stamp(self.clock.time());
        item
    }

    /// Takes the cycles since they were last told into account, unless the moment is not theirs.
    #[inline]
    pub(super) fn count_cycles(&mut self, exact: bool) {
        self.fresh = self.clock.take_fresh() && exact;
        self.cycles.rough = self.clock.total_cycles();
        if self.fresh {
            self.cycles.exact = self.cycles.rough;
        }
    }

    pub(super) fn tell_event(&mut self, event: Event) {
        self.happen_now();
        if self.wanted.events {
            self.tell(Item::Event(event));
        }
    }

    pub(super) fn tell_error(&mut self, kind: ErrorKind) {
        self.tell_error_at(kind, self.ip());
    }

    pub(super) fn tell_error_at(&mut self, kind: ErrorKind, ip: u64) {
        self.decided = self.clock.time();
        // The cycles count, but it is the next moment that they are told for.
        let cycles = self.clock.total_cycles();
        self.cycles = Cycles {
            exact: cycles,
            rough: cycles,
        };
        self.tell(Item::Error(Error { kind, ip }));
    }
}
