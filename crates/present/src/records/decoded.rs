//! A record of the kernel, decoded by its kind: the one place in this crate that knows which kind has which body.

use oxperf_abi::{PerfTime, Pid, ReadFormat, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_wire::kernel::{
    Aux, AuxOutputHwId, BpfEvent, CallchainDeferred, Cgroup, Comm, ItraceStart, Ksymbol, Lost,
    LostSamples, Mmap, Mmap2, Namespaces, ReadRecord, SwitchCpuWide, TaskEvent, TextPoke,
};
use oxperf_wire::{Cursor, Endian, WireError};

/// A record of the kernel that is no sample. What its header alone says (an exec, the direction of a switch) stays in the
/// header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelRecord<'a> {
    /// MMAP: a mapping.
    Mmap(Mmap<'a>),
    /// MMAP2: a mapping with its file's identity.
    Mmap2(Mmap2<'a>),
    /// COMM: a thread's name.
    Comm(Comm<'a>),
    /// FORK: a thread's start.
    Fork(TaskEvent),
    /// EXIT: a thread's end.
    Exit(TaskEvent),
    /// NAMESPACES: the namespaces of a thread.
    Namespaces(Namespaces<'a>),
    /// SWITCH: the trailer's thread leaves a CPU or comes back.
    Switch,
    /// SWITCH_CPU_WIDE: the same, with the other thread.
    SwitchCpuWide(SwitchCpuWide),
    /// KSYMBOL: a symbol of the kernel comes or goes.
    Ksymbol(Ksymbol<'a>),
    /// BPF_EVENT: a BPF program comes or goes.
    BpfEvent(BpfEvent),
    /// CGROUP: the name of a cgroup.
    Cgroup(Cgroup<'a>),
    /// TEXT_POKE: kernel code changes.
    TextPoke(TextPoke<'a>),
    /// LOST: records that a ring could not take.
    Lost(Lost),
    /// LOST_SAMPLES: samples that were lost before a ring.
    LostSamples(LostSamples),
    /// READ: the counts of a thread that ended.
    Read(ReadRecord<'a>),
    /// AUX: new bytes in the area of AUX trace.
    Aux(Aux),
    /// ITRACE_START: hardware trace of a thread begins.
    ItraceStart(ItraceStart),
    /// AUX_OUTPUT_HW_ID: the hardware's number of an event that writes to AUX trace.
    AuxOutputHwId(AuxOutputHwId),
    /// CALLCHAIN_DEFERRED: the user part of call chains.
    CallchainDeferred(CallchainDeferred<'a>),
    /// A kind whose body is not looked at.
    Other(RecordType),
}

/// The thread that a record names itself, in its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecordSubject {
    /// Process.
    pub pid: Pid,
    /// Thread.
    pub tid: Tid,
    /// The body's own time, which counts only where there is no trailer.
    pub time: Option<PerfTime>,
}

impl<'a> KernelRecord<'a> {
    /// Decodes a record. `format` is the read format of the record's event, which READ alone needs.
    ///
    /// # Errors
    ///
    /// The body is shorter than its kind needs.
    pub fn decode(
        record: &RawRecord<'a>,
        format: ReadFormat,
        endian: Endian,
    ) -> Result<KernelRecord<'a>, WireError> {
        let mut cursor = Cursor::new(record.body, endian);
        let cursor = &mut cursor;
        Ok(match record.header.kind {
            RecordType::MMAP => KernelRecord::Mmap(Mmap::decode(cursor)?),
            RecordType::MMAP2 => KernelRecord::Mmap2(Mmap2::decode(record.header.misc, cursor)?),
            RecordType::COMM => KernelRecord::Comm(Comm::decode(cursor)?),
            RecordType::FORK => KernelRecord::Fork(TaskEvent::decode(cursor)?),
            RecordType::EXIT => KernelRecord::Exit(TaskEvent::decode(cursor)?),
            RecordType::NAMESPACES => KernelRecord::Namespaces(Namespaces::decode(cursor)?),
            RecordType::SWITCH => KernelRecord::Switch,
            RecordType::SWITCH_CPU_WIDE => {
                KernelRecord::SwitchCpuWide(SwitchCpuWide::decode(cursor)?)
            }
            RecordType::KSYMBOL => KernelRecord::Ksymbol(Ksymbol::decode(cursor)?),
            RecordType::BPF_EVENT => KernelRecord::BpfEvent(BpfEvent::decode(cursor)?),
            RecordType::CGROUP => KernelRecord::Cgroup(Cgroup::decode(cursor)?),
            RecordType::TEXT_POKE => KernelRecord::TextPoke(TextPoke::decode(cursor)?),
            RecordType::LOST => KernelRecord::Lost(Lost::decode(cursor)?),
            RecordType::LOST_SAMPLES => KernelRecord::LostSamples(LostSamples::decode(cursor)?),
            RecordType::READ => KernelRecord::Read(ReadRecord::decode(format, cursor)?),
            RecordType::AUX => KernelRecord::Aux(Aux::decode(cursor)?),
            RecordType::ITRACE_START => KernelRecord::ItraceStart(ItraceStart::decode(cursor)?),
            RecordType::AUX_OUTPUT_HW_ID => {
                KernelRecord::AuxOutputHwId(AuxOutputHwId::decode(cursor)?)
            }
            RecordType::CALLCHAIN_DEFERRED => {
                KernelRecord::CallchainDeferred(CallchainDeferred::decode(cursor)?)
            }
            kind => KernelRecord::Other(kind),
        })
    }

    /// The thread that the record names in its body; `None` for records that happened to the thread of their trailer, or
    /// to the whole machine.
    pub fn subject(&self) -> Option<RecordSubject> {
        let (pid, tid, time) = match self {
            KernelRecord::Mmap(record) => (record.pid, record.tid, None),
            KernelRecord::Mmap2(record) => (record.pid, record.tid, None),
            KernelRecord::Comm(record) => (record.pid, record.tid, None),
            KernelRecord::Namespaces(record) => (record.pid, record.tid, None),
            KernelRecord::Fork(record) | KernelRecord::Exit(record) => {
                (record.pid, record.tid, Some(record.time))
            }
            _ => return None,
        };
        Some(RecordSubject { pid, tid, time })
    }
}
