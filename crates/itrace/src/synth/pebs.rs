//! PEBS records in the trace: blocks of items to samples of the events that were counted.

use std::ops::ControlFlow;

use intel_pt::packet::ItemSize;
use intel_pt::{BlockValue, Tsc};
use oxperf_abi::{EventAttr, Misc, SampleType};
use oxperf_session::Sink;
use oxperf_wire::{BranchStack, Endian, Registers, Sample, SampleWeight, Words};
use rustc_hash::FxHashMap;

use super::Synthesizer;
use super::context::SynthContext;
use crate::code::mode_of;
use crate::data_source::{SourceNumbers, data_source};
use crate::decoded::DecodedItem;
use crate::pebs_event::{PebsEvent, PebsEvents};
use crate::select::empty_sample;

/// Kinds of blocks.
mod block {
    pub(super) const REGISTERS: u8 = 1;
    pub(super) const BASIC: u8 = 4;
    pub(super) const MEMORY: u8 = 5;
    pub(super) const BRANCHES: [u8; 3] = [8, 9, 10];
    pub(super) const XMM: u8 = 16;
}

/// perf's numbers of the general registers, in the order of their items: flags, ip, ax, cx, dx, bx, sp, bp, si, di and r8
/// to r15.
const REGISTERS: [u8; 18] = [9, 8, 0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23];

/// perf's number of the lower half of the first vector register; each has two.
const XMM0: u8 = 32;

const EXACT_IP: u16 = 1 << 14;

/// The values of a block, by kind and number of the item.
#[derive(Clone, Copy)]
struct Items<'b>(&'b [BlockValue]);

impl Items<'_> {
    fn get(self, kind: u8, id: u8) -> Option<u64> {
        // A later item is the newer one.
        let found = self
            .0
            .iter()
            .rev()
            .find(|value| value.block == kind && value.item.id() == id);
        found.map(|value| value.item.value())
    }

    fn ip(self) -> Option<u64> {
        self.get(block::BASIC, 0)
            .or_else(|| self.get(block::REGISTERS, 1))
    }

    /// The bits of the counters that the record is of.
    fn counters(self) -> u64 {
        self.get(block::BASIC, 1).unwrap_or(0)
    }

    fn time(self) -> Option<Tsc> {
        self.get(block::BASIC, 2).map(Tsc)
    }

    /// The registers among `wanted`; `None` where the record has none at all.
    fn registers(self, wanted: u64, values: &mut Vec<u8>) -> Option<Registers<'_>> {
        const BITS_32: u64 = 1;
        const BITS_64: u64 = 2;
        if !self
            .0
            .iter()
            .any(|value| matches!(value.block, block::REGISTERS | block::XMM))
        {
            return None;
        }
        let general = (0..)
            .zip(REGISTERS)
            .map(|(id, register)| (block::REGISTERS, id, register));
        // Each has two items, the lower half first.
        let vectors = (0..32).map(|id| (block::XMM, id, XMM0 + id));
        let known = general
            .chain(vectors)
            .filter(|(.., register)| wanted >> register & 1 == 1);
        let known = known.filter_map(|(kind, id, register)| Some((register, self.get(kind, id)?)));
        let mut known: Vec<(u8, u64)> = known.collect();
        known.sort_unstable_by_key(|(register, _)| *register);
        known
            .iter()
            .for_each(|(_, value)| values.extend_from_slice(&value.to_le_bytes()));
        let mask = known
            .iter()
            .fold(0, |mask, (register, _)| mask | 1 << register);
        let narrow = |value: &BlockValue| {
            value.block == block::REGISTERS && value.item.size() == ItemSize::Four
        };
        let abi = if self.0.iter().any(narrow) {
            BITS_32
        } else {
            BITS_64
        };
        Some(Registers {
            abi,
            mask,
            values: Words::new(values, Endian::Little),
        })
    }

    /// The last branches.
    fn branches(self, words: &mut Vec<u8>) -> BranchStack<'_> {
        /// Each has three items.
        const MAX: u8 = 8;
        let kinds = block::BRANCHES.into_iter();
        for (kind, entry) in kinds.flat_map(|kind| (0..MAX).map(move |at| (kind, at * 3))) {
            let item = |which| self.get(kind, entry + which);
            if let (Some(from), Some(to), Some(info)) = (item(0), item(1), item(2)) {
                let entry = [from, to, branch_flags(info)];
                entry
                    .iter()
                    .for_each(|word| words.extend_from_slice(&word.to_le_bytes()));
            }
        }
        BranchStack::from_words(Words::new(words, Endian::Little))
    }

    /// Latency of the access, and of the instruction.
    fn latencies(self) -> (u64, u64) {
        let latency = self.get(block::MEMORY, 2).unwrap_or(0);
        (latency >> 32 & 0xffff, latency & 0xffff)
    }

    /// Cycles of the transaction's last block, and the reasons of its abort.
    fn transaction(self) -> (u64, u64) {
        let value = self.get(block::MEMORY, 3).unwrap_or(0);
        let (cycles, mut reasons) = (value & 0xffff_ffff, value >> 32 & 0xff);
        let ax = self.get(block::REGISTERS, 2).unwrap_or(0);
        const TRANSACTION: u64 = 2;
        if reasons & TRANSACTION != 0 && ax & 1 != 0 {
            reasons |= (ax >> 24 & 0xff) << 32;
        }
        (cycles, reasons)
    }

    /// The numbers of a sample of an event; `anywhere` is its place where the block names none.
    fn sample(
        self,
        event: &EventAttr,
        numbers: Option<SourceNumbers>,
        anywhere: u64,
    ) -> Sample<'static> {
        let fields = event.sample_type;
        let (access, instruction) = self.latencies();
        let (cycles, reasons) = self.transaction();
        let cost = if access == 0 { cycles } else { access };
        let weight = if fields.contains(SampleType::WEIGHT_STRUCT) {
            let (var1, var2) = (u32::try_from(cost).unwrap_or(u32::MAX), instruction as u16);
            Some(SampleWeight::Parts {
                var1,
                var2,
                var3: 0,
            })
        } else {
            fields
                .contains(SampleType::WEIGHT)
                .then_some(SampleWeight::Whole(cost))
        };
        Sample {
            ip: Some(self.ip().unwrap_or(anywhere)),
            addr: fields
                .contains(SampleType::ADDR)
                .then(|| self.get(block::MEMORY, 0).unwrap_or(0)),
            weight,
            transaction: fields.contains(SampleType::TRANSACTION).then_some(reasons),
            data_src: fields
                .contains(SampleType::DATA_SRC)
                .then(|| data_source(numbers, event, self.get(block::MEMORY, 1))),
            ..Sample::default()
        }
    }
}

/// The processor's flags of a branch as perf's.
fn branch_flags(info: u64) -> u64 {
    let bit = |from: u32, to: u32| (info >> from & 1) << to;
    let predicted = u64::from(info >> 63 == 0) << 1;
    bit(63, 0) | predicted | bit(62, 2) | bit(61, 3) | (info & 0xffff) << 4
}

impl Synthesizer<'_> {
    /// Makes a sample for each event that a block of items is of.
    pub(super) fn block(
        &mut self,
        cx: &mut SynthContext<'_, '_, impl Sink>,
        ip: Option<u64>,
        item: &DecodedItem,
    ) -> ControlFlow<()> {
        if !self.options.events.other_events {
            return ControlFlow::Continue(());
        }
        let items = Items(&item.values);
        let anywhere = ip.or(item.moment.ip).unwrap_or(0);
        let Some(events) = self.plan.pebs else {
            return ControlFlow::Continue(());
        };
        let thread = cx.queue.thread(cx.machine);
        for event in counted_events(events, items.counters(), &cx.state.pebs) {
            let (mut registers, mut branches) = (Vec::new(), Vec::new());
            let mut sampled = empty_sample();
            (sampled.event, sampled.thread, sampled.period) = (event.index, thread, event.period());
            let sample = &mut sampled.sample;
            *sample = items.sample(&event.attr, self.plan.sources, anywhere);
            let (queue, running) = (&cx.queue, cx.queue.running);
            let time = items.time().map_or(queue.timestamp, |time| time.0);
            sample.time = self.time(time);
            (sample.pid, sample.tid) = (Some(running.pid), Some(running.tid));
            sample.cpu = running.cpu.filter(|_| queue.is_of_cpu());
            sample.period = Some(event.period());
            if event.attr.sample_type.contains(SampleType::REGS_INTR) {
                sample.regs_intr = items.registers(event.attr.sample_regs_intr, &mut registers);
            }
            if event.attr.sample_type.contains(SampleType::BRANCH_STACK) {
                sample.branch_stack = Some(items.branches(&mut branches));
            }
            sampled.misc = Misc(mode_of(sample.ip.unwrap_or(0)) as u16 | EXACT_IP);
            cx.sink.sample(cx.machine, &sampled)?;
        }
        ControlFlow::Continue(())
    }
}

/// The events of the counters that a record is of.
fn counted_events(
    events: PebsEvents,
    counters: u64,
    by_counter: &FxHashMap<u64, PebsEvent>,
) -> Vec<PebsEvent> {
    if events.is_only {
        return vec![events.first];
    }
    // As in perf, a counter that no record has named is the first event's.
    (0..64_u64)
        .filter(|counter| counters >> counter & 1 == 1)
        .map(|counter| by_counter.get(&counter).copied().unwrap_or(events.first))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use intel_pt::packet::BlockItem;

    fn value(block: u8, id: u8, value: u64) -> BlockValue {
        BlockValue {
            block,
            item: BlockItem::new(id, ItemSize::Eight, value),
        }
    }

    #[test]
    fn registers_come_in_perfs_order() {
        let values = [
            value(1, 1, 0x40),
            value(1, 2, 0xa),
            value(1, 5, 0xb),
            value(1, 17, 0xf),
        ];
        let mut bytes = Vec::new();
        let registers = Items(&values).registers(0xff_01ff, &mut bytes).unwrap();
        assert_eq!(
            (registers.abi, registers.mask),
            (2, 1 | 1 << 1 | 1 << 8 | 1 << 23)
        );
        assert_eq!(
            registers.values.iter().collect::<Vec<_>>(),
            [0xa, 0xb, 0x40, 0xf]
        );
        assert!(Items(&[]).registers(1, &mut bytes).is_none());
    }

    #[test]
    fn vector_registers_follow_and_narrow_items_are_of_32_bits() {
        let values = [value(16, 0, 0x1), value(16, 31, 0x2), value(1, 2, 0xa)];
        let mut bytes = Vec::new();
        let registers = Items(&values).registers(!0 ^ 1 << 32, &mut bytes).unwrap();
        assert_eq!((registers.abi, registers.mask), (2, 1 | 1 << 63));
        assert_eq!(registers.values.iter().collect::<Vec<_>>(), [0xa, 0x2]);
        let narrow = [BlockValue {
            block: 1,
            item: BlockItem::new(2, ItemSize::Four, 0xa),
        }];
        assert_eq!(Items(&narrow).registers(1, &mut Vec::new()).unwrap().abi, 1);
    }

    #[test]
    fn aborted_transactions_have_their_code() {
        let values = [value(5, 3, 0x2_0000_0007), value(1, 2, 0x1200_0001)];
        assert_eq!(Items(&values).transaction(), (7, 2 | 0x12 << 32));
    }
}
