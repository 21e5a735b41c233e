//! `PERF_RECORD_SAMPLE` to bytes: the fields in the order in which they are decoded.

use oxperf_abi::{BranchSampleType, SampleType};

use super::{BranchStack, Registers, Sample, SampleWeight, UserStack, branch_flags_stored};
use crate::{Encoder, Endian, SampleLayout, Words};

impl Sample<'_> {
    /// Appends the fields that `layout` lists; one that is `None` becomes zero or empty.
    pub(crate) fn encode(&self, layout: &SampleLayout, encoder: &mut Encoder) {
        let has = |field| layout.sample_type.contains(field);
        if has(SampleType::IDENTIFIER) {
            encoder.u64(self.id.unwrap_or_default().0);
        }
        self.encode_identity(layout, encoder);
        if has(SampleType::READ) {
            match &self.read {
                Some(read) => read.encode(encoder),
                None => encoder.u64(0),
            }
        }
        if has(SampleType::CALLCHAIN) {
            encoder.u64(self.callchain.map_or(0, |chain| chain.len() as u64));
            self.callchain
                .iter()
                .for_each(|chain| encode_words(chain, encoder));
        }
        if has(SampleType::RAW) {
            let raw = self.raw.unwrap_or_default();
            encoder.u32(raw.len() as u32);
            encoder.bytes(raw);
        }
        self.encode_rare(layout, encoder);
    }

    fn encode_identity(&self, layout: &SampleLayout, encoder: &mut Encoder) {
        let has = |field| layout.sample_type.contains(field);
        if has(SampleType::IP) {
            encoder.u64(self.ip.unwrap_or_default());
        }
        if has(SampleType::TID) {
            encoder.i32(self.pid.unwrap_or_default().0);
            encoder.i32(self.tid.unwrap_or_default().0);
        }
        if has(SampleType::TIME) {
            encoder.u64(self.time.unwrap_or_default().0);
        }
        if has(SampleType::ADDR) {
            encoder.u64(self.addr.unwrap_or_default());
        }
        if has(SampleType::ID) {
            encoder.u64(self.id.unwrap_or_default().0);
        }
        if has(SampleType::STREAM_ID) {
            encoder.u64(self.stream_id.unwrap_or_default());
        }
        if has(SampleType::CPU) {
            encoder.u32(self.cpu.unwrap_or_default().0);
            encoder.u32(0);
        }
        if has(SampleType::PERIOD) {
            encoder.u64(self.period.unwrap_or_default());
        }
    }

    fn encode_rare(&self, layout: &SampleLayout, encoder: &mut Encoder) {
        let has = |field| layout.sample_type.contains(field);
        if has(SampleType::BRANCH_STACK) {
            encode_branches(
                self.branch_stack.as_ref(),
                layout.branch_sample_type,
                encoder,
            );
        }
        if has(SampleType::REGS_USER) {
            encode_registers(self.regs_user.as_ref(), encoder);
        }
        if has(SampleType::STACK_USER) {
            encode_stack(self.stack_user.as_ref(), encoder);
        }
        if has(SampleType::WEIGHT) || has(SampleType::WEIGHT_STRUCT) {
            encode_weight(self.weight, encoder);
        }
        let mut word = |field, value: Option<u64>| {
            if has(field) {
                encoder.u64(value.unwrap_or_default());
            }
        };
        word(SampleType::DATA_SRC, self.data_src);
        word(SampleType::TRANSACTION, self.transaction);
        if has(SampleType::REGS_INTR) {
            encode_registers(self.regs_intr.as_ref(), encoder);
        }
        let mut word = |field, value: Option<u64>| {
            if has(field) {
                encoder.u64(value.unwrap_or_default());
            }
        };
        word(SampleType::PHYS_ADDR, self.phys_addr);
        word(SampleType::CGROUP, self.cgroup);
        word(SampleType::DATA_PAGE_SIZE, self.data_page_size);
        word(SampleType::CODE_PAGE_SIZE, self.code_page_size);
        if has(SampleType::AUX) {
            let aux = self.aux.unwrap_or_default();
            encoder.u64(aux.len() as u64);
            encoder.bytes(aux);
        }
    }
}

fn encode_words(words: &Words<'_>, encoder: &mut Encoder) {
    words.iter().for_each(|word| encoder.u64(word));
}

fn encode_branches(stack: Option<&BranchStack<'_>>, kind: BranchSampleType, encoder: &mut Encoder) {
    let endian = encoder.endian();
    encoder.u64(stack.map_or(0, |stack| stack.entries().count() as u64));
    if kind.contains(BranchSampleType::HW_INDEX) {
        encoder.u64(stack.and_then(|stack| stack.hw_index).unwrap_or_default());
    }
    for entry in stack.into_iter().flat_map(BranchStack::entries) {
        encoder.u64(entry.from);
        encoder.u64(entry.to);
        encoder.u64(branch_flags_stored(entry.flags, endian));
    }
    stack
        .and_then(|stack| stack.counters)
        .iter()
        .for_each(|counters| encode_words(counters, encoder));
}

fn encode_registers(registers: Option<&Registers<'_>>, encoder: &mut Encoder) {
    encoder.u64(registers.map_or(0, |registers| registers.abi));
    registers
        .iter()
        .for_each(|registers| encode_words(&registers.values, encoder));
}

fn encode_stack(stack: Option<&UserStack<'_>>, encoder: &mut Encoder) {
    let bytes = stack.map_or(&[][..], |stack| stack.bytes);
    encoder.u64(bytes.len() as u64);
    encoder.bytes(bytes);
    if let Some(stack) = stack.filter(|_| !bytes.is_empty()) {
        encoder.u64(stack.dyn_size);
    }
}

fn encode_weight(weight: Option<SampleWeight>, encoder: &mut Encoder) {
    match (weight, encoder.endian()) {
        (Some(SampleWeight::Parts { var1, var2, var3 }), Endian::Little) => {
            encoder.u32(var1);
            encoder.u16(var2);
            encoder.u16(var3);
        }
        (Some(SampleWeight::Parts { var1, var2, var3 }), Endian::Big) => {
            encoder.u16(var3);
            encoder.u16(var2);
            encoder.u32(var1);
        }
        (Some(SampleWeight::Whole(weight)), _) => encoder.u64(weight),
        (None, _) => encoder.u64(0),
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{EventAttr, ReadFormat};

    use super::*;

    fn layout(sample_type: SampleType) -> SampleLayout {
        SampleLayout::new(&EventAttr {
            sample_type,
            read_format: ReadFormat::GROUP | ReadFormat::ID | ReadFormat::TOTAL_TIME_ENABLED,
            branch_sample_type: BranchSampleType::HW_INDEX | BranchSampleType::COUNTERS,
            sample_regs_user: 0b101,
            sample_regs_intr: 0b1,
            ..EventAttr::default()
        })
    }

    /// A sample with every field, in one byte order.
    fn example(endian: Endian, weight_parts: bool) -> Vec<u8> {
        let mut body = Encoder::new(endian);
        let words =
            |body: &mut Encoder, words: &[u64]| words.iter().for_each(|word| body.u64(*word));
        words(&mut body, &[77, 0x40_1000]);
        [7, 8].into_iter().for_each(|id| body.i32(id));
        words(&mut body, &[55, 0xdead, 77, 78]);
        [3, 0].into_iter().for_each(|cpu| body.u32(cpu));
        body.u64(4000);
        words(&mut body, &[2, 100, 1, 77, 2, 79]);
        words(&mut body, &[2, -512i64 as u64, 0x40_1000]);
        body.u32(12);
        body.bytes(b"twelve bytes");
        words(&mut body, &[1, 9, 0x10, 0x20]);
        body.u64(if endian == Endian::Little {
            1 | 5 << 4
        } else {
            1 << 63 | 5 << 44
        });
        words(&mut body, &[33, 2, 11, 12]);
        words(&mut body, &[8, 0, 6]);
        match (weight_parts, endian) {
            (false, _) => body.u64(1 << 40 | 2),
            (true, Endian::Little) => {
                body.u32(1);
                body.u16(2);
                body.u16(3);
            }
            (true, Endian::Big) => {
                body.u16(3);
                body.u16(2);
                body.u32(1);
            }
        }
        words(&mut body, &[21, 22, 1, 13, 23, 24, 25, 26]);
        body.u64(8);
        body.bytes(b"aux data");
        body.into_bytes()
    }

    #[test]
    fn every_field_goes_from_either_order_to_either() {
        let all = SampleType((1 << 25) - 1);
        for (weight_parts, left_out) in [
            (true, SampleType::WEIGHT),
            (false, SampleType::WEIGHT_STRUCT),
        ] {
            let layout = layout(SampleType(all.0 & !left_out.0));
            for (from, to) in [
                (Endian::Little, Endian::Little),
                (Endian::Little, Endian::Big),
                (Endian::Big, Endian::Little),
                (Endian::Big, Endian::Big),
            ] {
                let bytes = example(from, weight_parts);
                let sample = layout.decode_sample(&bytes, from).unwrap();
                let mut encoder = Encoder::new(to);
                sample.encode(&layout, &mut encoder);
                assert_eq!(
                    encoder.as_bytes(),
                    example(to, weight_parts),
                    "{from:?} to {to:?}"
                );
            }
        }
    }
}
