//! The attribute of an event, all fields of ABI version 9.

use crate::{AttrFlags, BranchSampleType, EventType, ReadFormat, SampleType};

/// `struct perf_event_attr` as values. Its stored size depends on what is used and belongs to the codec.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct EventAttr {
    /// Kind of event, or the PMU's number.
    pub kind: EventType,
    /// The kind of event: hardware, software, a PMU's.
    pub config: u64,
    /// Period, or frequency in Hz with [`AttrFlags::FREQ`].
    pub sample_period: u64,
    /// Fields of a sample.
    pub sample_type: SampleType,
    /// Fields of a read.
    pub read_format: ReadFormat,
    /// Flag word.
    pub flags: AttrFlags,
    /// Records, or bytes with [`AttrFlags::WATERMARK`], until a wake-up.
    pub wakeup_events: u32,
    /// Breakpoint access: 1 read, 2 write, 3 both, 4 execute.
    pub bp_type: u32,
    /// Breakpoint address, or `config1`.
    pub config1: u64,
    /// Breakpoint length, or `config2`.
    pub config2: u64,
    /// Branches to sample.
    pub branch_sample_type: BranchSampleType,
    /// Mask of user registers.
    pub sample_regs_user: u64,
    /// Bytes of user stack.
    pub sample_stack_user: u32,
    /// Clock with [`AttrFlags::USE_CLOCKID`].
    pub clockid: i32,
    /// Mask of registers at the interrupt.
    pub sample_regs_intr: u64,
    /// Bytes in the AUX area until a wake-up.
    pub aux_watermark: u32,
    /// Most call-chain entries; 0 for the system's limit.
    pub sample_max_stack: u16,
    /// Bytes of AUX data a sample.
    pub aux_sample_size: u32,
    /// AUX actions: bit 0 start paused, 1 pause, 2 resume.
    pub aux_action: u32,
    /// Data of the signal with [`AttrFlags::SIGTRAP`].
    pub sig_data: u64,
    /// Third config word.
    pub config3: u64,
    /// Fourth config word.
    pub config4: u64,
}
