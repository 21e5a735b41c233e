//! Lines of branches that look as others did: code runs again and again, and the names of an address stay the same as
//! long as the same is mapped there.

use std::io;

use oxperf_abi::{Cpu, Misc, PerfTime};
use oxperf_data::RawRecord;
use oxperf_machine::ThreadId;
use oxperf_present::script::FieldSet;
use oxperf_session::{EventIndex, SampleFlags};
use rustc_hash::FxHashMap;

use crate::clock::ShownTime;
use crate::format::SampleFormat;
use crate::format::text::TextFormat;
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// Most bytes of text that are kept.
const MAX_TEXT: usize = 32 << 20;
/// Most lines that are kept.
const MAX_LINES: usize = 1 << 18;

/// The values that decide the line of a branch behind its head.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct LineKey {
    from: u64,
    to: u64,
    /// The state of mappings, see [`Machine::generation`](oxperf_machine::Machine::generation).
    generation: u64,
    event: EventIndex,
    flags: SampleFlags,
    misc: Misc,
}

/// The values that decide the head of a line, as long as no record changes a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct HeadKey {
    event: EventIndex,
    thread: ThreadId,
    cpu: Option<Cpu>,
    time: Option<PerfTime>,
    period: u64,
}

/// Prints the lines of branches as they looked before.
pub struct LineCache<F> {
    head_key: Option<HeadKey>,
    head: Vec<u8>,
    /// Start and length of the text of each line.
    lines: FxHashMap<LineKey, (u32, u32)>,
    text: Vec<u8>,
    /// `false` passes everything on as it comes.
    is_on: bool,
    inner: F,
}

impl<'s> LineCache<TextFormat<'s>> {
    /// Keeps lines of `inner` where `is_on`.
    pub fn new(inner: TextFormat<'s>, is_on: bool) -> LineCache<TextFormat<'s>> {
        LineCache {
            head_key: None,
            head: Vec::new(),
            lines: FxHashMap::default(),
            text: Vec::new(),
            is_on,
            inner,
        }
    }

    /// Whether the line of a sample is made of its time, its thread and its addresses alone.
    fn keeps_line_of(&self, view: &SampleView<'_>) -> bool {
        const OTHERS: [FieldSet; 6] = [
            FieldSet::CALLINDENT,
            FieldSet::IPC,
            FieldSet::INSN,
            FieldSet::INSNLEN,
            FieldSet::DISASM,
            FieldSet::SRCLINE,
        ];
        self.is_on
            && view.style.is_branch
            && view.event.traced.is_some()
            && self.inner.context.options.clock == ShownTime::Recorded
            && view.sample().callchain.is_none()
            && !OTHERS
                .into_iter()
                .any(|field| view.fields().contains(field))
    }

    fn keep(&mut self, key: LineKey, text: &[u8]) {
        if self.text.len() + text.len() > MAX_TEXT || self.lines.len() == MAX_LINES {
            self.lines.clear();
            self.text.clear();
        }
        let span = (self.text.len() as u32, text.len() as u32);
        self.lines.insert(key, span);
        self.text.extend_from_slice(text);
    }

    fn write_head(&mut self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        let key = HeadKey {
            event: view.event.event,
            thread: view.event.thread,
            cpu: view.sample().cpu,
            time: view.sample().time,
            period: view.event.period,
        };
        if self.head_key == Some(key) {
            return out.extend_from_slice(&self.head);
        }
        let start = out.len();
        self.inner.write_head(view, out);
        self.head.clear();
        self.head.extend_from_slice(&out[start..]);
        self.head_key = Some(key);
    }

    fn write_rest(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) {
        let key = LineKey {
            from: view.ip_or_zero(),
            to: view.sample().addr.unwrap_or(0),
            generation: view.machine.generation(view.event.thread),
            event: view.event.event,
            flags: view.flags(),
            misc: view.event.misc,
        };
        if let Some(&(start, length)) = self.lines.get(&key) {
            let text = &self.text[start as usize..][..length as usize];
            return out.buffer().extend_from_slice(text);
        }
        let start = out.buffer().len();
        self.inner.write_rest(view, out);
        self.keep(key, &out.buffer()[start..]);
    }
}

impl<'s> SampleFormat for LineCache<TextFormat<'s>> {
    type Inner = TextFormat<'s>;

    fn inner(&mut self) -> Option<&mut TextFormat<'s>> {
        Some(&mut self.inner)
    }

    /// A record may change the name of a thread.
    #[inline]
    fn raw_record(
        &mut self,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
        out: &mut ScriptOutput,
    ) -> io::Result<()> {
        self.head_key = None;
        self.inner.raw_record(record, event, out)
    }

    #[inline]
    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        if !self.keeps_line_of(view) {
            return self.inner.sample(view, out);
        }
        self.write_head(view, out.buffer());
        self.write_rest(view, out);
        Ok(())
    }
}
