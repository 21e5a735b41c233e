//! From a trace to the addresses of the instructions that ran.

use intel_pt::{CodeSource, Config, Decoder, Errata, Item, Stretch, Wanted};

/// The addresses of the instructions that ran on a processor with these faults, in order.
pub(crate) fn instructions(trace: &[u8], errata: Errata, code: &mut impl CodeSource) -> Vec<u64> {
    let mut decoder = Decoder::new(
        Config {
            errata,
            ..Config::default()
        },
        Wanted {
            runs: true,
            ..Wanted::default()
        },
    );
    decoder.feed(Stretch {
        bytes: trace,
        offset: 0,
        consecutive: false,
        reference: None,
    });
    let mut found = Vec::new();
    loop {
        match decoder.next(code) {
            Item::End => return found,
            Item::Run => {
                let run = decoder.run();
                for (index, visit) in run.visits.iter().enumerate() {
                    let block = decoder.block(visit.block()).instructions();
                    let partial = run.partial.filter(|_| index + 1 == run.visits.len());
                    let ran = &block[..partial.map_or(block.len(), |partial| partial as usize)];
                    found.extend(ran.iter().map(|instruction| instruction.ip));
                }
            }
            _ => {}
        }
    }
}
