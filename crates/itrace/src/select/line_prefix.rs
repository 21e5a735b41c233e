//! The beginnings of lines: who ran, and when. One is kept as long as it looks the same.

use intel_pt::Tsc;

use super::Scribe;

/// Makes the beginnings of the lines of one decoder.
#[derive(Debug, Default)]
pub(crate) struct Heads {
    /// The latest TSC: time does not go back.
    timestamp: u64,
    /// The number of the instruction that was written last.
    pub(super) written: u64,
    text: Vec<u8>,
    /// The TSC that the text is of, and the time that it shows.
    shown: Option<(u64, u64)>,
    /// The latest TSC when the first line was written.
    first: Option<u64>,
}

impl Heads {
    /// A stretch begins: nothing was written, and no time is known.
    pub(crate) fn begin(&mut self) {
        *self = Heads {
            text: std::mem::take(&mut self.text),
            ..Heads::default()
        };
    }

    /// Who runs may be another one.
    pub(crate) fn forget(&mut self) {
        self.shown = None;
    }

    /// The latest TSC.
    pub(crate) fn timestamp(&self) -> u64 {
        self.timestamp
    }

    /// The latest TSC is this one, whatever it was.
    pub(crate) fn set_timestamp(&mut self, timestamp: u64) {
        self.first.get_or_insert(u64::MAX);
        self.timestamp = timestamp;
    }

    /// Takes a time stamp.
    pub(crate) fn pass_to(&mut self, time: Option<Tsc>) {
        self.timestamp = self.timestamp.max(time.map_or(0, |time| time.0));
    }

    /// The latest TSC when the first line was written since [`Heads::begin`]: any that was earlier would have made no
    /// difference. `None` if there is no line.
    pub(crate) fn first(&self) -> Option<u64> {
        self.first
    }

    /// The number of the instruction that was written last.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Goes on behind an instruction.
    pub(crate) fn set_written(&mut self, instruction: u64) {
        self.written = instruction;
    }

    /// Whether lines look different from a time on.
    pub(super) fn differ_from(&self, time: Option<Tsc>, scribe: &Scribe<'_>) -> bool {
        let later = time.map_or(0, |time| time.0);
        scribe.written.resolution.is_some()
            && later > self.timestamp
            && shown(later, scribe) != shown(self.timestamp, scribe)
    }

    /// What stands before a line of now.
    #[inline]
    pub(super) fn text(&mut self, scribe: &Scribe<'_>) -> &[u8] {
        if scribe.written.resolution.is_none() {
            return &[];
        }
        if self.shown.is_none_or(|(tsc, _)| tsc != self.timestamp) {
            self.renew(scribe);
        }
        &self.text
    }

    fn renew(&mut self, scribe: &Scribe<'_>) {
        let Some(time) = shown(self.timestamp, scribe) else {
            return;
        };
        self.first.get_or_insert(self.timestamp);
        if self.shown.is_none_or(|(_, shown)| shown != time) {
            self.text.clear();
            scribe.head(self.timestamp, 1, &mut self.text);
        }
        self.shown = Some((self.timestamp, time));
    }

    /// What stands before the first instruction behind others that were not written: it stands for these, too.
    pub(super) fn write_first(&mut self, scribe: &Scribe<'_>, period: u64, out: &mut Vec<u8>) {
        if scribe.written.resolution.is_some() {
            self.first.get_or_insert(self.timestamp);
            scribe.head(self.timestamp, period, out);
        }
    }
}

/// What lines show of a moment, as a number; `None` if they show nothing of any.
fn shown(timestamp: u64, scribe: &Scribe<'_>) -> Option<u64> {
    let resolution = scribe.written.resolution?;
    Some(scribe.scene.time(timestamp).map_or(0, |time| time.0) / resolution)
}
