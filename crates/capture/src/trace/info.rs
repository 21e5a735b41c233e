//! `AUXTRACE_INFO` of Intel PT: what a decoder has to know of the CPU, of its clock and of the event.

use oxperf_abi::RecordType;
use oxperf_sys::{TimeConversion, TscRatio};
use oxperf_wire::user::AuxtraceInfo;
use oxperf_wire::{Endian, Words};

use super::intel_pt::IntelPt;
use super::setup::{TraceKept, TraceSetup};
use crate::event::EventRequest;
use crate::synthesize::RecordSink;

/// The number of Intel PT among the kinds of traces.
const INTEL_PT: u32 = 1;

/// Writes it for the event of a trace.
pub(crate) fn write_info(
    setup: &TraceSetup,
    event: &EventRequest,
    clock: Option<TimeConversion>,
    sink: &mut RecordSink,
) {
    let words = words(setup, event, clock, oxperf_sys::tsc_ratio());
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let info = AuxtraceInfo {
        kind: INTEL_PT,
        words: Words::new(&bytes, Endian::NATIVE),
    };
    sink.user_record(RecordType::AUXTRACE_INFO, |body| info.encode(body));
}

fn words(
    setup: &TraceSetup,
    event: &EventRequest,
    clock: Option<TimeConversion>,
    ratio: Option<TscRatio>,
) -> Vec<u64> {
    let pmu: &IntelPt = &setup.pmu;
    let conversion = clock.unwrap_or_default();
    let ratio = ratio.unwrap_or_default();
    let is_snapshot = matches!(setup.kept, TraceKept::Newest { .. });
    let filter = event.filter.as_deref().unwrap_or_default();
    let mut words = vec![
        u64::from(event.attr.kind.0),
        u64::from(conversion.shift),
        u64::from(conversion.mult),
        conversion.zero,
        u64::from(clock.is_some()),
        pmu.bits("tsc"),
        pmu.bits("noretcomp"),
        setup.switches as u64,
        u64::from(is_snapshot),
        u64::from(setup.per_cpu),
        pmu.bits("mtc"),
        pmu.bits("mtc_period"),
        u64::from(ratio.numerator),
        u64::from(ratio.denominator),
        pmu.bits("cyc"),
        pmu.number("max_nonturbo_ratio"),
        filter.len() as u64,
    ];
    words.extend(words_of_text(filter));
    words.push(pmu.capability("event_trace"));
    words
}

/// A text with its NUL, in whole words; nothing for an empty one.
fn words_of_text(text: &str) -> Vec<u64> {
    let mut bytes = text.as_bytes().to_vec();
    if !bytes.is_empty() {
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    let words = bytes.chunks_exact(8);
    words
        .filter_map(|word| word.first_chunk().copied())
        .map(u64::from_ne_bytes)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::setup::SwitchInfo;
    use crate::trace::testing::{FakeSysfs, SKYLAKE};
    use oxperf_abi::{EventType, SoftwareId};

    #[test]
    fn every_word_has_its_place() {
        let fake = FakeSysfs::new(SKYLAKE);
        let setup = TraceSetup {
            pmu: IntelPt::of(&fake.sysfs()),
            kept: TraceKept::Whole,
            area: 4 << 20,
            ring_pages: None,
            psb_bytes: 2048,
            has_time: true,
            switches: SwitchInfo::OfTarget,
            switches_apart: false,
            per_cpu: true,
        };
        let mut event = EventRequest::software(SoftwareId::Dummy, "intel_pt//");
        event.attr.kind = EventType(10);
        event.filter = Some("filter 0x10".to_owned());
        let clock = TimeConversion {
            shift: 31,
            mult: 7,
            zero: 9,
            user_time_zero: true,
            ..TimeConversion::default()
        };
        let ratio = TscRatio {
            numerator: 334,
            denominator: 2,
        };
        let text = words_of_text("filter 0x10");
        assert_eq!(text.len(), 2);
        let mut expected = vec![
            10, 31, 7, 9, 1, 0x400, 0x800, 2, 0, 1, 0x200, 0x3c000, 334, 2, 2, 40, 11,
        ];
        expected.extend(text);
        expected.push(0);
        assert_eq!(words(&setup, &event, Some(clock), Some(ratio)), expected);
        event.filter = None;
        let without = words(&setup, &event, None, None);
        assert_eq!((without.len(), &without[1..5]), (18, &[0; 4][..]));
    }
}
