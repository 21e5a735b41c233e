//! The attribute as the kernel lays it out.

use oxperf_abi::EventAttr;

/// `struct perf_event_attr` of ABI version 9, 144 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct RawAttr {
    kind: u32,
    pub(super) size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    bp_type: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clockid: i32,
    sample_regs_intr: u64,
    aux_watermark: u32,
    sample_max_stack: u16,
    reserved_2: u16,
    aux_sample_size: u32,
    aux_action: u32,
    sig_data: u64,
    config3: u64,
    config4: u64,
}

impl RawAttr {
    /// Lays `attr` out with the smallest published size that holds every field in use, so that an older kernel
    /// takes it as long as it can.
    pub(super) fn new(attr: &EventAttr) -> RawAttr {
        RawAttr {
            kind: attr.kind.0,
            size: published_size(attr),
            config: attr.config,
            sample_period: attr.sample_period,
            sample_type: attr.sample_type.0,
            read_format: attr.read_format.0,
            flags: host_order(attr.flags.0),
            wakeup_events: attr.wakeup_events,
            bp_type: attr.bp_type,
            config1: attr.config1,
            config2: attr.config2,
            branch_sample_type: attr.branch_sample_type.0,
            sample_regs_user: attr.sample_regs_user,
            sample_stack_user: attr.sample_stack_user,
            clockid: attr.clockid,
            sample_regs_intr: attr.sample_regs_intr,
            aux_watermark: attr.aux_watermark,
            sample_max_stack: attr.sample_max_stack,
            reserved_2: 0,
            aux_sample_size: attr.aux_sample_size,
            aux_action: attr.aux_action,
            sig_data: attr.sig_data,
            config3: attr.config3,
            config4: attr.config4,
        }
    }
}

/// The flags are C bit fields: a big-endian compiler fills the word from its highest bit.
fn host_order(flags: u64) -> u64 {
    if cfg!(target_endian = "big") {
        flags.reverse_bits()
    } else {
        flags
    }
}

/// The smallest size among those the kernel has published, 64 to 144 bytes, that holds every field in use.
fn published_size(attr: &EventAttr) -> u32 {
    let steps = [
        (144, attr.config4 != 0),
        (136, attr.config3 != 0),
        (128, attr.sig_data != 0),
        (120, attr.aux_sample_size != 0 || attr.aux_action != 0),
        (112, attr.aux_watermark != 0 || attr.sample_max_stack != 0),
        (104, attr.sample_regs_intr != 0),
        (
            96,
            attr.sample_regs_user != 0 || attr.sample_stack_user != 0 || attr.clockid != 0,
        ),
        (80, attr.branch_sample_type.0 != 0),
        (72, attr.config2 != 0),
    ];
    steps
        .iter()
        .find(|(_, used)| *used)
        .map_or(64, |(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::{AttrFlags, EventType};
    use std::mem::{offset_of, size_of};

    #[test]
    fn layout_is_the_kernels() {
        assert_eq!(size_of::<RawAttr>(), 144);
        let offsets = [
            offset_of!(RawAttr, flags),
            offset_of!(RawAttr, bp_type),
            offset_of!(RawAttr, config2),
            offset_of!(RawAttr, branch_sample_type),
            offset_of!(RawAttr, clockid),
            offset_of!(RawAttr, sample_regs_intr),
            offset_of!(RawAttr, sample_max_stack),
            offset_of!(RawAttr, aux_sample_size),
            offset_of!(RawAttr, sig_data),
            offset_of!(RawAttr, config4),
        ];
        assert_eq!(offsets, [40, 52, 64, 72, 92, 96, 108, 112, 120, 136]);
    }

    #[test]
    fn size_grows_with_what_is_used() {
        let size = |change: fn(&mut EventAttr)| {
            let mut attr = EventAttr::default();
            change(&mut attr);
            RawAttr::new(&attr).size
        };
        assert_eq!(size(|a| a.config1 = 1), 64);
        assert_eq!(size(|a| a.config2 = 1), 72);
        assert_eq!(size(|a| a.clockid = 1), 96);
        assert_eq!(size(|a| a.sample_max_stack = 1), 112);
        assert_eq!(size(|a| a.aux_action = 1), 120);
        assert_eq!(size(|a| a.sig_data = 1), 128);
        assert_eq!(size(|a| a.config3 = 1), 136);
        assert_eq!(size(|a| a.config4 = 1), 144);
    }

    #[test]
    fn the_first_words_are_type_size_and_config() {
        let attr = EventAttr {
            kind: EventType::TRACEPOINT,
            config: 0x174,
            ..EventAttr::default()
        };
        let raw = RawAttr::new(&EventAttr {
            flags: AttrFlags::DISABLED,
            ..attr
        });
        assert_eq!((raw.kind, raw.size, raw.config), (2, 64, 0x174));
        assert_eq!(
            raw.flags.to_ne_bytes()[0],
            if cfg!(target_endian = "big") { 0x80 } else { 1 }
        );
    }
}
