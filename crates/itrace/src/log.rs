//! The log of the decoding that `--itrace=d` asks for, in perf's words: packets, the instructions that they lead
//! through, what they say about time, and the records that come between them.

mod code;
mod time;

use std::io::Write;

use intel_pt::packet::Packet;
use intel_pt::{Decoder, ErrorKind, Event, Item, Note};
use oxperf_abi::{PerfTime, RecordType};
use oxperf_data::RawRecord;
use oxperf_session::Sink;
use oxperf_wire::kernel::ItraceStart;
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Cursor, Endian, SampleId};

use crate::code::ThreadCode;
use crate::decoded::{DecodedItem, PriorState};
use crate::plan::Plan;
use crate::queue::QueueDecoder;
use crate::{ItraceOptions, TscClock};
use code::Walked;

/// Appends a line; appending to memory cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => {{ let _ = writeln!($out, $($text)*); }};
}
pub(crate) use line;

/// Bytes before an error that are kept, where the log holds nothing else and the options do not say.
const KEPT: usize = 16 << 10;

/// Text above which it is handed over.
const MAX_TEXT: usize = 1 << 20;

/// The destination of the log, and the lines in it that are not the decoder's steps.
pub trait LogWriter {
    /// Takes a piece of the log; `false` if it is to stand among the samples.
    fn write(&mut self, text: &[u8]) -> bool;

    /// Appends the line of a record.
    fn record(&self, record: &RawRecord<'_>, out: &mut Vec<u8>);

    /// Appends the line of an error.
    fn error(&self, error: &AuxtraceError<'_>, out: &mut Vec<u8>);
}

/// A record whose turn has come.
pub(crate) struct RecordTurn<'r> {
    pub(crate) record: &'r RawRecord<'r>,
    pub(crate) id: &'r SampleId,
    pub(crate) endian: Endian,
    pub(crate) clock: Option<TscClock>,
}

/// The records that are logged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum LoggedRecords {
    None,
    /// Those of the stretches of time that are asked for.
    OfTimes,
    All,
}

impl LoggedRecords {
    fn of(options: &ItraceOptions) -> LoggedRecords {
        if options.log.with.contains('a') {
            LoggedRecords::All
        } else if options.log.without.contains('a') {
            LoggedRecords::None
        } else {
            LoggedRecords::OfTimes
        }
    }
}

/// The log.
pub(crate) struct Log {
    text: Vec<u8>,
    writer: Box<dyn LogWriter>,
    /// Only the steps directly before an error are written.
    of_errors: bool,
    /// Bytes of those steps.
    kept: usize,
    /// It stands among the samples.
    among: bool,
    records: LoggedRecords,
    /// The stretches of time that are asked for, first and last moment; none for all.
    times: Vec<(PerfTime, PerfTime)>,
    walked: Walked,
    /// The trace is followed in time.
    timed: bool,
    /// The last packet that steered the flow of control or was an event.
    last: Option<Packet>,
}

impl Log {
    /// An empty log.
    pub(crate) fn new(
        options: &ItraceOptions,
        times: Vec<(PerfTime, PerfTime)>,
        writer: Box<dyn LogWriter>,
    ) -> Log {
        let [of_errors, among] = ['e', 'o'].map(|letter| options.log.with.contains(letter));
        Log {
            among,
            records: LoggedRecords::of(options),
            times,
            text: Vec::new(),
            writer,
            of_errors,
            kept: options.log.kept.unwrap_or(KEPT),
            walked: Walked::default(),
            timed: false,
            last: None,
        }
    }

    fn write(&mut self, sink: &mut impl Sink) {
        if !self.writer.write(&self.text) {
            sink.log(&self.text);
        }
        self.text.clear();
    }

    /// Hands over what was written.
    pub(crate) fn hand_over(&mut self, sink: &mut impl Sink) {
        if !self.of_errors {
            self.write(sink);
        } else if self.text.len() / 2 > self.kept {
            let old = self.text.len() - self.kept;
            self.text.drain(..old);
        }
    }

    /// A record when its turn has come.
    pub(crate) fn take_record(&mut self, turn: &RecordTurn<'_>) {
        let RecordTurn {
            record,
            id,
            endian,
            clock,
        } = turn;
        let known = id.time.filter(|time| time.0 != 0 && time.0 != u64::MAX);
        let tsc = known.zip(*clock).map_or(0, |(time, clock)| clock.tsc(time));
        let cpu = id.cpu.map_or(-1, |cpu| i64::from(cpu.0));
        let time = id.time.map_or(u64::MAX, |time| time.0);
        let prefix = if tsc == 0 { "" } else { "0x" };
        if self.timed
            && record.header.kind == RecordType::ITRACE_START
            && let Ok(start) = ItraceStart::decode(&mut Cursor::new(record.body, *endian))
        {
            let (pid, tid) = (start.pid, start.tid);
            line!(
                self.text,
                "itrace_start: cpu {cpu} pid {pid} tid {tid} time {time} tsc {prefix}{tsc:x}"
            );
        }
        if !self.logs_record_of(PerfTime(time)) {
            return;
        }
        let kind = record.header.kind.0;
        let _ = write!(
            self.text,
            "event {kind}: cpu {cpu} time {time} tsc {prefix}{tsc:x} "
        );
        self.record_line(record);
    }

    /// `true` if the records of a moment are logged.
    fn logs_record_of(&self, time: PerfTime) -> bool {
        match self.records {
            LoggedRecords::None => false,
            LoggedRecords::All => true,
            LoggedRecords::OfTimes => {
                let mut times = self.times.iter();
                self.times.is_empty() || times.any(|(first, last)| (*first..=*last).contains(&time))
            }
        }
    }

    /// Appends the line of a record.
    fn record_line(&mut self, record: &RawRecord<'_>) {
        let start = self.text.len();
        self.writer.record(record, &mut self.text);
        if self.text.len() == start {
            self.text.push(b'\n');
        }
    }

    /// The text so far, to be appended to.
    pub(crate) fn text(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// The clocks that are known from the beginning.
    pub(crate) fn begin(&mut self, plan: &Plan, clock: Option<TscClock>) {
        self.timed = !plan.timeless;
        let frequency = clock.map_or(0, |clock| clock.frequency());
        line!(self.text, "TSC frequency {frequency}");
        let ratio = plan.max_non_turbo.unwrap_or(0);
        line!(self.text, "Maximum non-turbo ratio {ratio}");
        time::write_ranges(&self.times, clock, &mut self.text);
    }

    /// A queue gets its decoder.
    pub(crate) fn begin_queue(&mut self, plan: &Plan) {
        time::write_config(&plan.config, &mut self.text);
    }

    /// A queue is decoded for the thread that runs now.
    pub(crate) fn decode(&mut self, queue: &QueueDecoder<'_>) {
        let cpu = queue.running.cpu.map_or(-1, |cpu| i64::from(cpu.0));
        let (pid, tid) = (queue.running.pid, queue.running.tid);
        line!(
            self.text,
            "queue {} decoding cpu {cpu} pid {pid} tid {tid}",
            queue.number
        );
        if !queue.feed.is_begun() {
            line!(self.text, "Scanning for PSB");
        }
    }

    /// A queue was decoded up to its first time stamp.
    pub(crate) fn queue_begun(&mut self, queue: &QueueDecoder<'_>) {
        match queue.reached {
            Some(time) => line!(self.text, "queue {} timestamp {time:#x}", queue.number),
            None => line!(self.text, "queue {} has no timestamp", queue.number),
        }
    }

    /// The next buffer was looked for.
    pub(crate) fn feed(&mut self, queue: &QueueDecoder<'_>, found: bool) {
        line!(self.text, "Getting more data");
        match queue.feed.begun_with() {
            _ if !found => line!(self.text, "No more data"),
            Some(reference) => line!(self.text, "Reference timestamp {reference:#x}"),
            None => {}
        }
    }

    /// The steps of a decoder till it had an item, and the item.
    pub(crate) fn item(
        &mut self,
        item: Item,
        queue: &mut QueueDecoder<'_>,
        code: &ThreadCode<'_>,
        sink: &mut impl Sink,
    ) {
        let decoder = &mut queue.decoder;
        for note in decoder.take_notes() {
            self.note(note);
        }
        let steered = matches!(self.last, Some(Packet::Fup(_) | Packet::PsbEnd));
        match item {
            Item::Path => self
                .walked
                .write_path(decoder, code, steered, &mut self.text),
            Item::Error(error) => self.cause(error.kind, error.ip, decoder, code),
            Item::Begin { .. } | Item::Async { .. } if self.timed => {
                self.estimate(&DecodedItem::new(item, decoder), &queue.prior)
            }
            Item::Event(Event::PtWrite { .. }) if self.walked.announced() => {
                line!(self.text, "Emulated ptwrite detected");
            }
            _ => {}
        }
        if self.among || self.text.len() > MAX_TEXT {
            self.hand_over(sink);
        }
    }

    fn note(&mut self, note: Note) {
        match note {
            Note::SeeksPsb => line!(self.text, "Scanning for PSB"),
            Note::Finds { ip } => line!(self.text, "Setting IP to {ip:#x}"),
            Note::Reads(read) => {
                read.write_line(&mut self.text);
                let timing = |packet: &Packet| {
                    matches!(
                        packet,
                        Packet::Pad
                            | Packet::Mtc(_)
                            | Packet::Tsc(_)
                            | Packet::Tma(_)
                            | Packet::Cyc(_)
                            | Packet::Cbr(_)
                    )
                };
                self.last = read.packet.filter(|packet| !timing(packet)).or(self.last);
            }
            Note::Time(time) => line!(self.text, "Setting timestamp to {:#x}", time.0),
            Note::Ties { time, mtc, rest } => time::write_tie(time, mtc, rest, &mut self.text),
            Note::Measures(measured) => time::write_measured(&measured, &mut self.text),
        }
    }

    /// The reason why decoding could not go on.
    fn cause(
        &mut self,
        kind: ErrorKind,
        ip: Option<u64>,
        decoder: &Decoder<'_>,
        code: &ThreadCode<'_>,
    ) {
        // perf writes 0 where no address is known.
        let ip = ip.unwrap_or(0);
        let cause = match kind {
            ErrorKind::BadPacket => "Bad packet",
            ErrorKind::Overflow => "Buffer overflow",
            ErrorKind::EndlessLoop => "Never-ending loop",
            ErrorKind::MissingCode => {
                return line!(self.text, "ERROR: Failed to get instruction at {ip:#x}");
            }
            ErrorKind::Mismatch => {
                let cause = code::misfit(self.last, ip, decoder, code);
                return line!(self.text, "ERROR: {cause} at {ip:#x}");
            }
            ErrorKind::Internal | ErrorKind::NoMoreData | ErrorKind::BrokenPtWrite => {
                "Internal error"
            }
        };
        line!(self.text, "ERROR: {cause}");
    }

    /// An error, with its record if it was reported; the steps by which decoding goes on follow it.
    pub(crate) fn error(
        &mut self,
        kind: ErrorKind,
        record: Option<&AuxtraceError<'_>>,
        sink: &mut impl Sink,
    ) {
        if let Some(record) = record.filter(|_| !self.among) {
            self.writer.error(record, &mut self.text);
        }
        if self.of_errors {
            let whole = self.text.len().saturating_sub(self.kept);
            let start = match whole {
                0 => 0,
                cut => self.text[cut..]
                    .iter()
                    .position(|&byte| byte == b'\n')
                    .map_or(cut, |at| cut + at + 1),
            };
            let head = b"Dumping debug log buffer\n";
            self.text.splice(..start, *head);
            self.text
                .extend_from_slice(b"End of debug log buffer dump\n");
            self.write(sink);
        }
        if matches!(
            kind,
            ErrorKind::MissingCode | ErrorKind::Mismatch | ErrorKind::EndlessLoop
        ) {
            line!(self.text, "Scanning for full IP");
        }
    }

    /// Code of user space that begins: time has passed since the last time stamp.
    fn estimate(&mut self, item: &DecodedItem, prior: &PriorState) {
        if let (Some(time), Some(estimate)) = (item.moment.time, item.enters_user_at(prior)) {
            line!(self.text, "TSC {:x} est. TSC {:x}", time.0, estimate.0);
        }
    }
}
