//! Bits of an event's config words that no format of its PMU covers: the kernel may refuse the event for them.

use crate::catalogue::Pmu;
use crate::sysfs::ConfigWord;
use oxperf_abi::EventAttr;

/// Bits of one config word that no format covers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownBits {
    /// perf's name for the word: `config1`.
    pub word: &'static str,
    /// The whole word.
    pub value: u64,
    /// Those of its bits.
    pub bits: u64,
}

/// Those of an event of `pmu`. There are none where the formats do not say what its config means: it is a generic event,
/// its number is not that of the PMU, or the PMU has no formats.
pub(super) fn unknown_bits(pmu: &Pmu<'_>, attr: &EventAttr) -> Vec<UnknownBits> {
    if attr.kind != pmu.kind() || pmu.format_names().next().is_none() {
        return Vec::new();
    }
    let used = ConfigWord::ALL
        .into_iter()
        .map(|word| (word, word.of(attr)))
        .filter(|(_, value)| *value != 0);
    let unknown = used.map(|(word, value)| UnknownBits {
        word: word.name(),
        value,
        bits: value & !pmu.covered_bits(word),
    });
    unknown.filter(|unknown| unknown.bits != 0).collect()
}

#[cfg(test)]
mod tests {
    use crate::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};

    /// Two kinds of cores, of which one has the kernel's number for raw codes.
    fn hybrid() -> MemoryPmus {
        MemoryPmus::new()
            .pmu("cpu_core", 4)
            .file("cpus", "0-1")
            .format("event", "config:0-7")
            .format("frontend", "config1:0-23")
            .pmu("cpu_atom", 11)
            .file("cpus", "2-3")
            .format("event", "config:0-7,32-35")
            .event("odd", "event=0x3c,config2=1")
            .pmu("silent", 20)
            .pmu("software", 1)
    }

    /// An event a line: its name if it was given, and the words with their unknown bits.
    fn shown(pmus: &MemoryPmus, text: &str) -> Vec<String> {
        let tracepoints = MemoryTracepoints::default();
        let catalogue = Catalogue::new(pmus, &tracepoints);
        let events = resolve(&parse(text).unwrap(), &catalogue).unwrap();
        let line = |event: &crate::ResolvedEvent| {
            let name = event.is_name_given.then_some(&*event.name);
            let words = event.unknown_bits.iter();
            let words = words.map(|u| format!(" {}={:x}:{:x}", u.word, u.value, u.bits));
            name.unwrap_or("-").to_owned() + &words.collect::<String>()
        };
        events.iter().map(line).collect()
    }

    #[test]
    fn bits_outside_of_all_formats_are_told_by_word() {
        for (text, expected) in [
            (
                "cpu_core/config=0x1003c,config1=3/u",
                "- config=1003c:10000",
            ),
            (
                "cpu_core/event=1,config2=5,config4=1/",
                "- config2=5:5 config4=1:1",
            ),
            (
                "cpu_core/config1=0x1000001,name=foo/",
                "foo config1=1000001:1000000",
            ),
            ("cpu_core/r13c/", "- config=13c:100"),
            (
                "cpu_atom/config=0xff000000ff/",
                "- config=ff000000ff:f000000000",
            ),
            ("odd", "- config2=1:1"),
            ("r13c", "- config=13c:100"),
            ("r13c/name=foo/", "foo config=13c:100"),
            ("4:0x13c", "- config=13c:100"),
        ] {
            assert_eq!(shown(&hybrid(), text), [expected], "{text}");
        }
        let both = shown(&hybrid(), "cpu_*/config2=1/");
        assert_eq!(both, ["- config2=1:1", "- config2=1:1"]);
    }

    #[test]
    fn codes_that_no_format_describes_are_not_judged() {
        for text in [
            "cpu_core/cycles,config2=1/",
            "cycles/config2=1/",
            "silent/config=0xffff/",
            "software/config=0xffff/",
            "0:0x10000",
            "99:0x10000",
            "mem:0x1000",
        ] {
            let events = shown(&hybrid(), text);
            assert!(events.iter().all(|event| event == "-"), "{text} {events:?}");
        }
        // Raw codes of cores that have another number are the kernel's to judge.
        let arm = MemoryPmus::new()
            .pmu("armv8_pmuv3_0", 10)
            .file("cpus", "0-3")
            .format("event", "config:0-15");
        assert_eq!(shown(&arm, "r1000000000003c"), ["-"]);
        let named = shown(&arm, "armv8_pmuv3_0/r1003c/");
        assert_eq!(named, ["- config=1003c:10000"]);
    }
}
