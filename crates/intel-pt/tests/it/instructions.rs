//! From a trace to the addresses of the instructions that ran.

use intel_pt::{CodeSource, Config, Decoder, EmitOptions, Errata, Item, TraceChunk};

/// The addresses of the instructions that ran on a processor with these faults, in order.
pub(crate) fn instructions(trace: &[u8], errata: Errata, code: &mut impl CodeSource) -> Vec<u64> {
    let mut decoder = Decoder::new(
        Config {
            errata,
            ..Config::default()
        },
        EmitOptions {
            paths: true,
            ..EmitOptions::default()
        },
    );
    decoder.push(TraceChunk {
        bytes: trace,
        offset: 0,
        consecutive: false,
        reference: None,
    });
    let mut found = Vec::new();
    loop {
        match decoder.next(code) {
            Item::End => return found,
            Item::Path => {
                let run = decoder.path();
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
