//! An item, with what its decoder knew when it told it, so that samples can be made of it elsewhere and later.

use intel_pt::insn::Class;
use intel_pt::packet::EventData;
use intel_pt::{BlockValue, Decoder, ErrorKind, Event, Guess, Item, Located, Moment, Tsc};

use crate::code::KERNEL_START;

/// What happened before decoding was resumed: whoever goes on from a checkpoint does not know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Earlier {
    pub(crate) instructions: u64,
    /// Instructions since the time was told.
    pub(crate) since: u64,
    /// The instruction that ran last.
    pub(crate) last: Option<Located>,
}

/// What an item does to the latest time stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stamp {
    /// It is no earlier.
    AtLeast(Option<Tsc>),
    /// It is this.
    Exactly(Tsc),
}

/// An item with what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) item: Item,
    pub(crate) moment: Moment,
    guess: Guess,
    /// Where the program is; 0 if that is unknown.
    ip: u64,
    /// The instruction that ran last; the outer `None` where nothing ran since decoding was resumed.
    last: Option<Option<Located>>,
    /// Of an event of control flow.
    pub(crate) data: Vec<EventData>,
    /// Of a block of items.
    pub(crate) values: Vec<BlockValue>,
}

impl Told {
    /// The last item of a decoder.
    pub(crate) fn of(item: Item, decoder: &Decoder<'_>) -> Told {
        let (data, values) = match item {
            Item::Event(Event::ControlFlow { .. }) => (decoder.event_data().to_vec(), Vec::new()),
            Item::Event(Event::Block { .. }) => (Vec::new(), decoder.block_items().to_vec()),
            _ => Default::default(),
        };
        Told {
            item,
            moment: decoder.moment(),
            guess: decoder.guess(),
            ip: decoder.ip(),
            last: decoder.has_run().then(|| decoder.last_instruction()),
            data,
            values,
        }
    }

    /// The time, with a guess for the instructions since it was told.
    pub(crate) fn estimate(&self, earlier: &Earlier) -> Option<Tsc> {
        self.guess.time(earlier.since)
    }

    /// When code of user space begins, if it does: time has passed since the trace told it.
    pub(crate) fn enters_user_at(&self, earlier: &Earlier) -> Option<Tsc> {
        let of_kernel = |ip: u64| ip >= KERNEL_START;
        let enters = match self.item {
            Item::Begin { to, .. } => !of_kernel(to),
            Item::Async {
                from, to: Some(to), ..
            } => of_kernel(from) && !of_kernel(to),
            _ => false,
        };
        self.estimate(earlier).filter(|_| enters)
    }

    /// What it does to the latest time stamp.
    pub(crate) fn stamp(&self, earlier: &Earlier) -> Stamp {
        let guessed = match self.item {
            // Where code of user space begins, time has passed since the trace told it.
            Item::Begin { to, .. } => self.estimate(earlier).filter(|_| to < KERNEL_START),
            // What an overflow swallowed took time that nobody can guess.
            Item::Error(error) if error.kind == ErrorKind::Overflow => self.moment.time,
            Item::Error(_) => self.estimate(earlier),
            _ => None,
        };
        guessed.map_or(Stamp::AtLeast(self.moment.time), Stamp::Exactly)
    }

    /// Whether that depends on what ran before decoding was resumed.
    pub(crate) fn is_stamped_before(&self) -> bool {
        !self.guess.is_whole() && matches!(self.stamp(&Earlier::default()), Stamp::Exactly(_))
    }

    /// The instruction that ran last.
    pub(crate) fn last(&self, earlier: &Earlier) -> Option<Located> {
        self.last.unwrap_or(earlier.last)
    }

    /// Where the program is, and the kind of the instruction that ran last.
    pub(crate) fn place(&self, earlier: &Earlier) -> Option<(u64, Class)> {
        let class = self.last(earlier).map_or(Class::Other, |last| last.class);
        (self.ip != 0).then_some((self.ip, class))
    }
}
