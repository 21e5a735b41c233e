//! A sample, or another record, as the formats see it: borrowed, made once.

use oxperf_abi::{CpuMode, DataSource};
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::records::RecordSubject;
use oxperf_present::script::{Access, FieldSet};
use oxperf_resolve::{Chain, DsoAddress};
use oxperf_session::{SampleEvent, SampleFlags, SidebandEvent, Traced};
use oxperf_wire::{Sample, SampleWeight};

use crate::event_style::EventStyle;

/// A sample at its turn, with the machine as it was at that moment.
#[derive(Clone, Copy)]
pub struct SampleView<'a> {
    /// The tasks and mappings of that moment.
    pub machine: &'a Machine,
    /// The sample itself.
    pub event: &'a SampleEvent<'a>,
    /// The name, fields and layout of its event.
    pub style: &'a EventStyle,
    /// Its call chain, where the format shows one.
    pub chain: Option<Chain<'a>>,
}

impl<'a> SampleView<'a> {
    /// A sample without its call chain.
    #[inline]
    pub fn new(
        machine: &'a Machine,
        event: &'a SampleEvent<'a>,
        style: &'a EventStyle,
    ) -> SampleView<'a> {
        SampleView {
            machine,
            event,
            style,
            chain: None,
        }
    }

    /// The decoded fields.
    #[inline]
    pub fn sample(&self) -> &'a Sample<'a> {
        &self.event.sample
    }

    /// The fields of `-F` that are shown of it.
    #[inline]
    pub fn fields(&self) -> FieldSet {
        self.style.fields
    }

    /// Where its addresses are to be looked up.
    #[inline]
    pub fn context(&self) -> AddressContext<'a> {
        AddressContext {
            machine: self.machine,
            thread: self.event.thread,
        }
    }

    /// The name of its thread, as recorded.
    pub fn comm(&self) -> &'a str {
        self.machine.comm_of(self.event.thread)
    }

    /// Its process; -1 where the recording has none.
    pub fn pid(&self) -> i32 {
        let thread = self.machine.thread_info(self.event.thread);
        thread.pid.map_or(-1, |pid| pid.0)
    }

    /// Its thread's number.
    pub fn tid(&self) -> i32 {
        self.machine.thread_info(self.event.thread).tid.0
    }

    /// The privilege that it was taken with.
    #[inline]
    pub fn mode(&self) -> CpuMode {
        self.event.misc.cpu_mode()
    }

    /// Its address; 0 for one that was recorded without, as perf shows it.
    #[inline]
    pub fn ip_or_zero(&self) -> u64 {
        self.event.sample.ip.unwrap_or(0)
    }

    /// Its thread's privilege at another address: that of the sample where something is mapped there by it.
    pub fn mode_at(&self, address: u64) -> CpuMode {
        let context = self.context();
        let mode = self.mode();
        match context.machine.locate(context.thread, mode, address) {
            Some(_) => mode,
            None => context.guess_mode(address),
        }
    }

    /// What hardware trace says of it.
    #[inline]
    pub fn traced(&self) -> Option<&'a Traced> {
        self.event.traced.as_ref()
    }

    /// What happened at its address; nothing for a recorded sample.
    #[inline]
    pub fn flags(&self) -> SampleFlags {
        self.traced()
            .map_or(SampleFlags::default(), |traced| traced.flags)
    }

    /// The raw record of a tracepoint.
    pub fn trace(&self) -> Option<&'a [u8]> {
        self.event.sample.raw.filter(|_| self.style.tracepoint)
    }

    /// The address whose function its branch enters, or leaves.
    pub fn entered_or_left(&self) -> Option<u64> {
        let flags = self.flags();
        if flags.meets(SampleFlags::CALL | SampleFlags::TRACE_BEGIN) {
            return self.event.sample.addr;
        }
        let leaves = flags.meets(SampleFlags::RETURN | SampleFlags::TRACE_END);
        self.event.sample.ip.filter(|_| leaves)
    }

    /// The access to memory that it stands for.
    pub fn access(&self) -> Access {
        let sample = self.sample();
        let (weight, ins_lat, retire_lat) = match sample.weight {
            Some(SampleWeight::Whole(weight)) => (weight, 0, 0),
            Some(SampleWeight::Parts { var1, var2, var3 }) => (u64::from(var1), var2, var3),
            None => (0, 0, 0),
        };
        Access {
            source: DataSource(sample.data_src.unwrap_or(0)),
            weight,
            ins_lat,
            retire_lat,
            phys_addr: sample.phys_addr.unwrap_or(0),
            data_page_size: sample.data_page_size.unwrap_or(0),
            code_page_size: sample.code_page_size.unwrap_or(0),
        }
    }
}

/// The mappings that an address is looked up in: those of a thread at the machine's moment.
#[derive(Clone, Copy)]
pub struct AddressContext<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The thread.
    pub thread: ThreadId,
}

impl AddressContext<'_> {
    /// The privilege that an address most likely belongs to.
    pub fn guess_mode(&self, address: u64) -> CpuMode {
        self.machine.guess_mode(self.thread, address)
    }

    /// The object and offset that are mapped at an address.
    pub fn locate(&self, mode: CpuMode, address: u64) -> Option<DsoAddress> {
        self.machine
            .locate(self.thread, mode, address)
            .map(DsoAddress::from)
    }
}

/// A record that is no sample, shown between them.
pub struct RecordView<'a> {
    /// The tasks and mappings of that moment.
    pub machine: &'a mut Machine,
    /// The record.
    pub event: &'a SidebandEvent<'a>,
    /// The name, fields and layout of its event.
    pub style: &'a EventStyle,
    /// The thread that the record names itself.
    pub subject: Option<RecordSubject>,
    /// Its line of text.
    pub text: &'a [u8],
    /// The callers that it holds, where they are shown.
    pub chain: Option<&'a [(CpuMode, u64)]>,
}

/// The thread and the time of a record.
#[derive(Clone, Copy, Debug)]
pub struct RecordMoment {
    /// Its process; -1 where none is known.
    pub pid: oxperf_abi::Pid,
    /// Its thread; -1 where none is known.
    pub tid: oxperf_abi::Tid,
    /// Its time in ns; 0 where none is known.
    pub time: u64,
}

impl RecordView<'_> {
    /// Thread and time: the trailer counts before what the record says itself.
    pub fn moment(&self) -> RecordMoment {
        let (id, subject) = (&self.event.id, self.subject.as_ref());
        let pid = id.pid.or(subject.map(|subject| subject.pid));
        let tid = id.tid.or(subject.map(|subject| subject.tid));
        let time = id.time.or(subject.and_then(|subject| subject.time));
        RecordMoment {
            pid: pid.unwrap_or(oxperf_abi::Pid(-1)),
            tid: tid.unwrap_or(oxperf_abi::Tid(-1)),
            time: time.map_or(0, |time| time.0),
        }
    }
}
