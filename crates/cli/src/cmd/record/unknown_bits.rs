//! The warning about config bits that no format of an event's PMU covers.

use oxperf_pmu::ResolvedEvent;

use crate::cmd::ranges::ranges;

/// A line for each config word that has such bits. perf knows no name of an event here but a given one.
pub(super) fn warnings(event: &ResolvedEvent) -> impl Iterator<Item = String> {
    let name = if event.is_name_given {
        &event.name
    } else {
        "N/A"
    };
    event.unknown_bits.iter().map(move |unknown| {
        let (word, value) = (unknown.word, unknown.value);
        let bits = ranges((0..u64::BITS).filter(|bit| unknown.bits >> bit & 1 == 1));
        format!(
            "WARNING: event '{name}' not valid (bits {bits} of {word} '{value:x}' not supported by kernel)!"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};

    #[test]
    fn the_words_are_perfs() {
        let pmus = MemoryPmus::new()
            .pmu("cpu", 4)
            .format("event", "config:0-7")
            .format("umask", "config:8-15");
        let tracepoints = MemoryTracepoints::default();
        let catalogue = Catalogue::new(&pmus, &tracepoints);
        let text = "cpu/config=0x10000b003c,config2=3/u,r1003c/name=foo/,cycles";
        let events = resolve(&parse(text).unwrap(), &catalogue).unwrap();
        let lines: Vec<String> = events.iter().flat_map(warnings).collect();
        let expected = [
            "WARNING: event 'N/A' not valid (bits 16-17,19,36 of config '10000b003c' not supported by kernel)!",
            "WARNING: event 'N/A' not valid (bits 0-1 of config2 '3' not supported by kernel)!",
            "WARNING: event 'foo' not valid (bits 16 of config '1003c' not supported by kernel)!",
        ];
        assert_eq!(lines, expected);
    }
}
