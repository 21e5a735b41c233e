//! Time that threads spend off the CPU, of what the kernel tells about context switches.
//!
//! The event of a recording that is opened for this takes a sample where a thread ceases to run, with its stack, and has
//! records of when threads cease and begin to run ([`request`]). None of these reaches the output. An absence becomes a
//! sample of the event `offcpu-time`: that of its beginning, whose period is the time until the thread ran again. Long
//! absences become a sample each, at the time of their end; the short ones of a thread at one place are added up and come at
//! the end, at a time of their own, as perf writes them. A thread that was preempted was not absent: it wanted to run.

use std::time::Duration;

use oxperf_abi::{
    AttrFlags, CallchainContext, EventAttr, EventId, Misc, PerfTime, RecordType, SampleType,
    SoftwareId, Tid,
};
use oxperf_data::WriteError;
use oxperf_wire::{Cursor, Encoder, Endian, RecordHeader, Sample, SampleId, SampleLayout};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::EventRequest;
use crate::options::{CallGraph, Rate};
use crate::output::RecordOutput;

/// The name of the event in recordings.
pub(crate) const NAME: &str = "offcpu-time";
/// Most bytes of a copy of the stack at a switch: threads may cease to run at any rate.
pub(crate) const LARGEST_COPY: u32 = 2 * CallGraph::STACK_SIZE;
/// Most places whose absences are added up. At others each absence is a sample.
const MOST_PLACES: usize = 1 << 18;

/// The event that tells when and where threads cease to run. Readers see it as [`recorded_attr`] says.
pub(crate) fn request() -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::ContextSwitches, NAME);
    request.attr.flags = AttrFlags::CONTEXT_SWITCH | AttrFlags::EXCLUDE_GUEST;
    request.attr.sample_type =
        SampleType::TIME | SampleType::CPU | SampleType::PERIOD | SampleType::CALLCHAIN;
    request.rate = Some(Rate::Period(1));
    request
}

/// The attribute as perf writes it: samples that no counter took.
pub(crate) fn recorded_attr(opened: &EventAttr) -> EventAttr {
    let mut attr = *opened;
    attr.config = SoftwareId::BpfOutput as u64;
    attr.flags.set(AttrFlags::CONTEXT_SWITCH, false);
    attr
}

/// Makes samples of context switches.
#[derive(Debug)]
pub(crate) struct OffCpu {
    layout: SampleLayout,
    ids: FxHashSet<EventId>,
    first_id: Option<EventId>,
    /// Absences of this length, in ns, are a sample each.
    threshold: u64,
    /// Short absences are added up: samples without copies of stacks are alike.
    adds_up: bool,
    /// The kernel takes no samples of switches.
    without_samples: bool,
    /// Switches whose predecessors may still be in a ring.
    waiting: Vec<Switch>,
    /// The time of the newest switch of the last pass, and of all passes before that.
    newest: u64,
    newest_before: u64,
    away: FxHashMap<Tid, Absence>,
    sums: FxHashMap<Vec<u8>, u64>,
}

/// What happened to a thread.
#[derive(Debug)]
struct Switch {
    time: u64,
    tid: Tid,
    kind: SwitchKind,
}

#[derive(Debug)]
enum SwitchKind {
    /// It ceases to run; the record of the sample that tells where.
    Leaves(Vec<u8>),
    /// It ceases to run, as the record without a place says.
    Left(SampleId),
    /// Another one runs in its place.
    Preempted,
    /// It runs again.
    Returns,
}

/// A thread that does not run.
#[derive(Debug)]
struct Absence {
    since: u64,
    record: Vec<u8>,
}

impl OffCpu {
    /// Of the event that was opened with this attribute and got these ids.
    pub(crate) fn new(attr: &EventAttr, ids: &[EventId], threshold: Duration) -> OffCpu {
        OffCpu {
            layout: SampleLayout::new(attr),
            ids: ids.iter().copied().collect(),
            first_id: ids.first().copied(),
            threshold: u64::try_from(threshold.as_nanos()).unwrap_or(u64::MAX),
            adds_up: !attr.sample_type.contains(SampleType::STACK_USER),
            without_samples: attr.flags.contains(AttrFlags::EXCLUDE_KERNEL),
            waiting: Vec::new(),
            newest: 0,
            newest_before: 0,
            away: FxHashMap::default(),
            sums: FxHashMap::default(),
        }
    }

    /// Returns whether the kernel shows no stacks of threads that cease to run.
    pub(crate) fn is_without_stacks(&self) -> bool {
        self.without_samples
    }

    /// An output that takes the switches out of what goes to another.
    pub(crate) fn before<'a, O>(&'a mut self, output: &'a mut O) -> OffCpuOutput<'a, O> {
        OffCpuOutput {
            off_cpu: self,
            output,
        }
    }

    /// The samples that are left at the end of a file: whatever happened until now is known.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let mut samples = Vec::new();
        self.newest_before = u64::MAX;
        self.end_pass(&mut samples);
        self.newest_before = self.newest;
        for (mut record, time) in std::mem::take(&mut self.sums) {
            self.set(&mut record, PerfTime::OF_SUMS.0, time);
            samples.extend(record);
        }
        samples
    }

    /// Takes a record if it is one of this event.
    fn take(&mut self, header: RecordHeader, record: &[u8]) -> bool {
        let body = record.get(RecordHeader::SIZE..).unwrap_or_default();
        let switch = match header.kind {
            RecordType::SAMPLE if self.is_own(self.layout.sample_id_word(), body) => {
                self.leaving(record, body)
            }
            RecordType::SWITCH | RecordType::SWITCH_CPU_WIDE => {
                let words = body.len() / 8;
                let place = self.layout.trailer_id_word();
                let place = place.and_then(|place| words.checked_sub(place));
                if !self.is_own(place, body) {
                    return false;
                }
                self.switched(header.misc, body)
            }
            _ => return false,
        };
        if let Some(switch) = switch {
            self.newest = self.newest.max(switch.time);
            self.waiting.push(switch);
        }
        true
    }

    fn is_own(&self, word: Option<usize>, body: &[u8]) -> bool {
        let id = word.and_then(|word| word_at(body, word));
        id.is_some_and(|id| self.ids.contains(&EventId(id)))
    }

    /// A sample of a thread of user space that ceases to run.
    fn leaving(&self, record: &[u8], body: &[u8]) -> Option<Switch> {
        let sample = self.layout.decode_sample(body, Endian::NATIVE).ok()?;
        let tid = sample.tid.filter(|tid| tid.0 > 0)?;
        is_of_user(&sample).then_some(Switch {
            time: sample.time?.0,
            tid,
            kind: SwitchKind::Leaves(record.to_vec()),
        })
    }

    fn switched(&self, misc: Misc, body: &[u8]) -> Option<Switch> {
        let whose = self.layout.sample_id(body, Endian::NATIVE);
        let kind = if !misc.has(Misc::SWITCH_OUT) {
            SwitchKind::Returns
        } else if misc.has(Misc::SWITCH_OUT_PREEMPT) {
            SwitchKind::Preempted
        } else {
            SwitchKind::Left(whose)
        };
        Some(Switch {
            time: whose.time?.0,
            tid: whose.tid.filter(|tid| tid.0 > 0)?,
            kind,
        })
    }

    /// Appends the samples of absences that ended before any switch that may still come.
    fn end_pass(&mut self, samples: &mut Vec<u8>) {
        let limit = self.newest_before;
        self.newest_before = self.newest.max(limit);
        self.waiting.sort_by_key(|switch| switch.time);
        let known = self.waiting.partition_point(|switch| switch.time <= limit);
        let later = self.waiting.split_off(known);
        for switch in std::mem::replace(&mut self.waiting, later) {
            self.apply(switch, samples);
        }
    }

    fn apply(&mut self, switch: Switch, samples: &mut Vec<u8>) {
        let Switch { time, tid, kind } = switch;
        match kind {
            SwitchKind::Leaves(record) => {
                let since = time;
                self.away.insert(tid, Absence { since, record });
            }
            SwitchKind::Left(whose) if self.without_samples => {
                let (since, record) = (time, self.without_place(&whose));
                self.away.insert(tid, Absence { since, record });
            }
            SwitchKind::Left(_) => {}
            SwitchKind::Preempted => drop(self.away.remove(&tid)),
            SwitchKind::Returns => {
                if let Some(absence) = self.away.remove(&tid) {
                    self.add(absence, time, samples);
                }
            }
        }
    }

    fn add(&mut self, absence: Absence, end: u64, samples: &mut Vec<u8>) {
        let Absence { since, mut record } = absence;
        let length = end.saturating_sub(since);
        let is_sum = self.adds_up && length < self.threshold;
        if is_sum {
            self.forget_moment(&mut record);
            if self.sums.len() < MOST_PLACES || self.sums.contains_key(&record) {
                let sum = self.sums.entry(record).or_default();
                *sum = sum.saturating_add(length);
                return;
            }
        }
        self.set(&mut record, end, length);
        samples.extend(record);
    }

    /// Sets time and period of a sample: the last word of those at its start.
    fn set(&self, record: &mut [u8], time: u64, period: u64) {
        if let Some(word) = self.layout.sample_time_word() {
            set_word(record, word, time);
        }
        if let Some(word) = (self.layout.head_size() / 8).checked_sub(1) {
            set_word(record, word, period);
        }
    }

    /// Leaves thread and place alone: absences are alike whenever they were, and wherever the thread ran before.
    fn forget_moment(&self, record: &mut [u8]) {
        self.set(record, 0, 0);
        // The CPU stands before the period.
        let cpu = (self.layout.head_size() / 8).checked_sub(2);
        let id = self.layout.sample_id_word().zip(self.first_id);
        let changes = [cpu.map(|word| (word, 0)), id.map(|(word, id)| (word, id.0))];
        for (word, value) in changes.into_iter().flatten() {
            set_word(record, word, value);
        }
    }

    /// A sample that does not tell where: of a thread whose stack the kernel does not show.
    fn without_place(&self, whose: &SampleId) -> Vec<u8> {
        let sample = Sample {
            id: whose.id,
            pid: whose.pid,
            tid: whose.tid,
            time: whose.time,
            cpu: whose.cpu,
            stream_id: whose.stream_id,
            ..Sample::default()
        };
        let mut encoder = Encoder::new(Endian::NATIVE);
        let user = Misc(2);
        encoder.record(RecordType::SAMPLE, user, |body| {
            self.layout.encode_sample(&sample, body);
        });
        encoder.into_bytes()
    }
}

/// Threads of the kernel have no part in user space.
fn is_of_user(sample: &Sample<'_>) -> bool {
    let user = |word: u64| CallchainContext::from_word(word) == Some(CallchainContext::User);
    match (sample.regs_user, sample.callchain) {
        (Some(registers), _) => registers.abi != 0,
        (None, Some(chain)) => chain.iter().any(user),
        (None, None) => true,
    }
}

/// A word of a body written by this machine.
fn word_at(body: &[u8], word: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*body.get(word * 8..)?.first_chunk()?))
}

/// Sets a word of the body of a record.
fn set_word(record: &mut [u8], word: usize, value: u64) {
    let start = RecordHeader::SIZE + word * 8;
    if let Some(bytes) = record.get_mut(start..start + 8) {
        bytes.copy_from_slice(&value.to_ne_bytes());
    }
}

/// An output whose switches are taken out, and that gets the samples made of them.
pub(crate) struct OffCpuOutput<'a, O> {
    off_cpu: &'a mut OffCpu,
    output: &'a mut O,
}

impl<O: RecordOutput> RecordOutput for OffCpuOutput<'_, O> {
    fn kernel_records(&mut self, records: &[u8]) -> Result<(), WriteError> {
        let (mut passed, mut at) = (0, 0);
        while let Ok(header) =
            RecordHeader::decode(&mut Cursor::new(&records[at..], Endian::NATIVE))
        {
            let Some(record) = records.get(at..at + header.size as usize) else {
                break;
            };
            if self.off_cpu.take(header, record) {
                if passed < at {
                    self.output.kernel_records(&records[passed..at])?;
                }
                passed = at + record.len();
            }
            at += record.len();
        }
        if passed < records.len() {
            self.output.kernel_records(&records[passed..])?;
        }
        Ok(())
    }

    fn end_pass(&mut self, mark: Option<&[u8]>) -> Result<(), WriteError> {
        let mut samples = Vec::new();
        self.off_cpu.end_pass(&mut samples);
        if !samples.is_empty() {
            self.output.kernel_records(&samples)?;
        }
        self.output.end_pass(mark)
    }
}

#[cfg(test)]
mod tests;
