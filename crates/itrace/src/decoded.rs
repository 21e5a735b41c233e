//! Items with all that their decoder knew of them: samples can be made of them elsewhere and later.

use intel_pt::insn::Class;
use intel_pt::packet::EventData;
use intel_pt::{BlockValue, Decoder, ErrorKind, Event, Guess, Item, Located, Moment, Tsc};

use oxperf_abi::KERNEL_START;

/// The state before decoding was resumed: a decoder that goes on from a checkpoint does not know it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PriorState {
    /// Instructions that ran.
    pub(crate) instructions: u64,
    /// Instructions since the last time stamp.
    pub(crate) since: u64,
    /// The instruction that ran last.
    pub(crate) last: Option<Located>,
}

/// The change that an item makes to the latest time stamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TimeUpdate {
    /// Time is at least this.
    AtLeast(Option<Tsc>),
    /// Time is this, even if it goes back.
    Exactly(Tsc),
}

/// The code around an item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CodePosition {
    /// Address of the next instruction.
    pub(crate) ip: u64,
    /// Kind of the instruction that ran last.
    pub(crate) class: Class,
}

/// An item of a decoder with the state that it was found in.
#[derive(Clone, Debug)]
pub(crate) struct DecodedItem {
    pub(crate) item: Item,
    pub(crate) moment: Moment,
    guess: Guess,
    /// Address of the next instruction, if it is known.
    ip: Option<u64>,
    /// The instruction that ran last; the outer `None` where nothing ran since decoding was resumed.
    last: Option<Option<Located>>,
    /// Data of an event of control flow.
    pub(crate) data: Vec<EventData>,
    /// Values of a block of items.
    pub(crate) values: Vec<BlockValue>,
}

impl DecodedItem {
    /// The last item of a decoder.
    pub(crate) fn new(item: Item, decoder: &Decoder<'_>) -> DecodedItem {
        let (data, values) = match item {
            Item::Event(Event::ControlFlow { .. }) => (decoder.event_data().to_vec(), Vec::new()),
            Item::Event(Event::Block { .. }) => (Vec::new(), decoder.block_items().to_vec()),
            _ => Default::default(),
        };
        DecodedItem {
            item,
            moment: decoder.moment(),
            guess: decoder.guess(),
            ip: decoder.ip().filter(|ip| *ip != 0),
            last: decoder.has_run().then(|| decoder.last_instruction()),
            data,
            values,
        }
    }

    /// The time, with a guess for the instructions since the last time stamp.
    pub(crate) fn estimate(&self, prior: &PriorState) -> Option<Tsc> {
        self.guess.time(prior.since)
    }

    /// The estimated time at which code of user space begins, if it does with this item.
    pub(crate) fn enters_user_at(&self, prior: &PriorState) -> Option<Tsc> {
        let of_kernel = |ip: u64| ip >= KERNEL_START;
        let enters = match self.item {
            Item::Begin { to, .. } => !of_kernel(to),
            Item::Async {
                from, to: Some(to), ..
            } => of_kernel(from) && !of_kernel(to),
            _ => false,
        };
        self.estimate(prior).filter(|_| enters)
    }

    /// The change that it makes to the latest time stamp.
    pub(crate) fn time_update(&self, prior: &PriorState) -> TimeUpdate {
        let guessed = match self.item {
            // Where code of user space begins, time has passed since the last time stamp.
            Item::Begin { to, .. } => self.estimate(prior).filter(|_| to < KERNEL_START),
            // Packets that an overflow swallowed took time that nobody can guess.
            Item::Error(error) if error.kind == ErrorKind::Overflow => self.moment.time,
            Item::Error(_) => self.estimate(prior),
            _ => None,
        };
        guessed.map_or(TimeUpdate::AtLeast(self.moment.time), TimeUpdate::Exactly)
    }

    /// True when the time depends on code that ran before decoding was resumed.
    pub(crate) fn time_needs_prior_state(&self) -> bool {
        let update = self.time_update(&PriorState::default());
        !self.guess.is_whole() && matches!(update, TimeUpdate::Exactly(_))
    }

    /// The instruction that ran last.
    pub(crate) fn last(&self, prior: &PriorState) -> Option<Located> {
        self.last.unwrap_or(prior.last)
    }

    /// The code around it, if that is known.
    pub(crate) fn position(&self, prior: &PriorState) -> Option<CodePosition> {
        let class = self.last(prior).map_or(Class::Other, |last| last.class);
        self.ip.map(|ip| CodePosition { ip, class })
    }
}
