//! An attribute as text: the pairs that `evlist -v` and the event lines of the header print.

use oxperf_abi::{
    AttrFlags, CacheId, CacheOp, CacheResult, EventAttr, EventType, HardwareId, SampleType,
    SoftwareId,
};

/// Names that an attribute's numbers have on the machine that recorded.
pub trait EventNames {
    /// The name of the PMU with this number.
    fn pmu(&self, kind: EventType) -> Option<String>;

    /// The name of the event that a PMU, or the tracepoints, know under this config.
    fn event(&self, kind: EventType, config: u64) -> Option<String>;
}

/// No names: numbers stay numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NoEventNames;

impl EventNames for NoEventNames {
    fn pmu(&self, _: EventType) -> Option<String> {
        None
    }

    fn event(&self, _: EventType, _: u64) -> Option<String> {
        None
    }
}

/// One printed pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttrField {
    /// Name of the field or of both fields of a union.
    pub name: &'static str,
    /// Its value.
    pub value: String,
}

/// The pairs of an attribute of `size` bytes: type, size and config always, everything else where it is not zero.
pub fn attr_fields(attr: &EventAttr, size: u32, names: &dyn EventNames) -> Vec<AttrField> {
    let mut pairs = Pairs(Vec::new());
    pairs.push(
        "type",
        with_name(attr.kind.0.to_string(), type_name(attr.kind, names)),
    );
    pairs.push("size", size.to_string());
    pairs.push(
        "config",
        with_name(hex(attr.config), config_name(attr, names)),
    );
    pairs.decimal("{ sample_period, sample_freq }", attr.sample_period);
    pairs.bits(
        "sample_type",
        SAMPLE_TYPE_ORDER
            .iter()
            .filter(|bit| attr.sample_type.contains(**bit))
            .flat_map(|bit| bit.names()),
    );
    pairs.bits("read_format", attr.read_format.names());
    pairs.flags(attr.flags);
    pairs.decimal(
        "{ wakeup_events, wakeup_watermark }",
        attr.wakeup_events.into(),
    );
    pairs.decimal("bp_type", attr.bp_type.into());
    pairs.hex("{ bp_addr, config1 }", attr.config1);
    pairs.hex("{ bp_len, config2 }", attr.config2);
    pairs.bits("branch_sample_type", attr.branch_sample_type.names());
    pairs.hex("sample_regs_user", attr.sample_regs_user);
    pairs.decimal("sample_stack_user", attr.sample_stack_user.into());
    if attr.clockid != 0 {
        pairs.push("clockid", attr.clockid.to_string());
    }
    pairs.hex("sample_regs_intr", attr.sample_regs_intr);
    pairs.decimal("aux_watermark", attr.aux_watermark.into());
    pairs.decimal("sample_max_stack", attr.sample_max_stack.into());
    pairs.decimal("aux_sample_size", attr.aux_sample_size.into());
    pairs.decimal("sig_data", attr.sig_data);
    for (bit, name) in ["aux_start_paused", "aux_pause", "aux_resume"]
        .into_iter()
        .enumerate()
    {
        pairs.decimal(name, (attr.aux_action >> bit & 1).into());
    }
    pairs.0
}

/// perf names the identifier between the user's stack and the registers at the interrupt.
const SAMPLE_TYPE_ORDER: [SampleType; 24] = [
    SampleType::IP,
    SampleType::TID,
    SampleType::TIME,
    SampleType::ADDR,
    SampleType::READ,
    SampleType::CALLCHAIN,
    SampleType::ID,
    SampleType::CPU,
    SampleType::PERIOD,
    SampleType::STREAM_ID,
    SampleType::RAW,
    SampleType::BRANCH_STACK,
    SampleType::REGS_USER,
    SampleType::STACK_USER,
    SampleType::IDENTIFIER,
    SampleType::REGS_INTR,
    SampleType::DATA_SRC,
    SampleType::WEIGHT,
    SampleType::PHYS_ADDR,
    SampleType::AUX,
    SampleType::CGROUP,
    SampleType::DATA_PAGE_SIZE,
    SampleType::CODE_PAGE_SIZE,
    SampleType::WEIGHT_STRUCT,
];

/// Collects pairs; zero is left out.
struct Pairs(Vec<AttrField>);

impl Pairs {
    fn push(&mut self, name: &'static str, value: String) {
        self.0.push(AttrField { name, value });
    }

    fn decimal(&mut self, name: &'static str, value: u64) {
        if value != 0 {
            self.push(name, value.to_string());
        }
    }

    fn hex(&mut self, name: &'static str, value: u64) {
        if value != 0 {
            self.push(name, hex(value));
        }
    }

    fn bits(&mut self, name: &'static str, names: impl Iterator<Item = &'static str>) {
        let names: Vec<_> = names.collect();
        if !names.is_empty() {
            self.push(name, names.join("|"));
        }
    }

    /// The single bits, with the skid in its place between them.
    fn flags(&mut self, flags: AttrFlags) {
        for (bit, name) in AttrFlags::NAMES {
            if *bit == AttrFlags::MMAP_DATA {
                self.decimal("precise_ip", flags.precise_ip().into());
            }
            self.decimal(name, flags.contains(*bit).into());
        }
    }
}

/// Zero without a prefix, everything else in hexadecimal.
fn hex(value: u64) -> String {
    if value == 0 {
        "0".to_owned()
    } else {
        format!("{value:#x}")
    }
}

fn with_name(number: String, name: Option<String>) -> String {
    match name {
        Some(name) => format!("{number} ({name})"),
        None => number,
    }
}

/// Raw events belong to the PMU of the CPU, so its name says more than the constant.
fn type_name(kind: EventType, names: &dyn EventNames) -> Option<String> {
    let constant = kind.constant_name().map(str::to_owned);
    if kind == EventType::RAW {
        names.pmu(kind).or(constant)
    } else {
        constant.or_else(|| names.pmu(kind))
    }
}

fn config_name(attr: &EventAttr, names: &dyn EventNames) -> Option<String> {
    match attr.kind {
        EventType::HARDWARE => hardware_name(attr.config, names),
        EventType::SOFTWARE => {
            SoftwareId::from_config(attr.config).map(|id| id.constant_name().to_owned())
        }
        EventType::HW_CACHE => cache_name(attr.config & u64::from(u32::MAX))
            .map(|name| on_pmu(name, attr.config, names)),
        EventType::BREAKPOINT => None,
        kind => names.event(kind, attr.config),
    }
}

fn hardware_name(config: u64, names: &dyn EventNames) -> Option<String> {
    let id = HardwareId::from_config(config & u64::from(u32::MAX))?;
    Some(on_pmu(id.constant_name().to_owned(), config, names))
}

fn cache_name(config: u64) -> Option<String> {
    let id = CacheId::from_config(config & 0xff)?;
    let op = CacheOp::from_config(config >> 8 & 0xff)?;
    let result = CacheResult::from_config(config >> 16)?;
    Some(format!(
        "{} | {} | {}",
        result.constant_name(),
        op.constant_name(),
        id.constant_name()
    ))
}

/// On machines with several kinds of core the upper half of the config names the PMU.
fn on_pmu(name: String, config: u64, names: &dyn EventNames) -> String {
    let pmu = match (config >> 32) as u32 {
        0 => None,
        kind => names.pmu(EventType(kind)),
    };
    match pmu {
        Some(pmu) => format!("{pmu}/{name}/"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Names;

    impl EventNames for Names {
        fn pmu(&self, kind: EventType) -> Option<String> {
            (kind.0 == 4).then(|| "cpu".to_owned())
        }

        fn event(&self, kind: EventType, config: u64) -> Option<String> {
            (kind == EventType::TRACEPOINT && config == 0x174)
                .then(|| "sched:sched_switch".to_owned())
        }
    }

    fn text(attr: EventAttr) -> String {
        let fields = attr_fields(&attr, 64, &Names);
        fields
            .iter()
            .map(|field| format!("{}={}", field.name, field.value))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[track_caller]
    fn check(kind: u32, config: u64, expected: &str) {
        assert_eq!(
            text(EventAttr {
                kind: EventType(kind),
                config,
                ..EventAttr::default()
            }),
            expected
        );
    }

    #[test]
    fn types_and_configs_have_names() {
        check(
            0,
            0,
            "type=0 (PERF_TYPE_HARDWARE) size=64 config=0 (PERF_COUNT_HW_CPU_CYCLES)",
        );
        check(0, 77, "type=0 (PERF_TYPE_HARDWARE) size=64 config=0x4d");
        check(
            0,
            4 << 32 | 3,
            "type=0 (PERF_TYPE_HARDWARE) size=64 config=0x400000003 (cpu/PERF_COUNT_HW_CACHE_MISSES/)",
        );
        check(
            1,
            9,
            "type=1 (PERF_TYPE_SOFTWARE) size=64 config=0x9 (PERF_COUNT_SW_DUMMY)",
        );
        check(
            2,
            0x174,
            "type=2 (PERF_TYPE_TRACEPOINT) size=64 config=0x174 (sched:sched_switch)",
        );
        check(4, 0xc0, "type=4 (cpu) size=64 config=0xc0");
        check(5, 0, "type=5 (PERF_TYPE_BREAKPOINT) size=64 config=0");
        check(77, 0, "type=77 size=64 config=0");
    }

    #[test]
    fn caches_name_result_access_and_cache() {
        let name = "PERF_COUNT_HW_CACHE_RESULT_MISS | PERF_COUNT_HW_CACHE_OP_READ | PERF_COUNT_HW_CACHE_LL";
        check(
            3,
            0x10002,
            &format!("type=3 (PERF_TYPE_HW_CACHE) size=64 config=0x10002 ({name})"),
        );
        check(
            3,
            0xff_ffff,
            "type=3 (PERF_TYPE_HW_CACHE) size=64 config=0xffffff",
        );
    }

    #[test]
    fn everything_else_only_where_it_is_not_zero() {
        let mut flags = AttrFlags::DISABLED | AttrFlags::WATERMARK | AttrFlags::MMAP_DATA;
        flags.set_precise_ip(2);
        let attr = EventAttr {
            kind: EventType(77),
            sample_type: SampleType::IP
                | SampleType::IDENTIFIER
                | SampleType::DATA_SRC
                | SampleType::REGS_INTR,
            flags,
            clockid: -1,
            config1: 0x1234,
            aux_action: 4,
            ..EventAttr::default()
        };
        let expected = "type=77 size=64 config=0 sample_type=IP|IDENTIFIER|REGS_INTR|DATA_SRC disabled=1 \
            watermark=1 precise_ip=2 mmap_data=1 { bp_addr, config1 }=0x1234 clockid=-1 aux_resume=1";
        assert_eq!(text(attr), expected);
    }
}
