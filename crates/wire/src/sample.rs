//! `PERF_RECORD_SAMPLE`: every field, in the kernel's order.

mod encode;

use oxperf_abi::{BranchEntry, BranchSampleType, Cpu, EventId, PerfTime, Pid, SampleType, Tid};

use crate::{Cursor, Endian, ReadValues, SampleLayout, WireError, Words};

/// One sample; a field is `None` when its event does not record it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sample<'a> {
    /// Event id, from wherever the layout keeps it.
    pub id: Option<EventId>,
    /// Instruction pointer.
    pub ip: Option<u64>,
    /// Process.
    pub pid: Option<Pid>,
    /// Thread.
    pub tid: Option<Tid>,
    /// Time.
    pub time: Option<PerfTime>,
    /// Data address, or what the event defines.
    pub addr: Option<u64>,
    /// The event's own id, also when inherited.
    pub stream_id: Option<u64>,
    /// CPU.
    pub cpu: Option<Cpu>,
    /// Events that this sample stands for.
    pub period: Option<u64>,
    /// Counter values.
    pub read: Option<ReadValues<'a>>,
    /// Call chain, innermost first, with marker words.
    pub callchain: Option<Words<'a>>,
    /// Raw data.
    pub raw: Option<&'a [u8]>,
    /// Taken branches, newest first.
    pub branch_stack: Option<BranchStack<'a>>,
    /// User registers.
    pub regs_user: Option<Registers<'a>>,
    /// Copy of the user stack.
    pub stack_user: Option<UserStack<'a>>,
    /// Cost.
    pub weight: Option<SampleWeight>,
    /// Source of the data.
    pub data_src: Option<u64>,
    /// Transaction flags.
    pub transaction: Option<u64>,
    /// Registers at the interrupt.
    pub regs_intr: Option<Registers<'a>>,
    /// Physical data address.
    pub phys_addr: Option<u64>,
    /// Cgroup.
    pub cgroup: Option<u64>,
    /// Page size of the data address.
    pub data_page_size: Option<u64>,
    /// Page size of the instruction pointer.
    pub code_page_size: Option<u64>,
    /// A piece of AUX trace.
    pub aux: Option<&'a [u8]>,
}

/// Branches of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BranchStack<'a> {
    /// Position in the hardware's ring.
    pub hw_index: Option<u64>,
    /// True if these are the calls that have not returned, rather than the branches taken last.
    pub call_stack: bool,
    entries: Words<'a>,
    /// Counter bits of each branch, if recorded.
    pub counters: Option<Words<'a>>,
    endian: Endian,
}

impl<'a> BranchStack<'a> {
    /// The branches, newest first, flags in little-endian bit order.
    pub fn entries(&self) -> impl Iterator<Item = BranchEntry> + use<'a> {
        let (mut words, endian) = (self.entries.iter(), self.endian);
        std::iter::from_fn(move || {
            let (from, to, flags) = (words.next()?, words.next()?, words.next()?);
            Some(BranchEntry {
                from,
                to,
                flags: branch_flags(flags, endian),
            })
        })
    }

    /// Branches from three words each: from, to, flags.
    pub fn from_words(entries: Words<'a>) -> BranchStack<'a> {
        BranchStack {
            hw_index: None,
            entries,
            counters: None,
            call_stack: false,
            endian: entries.endian(),
        }
    }

    fn decode(
        kind: BranchSampleType,
        cursor: &mut Cursor<'a>,
    ) -> Result<BranchStack<'a>, WireError> {
        let count = cursor.u64()?;
        let hw_index = if kind.contains(BranchSampleType::HW_INDEX) {
            Some(cursor.u64()?)
        } else {
            None
        };
        let endian = cursor.endian();
        let entries = Words::new(cursor.items(count, 24)?, endian);
        let counters = if kind.contains(BranchSampleType::COUNTERS) {
            Some(Words::new(cursor.items(count, 8)?, endian))
        } else {
            None
        };
        let call_stack = kind.contains(BranchSampleType::CALL_STACK);
        Ok(BranchStack {
            hw_index,
            call_stack,
            entries,
            counters,
            endian,
        })
    }
}

/// Widths of the bit fields of a branch's flags, the first one first.
const BRANCH_FIELDS: [u32; 10] = [1, 1, 1, 1, 16, 4, 2, 4, 3, 31];

/// A big-endian recorder allots the bit fields from the top: move each to its little-endian place.
fn branch_flags(word: u64, endian: Endian) -> u64 {
    match endian {
        Endian::Little => word,
        Endian::Big => move_branch_fields(word, |low, width| (64 - low - width, low)),
    }
}

/// The way back: what a recorder of that byte order writes.
fn branch_flags_stored(flags: u64, endian: Endian) -> u64 {
    match endian {
        Endian::Little => flags,
        Endian::Big => move_branch_fields(flags, |low, width| (low, 64 - low - width)),
    }
}

/// Moves every field; `places` gives the source and the target of each, given its little-endian place and its width.
fn move_branch_fields(word: u64, places: impl Fn(u32, u32) -> (u32, u32)) -> u64 {
    let mut low = 0;
    BRANCH_FIELDS.iter().fold(0, |moved, width| {
        let (from, to) = places(low, *width);
        low += width;
        moved | (word >> from & (u64::MAX >> (64 - width))) << to
    })
}

/// Registers of a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers<'a> {
    /// 0 none, 1 32-bit, 2 64-bit.
    pub abi: u64,
    /// The registers, lowest bit first.
    pub mask: u64,
    /// Their values, one a bit of the mask; empty without an ABI.
    pub values: Words<'a>,
}

impl<'a> Registers<'a> {
    fn decode(mask: u64, cursor: &mut Cursor<'a>) -> Result<Registers<'a>, WireError> {
        let abi = cursor.u64()?;
        let count = if abi == 0 {
            0
        } else {
            u64::from(mask.count_ones())
        };
        let values = Words::new(cursor.items(count, 8)?, cursor.endian());
        Ok(Registers { abi, mask, values })
    }
}

/// A copy of the top of the user stack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UserStack<'a> {
    /// The bytes, from the stack pointer up; may end before [`UserStack::dyn_size`] never after.
    pub bytes: &'a [u8],
    /// Bytes that the kernel could copy.
    pub dyn_size: u64,
}

impl<'a> UserStack<'a> {
    fn decode(cursor: &mut Cursor<'a>) -> Result<UserStack<'a>, WireError> {
        let size = cursor.u64()?;
        let bytes = cursor.items(size, 1)?;
        let dyn_size = if size == 0 { 0 } else { cursor.u64()? };
        Ok(UserStack { bytes, dyn_size })
    }
}

/// The cost of a sampled access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SampleWeight {
    /// One number.
    Whole(u64),
    /// Three numbers whose meaning is the CPU's.
    Parts {
        /// Usually the latency of the access.
        var1: u32,
        /// Usually the latency of the instruction.
        var2: u16,
        /// Usually the retirement latency.
        var3: u16,
    },
}

impl SampleWeight {
    /// Cost of the access.
    pub const fn cost(self) -> u64 {
        match self {
            SampleWeight::Whole(cost) => cost,
            SampleWeight::Parts { var1, .. } => var1 as u64,
        }
    }
}

impl<'a> Sample<'a> {
    /// Decodes the fields that `layout` lists; all others stay as they are.
    pub(crate) fn decode(
        &mut self,
        layout: &SampleLayout,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), WireError> {
        let has = |field| layout.sample_type.contains(field);
        self.decode_head(layout, cursor)?;
        if has(SampleType::READ) {
            self.read = Some(ReadValues::decode(layout.read_format, cursor)?);
        }
        if has(SampleType::CALLCHAIN) {
            let count = cursor.u64()?;
            self.callchain = Some(Words::new(cursor.items(count, 8)?, cursor.endian()));
        }
        if has(SampleType::RAW) {
            let size = cursor.u32()?;
            self.raw = Some(cursor.bytes(size as usize)?);
        }
        if layout.sample_type.0 >= SampleType::BRANCH_STACK.0 {
            self.decode_rare(layout, cursor)?;
        }
        Ok(())
    }

    /// The fields of a word each, whose bounds are checked together.
    #[inline]
    fn decode_head(
        &mut self,
        layout: &SampleLayout,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), WireError> {
        let has = |field| layout.sample_type.contains(field);
        let endian = cursor.endian();
        let mut words = cursor.bytes(layout.head_size())?.as_chunks::<8>().0.iter();
        let mut word = |field| if has(field) { words.next() } else { None };
        let number = |word: &[u8; 8]| endian.u64(*word);
        let halves = |[a, b, c, d, e, f, g, h]: &[u8; 8]| {
            (endian.u32([*a, *b, *c, *d]), endian.u32([*e, *f, *g, *h]))
        };
        if let Some(id) = word(SampleType::IDENTIFIER) {
            self.id = Some(EventId(number(id)));
        }
        self.ip = word(SampleType::IP).map(number);
        if let Some(who) = word(SampleType::TID) {
            let (pid, tid) = halves(who);
            (self.pid, self.tid) = (Some(Pid(pid.cast_signed())), Some(Tid(tid.cast_signed())));
        }
        self.time = word(SampleType::TIME).map(|time| PerfTime(number(time)));
        self.addr = word(SampleType::ADDR).map(number);
        if let Some(id) = word(SampleType::ID) {
            self.id = Some(EventId(number(id)));
        }
        self.stream_id = word(SampleType::STREAM_ID).map(number);
        self.cpu = word(SampleType::CPU).map(|cpu| Cpu(halves(cpu).0));
        self.period = word(SampleType::PERIOD).map(number);
        Ok(())
    }

    fn decode_rare(
        &mut self,
        layout: &SampleLayout,
        cursor: &mut Cursor<'a>,
    ) -> Result<(), WireError> {
        let has = |field| layout.sample_type.contains(field);
        if has(SampleType::BRANCH_STACK) {
            self.branch_stack = Some(BranchStack::decode(layout.branch_sample_type, cursor)?);
        }
        if has(SampleType::REGS_USER) {
            self.regs_user = Some(Registers::decode(layout.regs_user, cursor)?);
        }
        if has(SampleType::STACK_USER) {
            self.stack_user = Some(UserStack::decode(cursor)?);
        }
        if has(SampleType::WEIGHT) {
            self.weight = Some(SampleWeight::Whole(cursor.u64()?));
        } else if has(SampleType::WEIGHT_STRUCT) {
            self.weight = Some(decode_weight_parts(cursor)?);
        }
        let word = |field, cursor: &mut Cursor<'a>| {
            if has(field) {
                cursor.u64().map(Some)
            } else {
                Ok(None)
            }
        };
        self.data_src = word(SampleType::DATA_SRC, cursor)?;
        self.transaction = word(SampleType::TRANSACTION, cursor)?;
        if has(SampleType::REGS_INTR) {
            self.regs_intr = Some(Registers::decode(layout.regs_intr, cursor)?);
        }
        self.phys_addr = word(SampleType::PHYS_ADDR, cursor)?;
        self.cgroup = word(SampleType::CGROUP, cursor)?;
        self.data_page_size = word(SampleType::DATA_PAGE_SIZE, cursor)?;
        self.code_page_size = word(SampleType::CODE_PAGE_SIZE, cursor)?;
        if has(SampleType::AUX) {
            let size = cursor.u64()?;
            self.aux = Some(cursor.items(size, 1)?);
        }
        Ok(())
    }
}

/// The parts are fields of one 64-bit word, the first in its low half on little-endian recorders, mirrored on big.
fn decode_weight_parts(cursor: &mut Cursor<'_>) -> Result<SampleWeight, WireError> {
    Ok(match cursor.endian() {
        Endian::Little => SampleWeight::Parts {
            var1: cursor.u32()?,
            var2: cursor.u16()?,
            var3: cursor.u16()?,
        },
        Endian::Big => {
            let (var3, var2, var1) = (cursor.u16()?, cursor.u16()?, cursor.u32()?);
            SampleWeight::Parts { var1, var2, var3 }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoder;
    use oxperf_abi::EventAttr;

    fn layout(sample_type: SampleType) -> SampleLayout {
        SampleLayout::new(&EventAttr {
            sample_type,
            sample_regs_user: 0b101,
            ..EventAttr::default()
        })
    }

    #[test]
    fn the_usual_fields() {
        let kind = SampleType::IP
            | SampleType::TID
            | SampleType::TIME
            | SampleType::CPU
            | SampleType::PERIOD;
        let layout = layout(kind | SampleType::CALLCHAIN);
        for endian in [Endian::Little, Endian::Big] {
            let mut body = Encoder::new(endian);
            body.u64(0x401000);
            body.i32(7);
            body.i32(8);
            body.u64(55);
            body.u32(1);
            body.u32(0);
            body.u64(4000);
            body.u64(2);
            body.u64(-512i64 as u64);
            body.u64(0x401000);
            let sample = layout.decode_sample(body.as_bytes(), endian).unwrap();
            assert_eq!(
                (sample.ip, sample.tid, sample.cpu),
                (Some(0x401000), Some(Tid(8)), Some(Cpu(1)))
            );
            let chain: Vec<_> = sample.callchain.unwrap().iter().collect();
            assert_eq!(chain, [-512i64 as u64, 0x401000]);
        }
    }

    #[test]
    fn registers_and_stack_have_their_own_sizes() {
        let layout = layout(SampleType::REGS_USER | SampleType::STACK_USER | SampleType::AUX);
        let mut body = Encoder::new(Endian::Little);
        for word in [2, 11, 12, 8, 0xabcd, 6, 3] {
            body.u64(word);
        }
        body.bytes(&[1, 2, 3]);
        let sample = layout
            .decode_sample(body.as_bytes(), Endian::Little)
            .unwrap();
        assert_eq!(
            sample.regs_user.unwrap().values.iter().collect::<Vec<_>>(),
            [11, 12]
        );
        assert_eq!(sample.stack_user.unwrap().dyn_size, 6);
        assert_eq!(sample.aux, Some(&[1, 2, 3][..]));
    }

    #[test]
    fn a_chain_longer_than_the_record_is_refused() {
        let mut body = Encoder::new(Endian::Little);
        body.u64(u64::MAX / 8);
        let error = layout(SampleType::CALLCHAIN)
            .decode_sample(body.as_bytes(), Endian::Little)
            .unwrap_err();
        assert!(matches!(error, WireError::Truncated { offset: 8, .. }));
    }

    #[test]
    fn big_endian_branch_flags_move_to_little_endian_places() {
        // mispredicted is the top bit; 5 cycles end at bit 44.
        assert_eq!(branch_flags(1 << 63 | 5 << 44, Endian::Big), 1 | 5 << 4);
    }
}
