//! Lines of branches that look as others did: code runs again and again, and what a place is called stays the same as
//! long as the same is mapped there.

use std::io;

use oxperf_abi::{Cpu, Misc, PerfTime};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::script::FieldSet;
use oxperf_session::{EventIndex, SampleEvent, SampleFlags};
use rustc_hash::FxHashMap;

use super::clock::Clock;
use super::printer::Printer;

/// Bytes of text, and lines, that are kept at most.
const MOST: usize = 32 << 20;
const MOST_LINES: usize = 1 << 18;

/// What decides how the line of a branch looks behind its head.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Way {
    from: u64,
    to: u64,
    /// What is mapped, see [`Machine::generation`].
    generation: u64,
    event: EventIndex,
    flags: SampleFlags,
    misc: Misc,
}

/// What decides how the head of a line looks, as long as no record changes a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Moment {
    event: EventIndex,
    thread: ThreadId,
    cpu: Option<Cpu>,
    time: Option<PerfTime>,
    period: u64,
}

/// What was printed.
#[derive(Debug, Default)]
pub(super) struct Memo {
    moment: Option<Moment>,
    head: Vec<u8>,
    ways: FxHashMap<Way, (u32, u32)>,
    text: Vec<u8>,
}

impl Memo {
    /// A record may change who is called how.
    pub(super) fn forget_head(&mut self) {
        self.moment = None;
    }

    fn keep(&mut self, way: Way, text: &[u8]) {
        if self.text.len() + text.len() > MOST || self.ways.len() == MOST_LINES {
            self.ways.clear();
            self.text.clear();
        }
        self.ways
            .insert(way, (self.text.len() as u32, text.len() as u32));
        self.text.extend_from_slice(text);
    }
}

impl Printer<'_> {
    /// Whether the line of a sample is made of its time, its thread and its place alone.
    fn is_of_place(&self, event: &SampleEvent<'_>) -> bool {
        const OTHERS: [FieldSet; 6] = [
            FieldSet::CALLINDENT,
            FieldSet::IPC,
            FieldSet::INSN,
            FieldSet::INSNLEN,
            FieldSet::DISASM,
            FieldSet::SRCLINE,
        ];
        let view = &self.views[event.event.0];
        view.is_branch
            && event.traced.is_some()
            && self.clock == Clock::Recorded
            && self.dumper.is_none()
            && event.sample.callchain.is_none()
            && !OTHERS.into_iter().any(|field| view.fields.contains(field))
    }

    /// Prints the line of a branch as it looked before, or keeps how it looks; false where it is made of more than its
    /// time, its thread and its place.
    pub(super) fn print_known(
        &mut self,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> io::Result<bool> {
        if !self.is_of_place(event) {
            return Ok(false);
        }
        let (sample, time) = (&event.sample, event.sample.time);
        let (thread, cpu, period) = (event.thread, sample.cpu, event.period);
        let moment = Moment {
            event: event.event,
            thread,
            cpu,
            time,
            period,
        };
        if self.memo.moment == Some(moment) {
            self.output.buffer().extend_from_slice(&self.memo.head);
        } else {
            let start = self.output.buffer().len();
            self.print_head(machine, event);
            self.memo.head.clear();
            self.memo
                .head
                .extend_from_slice(&self.output.buffer()[start..]);
            self.memo.moment = Some(moment);
        }
        let way = Way {
            from: sample.ip.unwrap_or(0),
            to: sample.addr.unwrap_or(0),
            generation: machine.generation(thread),
            event: event.event,
            flags: event
                .traced
                .map_or(SampleFlags::default(), |traced| traced.flags),
            misc: event.misc,
        };
        if let Some(&(start, length)) = self.memo.ways.get(&way) {
            let text = &self.memo.text[start as usize..][..length as usize];
            self.output.buffer().extend_from_slice(text);
        } else {
            let start = self.output.buffer().len();
            self.print_flags(event);
            self.print_branch(machine, event);
            self.output.buffer().push(b'\n');
            let text = &self.output.buffer()[start..];
            self.memo.keep(way, text);
        }
        self.settle(machine)?;
        Ok(true)
    }
}
