//! Runs that end within a block, or of which not every line has the same beginning: written line by line.

use intel_pt::Decoder;
use oxperf_session::SampleFlags;

use super::Whole;
use crate::select::line_prefix::Heads;
use crate::select::text_fast_path::{Scribe, Shown};

/// Writes a run without keeping anything.
pub(super) fn write_anew(
    scribe: &Scribe<'_>,
    decoder: &Decoder<'_>,
    whole: &Whole<'_>,
    heads: &mut Heads,
    out: &mut Vec<u8>,
) {
    let (
        run,
        Whole {
            moment,
            state,
            decision,
        },
    ) = (decoder.path(), whole);
    let ended = |ends: bool| {
        *state
            | if ends {
                SampleFlags::TRACE_END
            } else {
                SampleFlags::default()
            }
    };
    if scribe.written.shown != Shown::Instructions {
        for branch in decoder.branches() {
            if branch.instructions >= *decision {
                heads.pass_to(moment.time);
            }
            let more = ended(branch.end);
            if scribe.takes(branch.from, more) {
                out.extend_from_slice(heads.text(scribe));
                scribe.place((branch.from, branch.to), more, moment, out);
            }
        }
        return;
    }
    let begins = moment.instructions.wrapping_sub(run.instructions);
    let mut number = 0;
    for (index, visit) in run.visits.iter().enumerate() {
        let instructions = decoder.block(visit.block()).instructions();
        let partial = run.partial.filter(|_| index + 1 == run.visits.len());
        let executed = partial.map_or(instructions.len(), |count| count as usize);
        for located in &instructions[..executed.min(instructions.len())] {
            number += 1;
            if number >= *decision {
                heads.pass_to(moment.time);
            }
            let now = begins.wrapping_add(number);
            match now.wrapping_sub(heads.written) {
                1 => out.extend_from_slice(heads.text(scribe)),
                period => heads.write_first(scribe, period, out),
            }
            heads.written = now;
            let more = ended(run.end && number == run.instructions);
            scribe.place((*located, None), more, moment, out);
        }
    }
}
