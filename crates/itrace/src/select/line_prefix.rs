//! The prefix of lines: the task that ran, and when. One text is kept as long as it looks the same.

use intel_pt::Tsc;

use super::TextSynth;

/// The time at which the first line of a chunk was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum FirstLine {
    /// There is no line.
    #[default]
    None,
    /// The latest TSC was set, whatever it had been.
    AfterSetTime,
    /// The latest TSC was this: any earlier one before the chunk would have made no difference.
    At(u64),
}

impl FirstLine {
    fn note(&mut self, first: FirstLine) {
        if *self == FirstLine::None {
            *self = first;
        }
    }

    /// True when the lines are the same behind a chunk that ended at `timestamp`.
    pub(crate) fn fits_behind(self, timestamp: u64) -> bool {
        match self {
            FirstLine::None | FirstLine::AfterSetTime => true,
            FirstLine::At(first) => timestamp <= first,
        }
    }
}

/// The text of a prefix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct PrefixTime {
    tsc: u64,
    /// The time that it shows, in steps of the writer's resolution.
    shown: u64,
}

/// Makes the prefixes of the lines of one decoder.
#[derive(Debug, Default)]
pub(crate) struct LinePrefix {
    /// The latest TSC: time does not go back.
    timestamp: u64,
    /// Instructions up to and with the one that was written last.
    pub(super) written: u64,
    text: Vec<u8>,
    /// The time of the text; `None` before there is one and when another task may run.
    time: Option<PrefixTime>,
    first: FirstLine,
}

impl LinePrefix {
    /// Begins a chunk: nothing was written, and no time is known.
    pub(crate) fn begin(&mut self) {
        *self = LinePrefix {
            text: std::mem::take(&mut self.text),
            ..LinePrefix::default()
        };
    }

    /// Forgets the text: another task may run.
    pub(crate) fn forget(&mut self) {
        self.time = None;
    }

    /// The latest TSC.
    pub(crate) fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// Sets the latest TSC, whatever it was.
    pub(crate) fn set_timestamp(&mut self, timestamp: u64) {
        self.first.note(FirstLine::AfterSetTime);
        self.timestamp = timestamp;
    }

    /// Takes a time stamp.
    pub(crate) fn advance_to(&mut self, time: Option<Tsc>) {
        self.timestamp = self.timestamp.max(time.map_or(0, |time| time.0));
    }

    /// The time of the first line since [`LinePrefix::begin`].
    pub(crate) fn first(&self) -> FirstLine {
        self.first
    }

    /// Instructions up to and with the one that was written last.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Goes on behind so many instructions.
    pub(crate) fn set_written(&mut self, instructions: u64) {
        self.written = instructions;
    }

    /// True when lines look different from a time on.
    pub(super) fn differ_from(&self, time: Option<Tsc>, text_synth: &TextSynth<'_>) -> bool {
        let later = time.map_or(0, |time| time.0);
        text_synth.path.resolution.is_some()
            && later > self.timestamp
            && shown(later, text_synth) != shown(self.timestamp, text_synth)
    }

    /// The prefix of a line of now.
    #[inline]
    pub(super) fn text(&mut self, text_synth: &TextSynth<'_>) -> &[u8] {
        if text_synth.path.resolution.is_none() {
            return &[];
        }
        if self.time.is_none_or(|time| time.tsc != self.timestamp) {
            self.renew(text_synth);
        }
        &self.text
    }

    fn renew(&mut self, text_synth: &TextSynth<'_>) {
        let Some(shown) = shown(self.timestamp, text_synth) else {
            return;
        };
        self.first.note(FirstLine::At(self.timestamp));
        if self.time.is_none_or(|time| time.shown != shown) {
            self.text.clear();
            text_synth.write_prefix(self.timestamp, 1, &mut self.text);
        }
        self.time = Some(PrefixTime {
            tsc: self.timestamp,
            shown,
        });
    }

    /// Appends the prefix of the first instruction behind others that were not written: it stands for these, too.
    pub(super) fn write_first(
        &mut self,
        text_synth: &TextSynth<'_>,
        period: u64,
        out: &mut Vec<u8>,
    ) {
        if text_synth.path.resolution.is_some() {
            self.first.note(FirstLine::At(self.timestamp));
            text_synth.write_prefix(self.timestamp, period, out);
        }
    }
}

/// The time that lines show of a moment, in steps of the resolution; `None` if they show none.
fn shown(timestamp: u64, text_synth: &TextSynth<'_>) -> Option<u64> {
    let resolution = text_synth.path.resolution?;
    let time = text_synth.sampler.time(timestamp);
    Some(time.map_or(0, |time| time.0) / resolution)
}
