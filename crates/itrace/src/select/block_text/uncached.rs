//! Paths that end within a block, or of which not every line has the same prefix: written line by line.

use intel_pt::Decoder;
use oxperf_session::SampleFlags;

use super::{LineWriter, PathContext};
use crate::select::text_fast_path::{PlaceLine, TextSelection, TextSynth};

/// Appends a path without the cache.
pub(super) fn write_uncached(
    text_synth: &TextSynth<'_>,
    decoder: &Decoder<'_>,
    context: PathContext<'_>,
    writer: &mut LineWriter<'_>,
) {
    match text_synth.path.selection {
        TextSelection::Instructions => write_instructions(text_synth, decoder, context, writer),
        TextSelection::Branches(_) => write_branches(text_synth, decoder, context, writer),
    }
}

impl PathContext<'_> {
    /// The flags of a place; `ends` where tracing ends with it.
    fn flags(&self, ends: bool) -> SampleFlags {
        if ends {
            self.now.state | SampleFlags::TRACE_END
        } else {
            self.now.state
        }
    }

    /// True from the instruction on that decides.
    fn is_decided(&self, number: u64) -> bool {
        self.decision.is_some_and(|decision| number >= decision)
    }
}

fn write_branches(
    text_synth: &TextSynth<'_>,
    decoder: &Decoder<'_>,
    context: PathContext<'_>,
    writer: &mut LineWriter<'_>,
) {
    let moment = context.now.moment;
    for branch in decoder.branches() {
        if context.is_decided(branch.instructions) {
            writer.prefix.advance_to(moment.time);
        }
        let more_flags = context.flags(branch.end);
        if text_synth.takes(branch.from, more_flags) {
            writer.write_prefix(text_synth);
            let line = PlaceLine {
                from: branch.from,
                to: branch.to,
                more_flags,
            };
            text_synth.write_place(line, moment, writer.out);
        }
    }
}

fn write_instructions(
    text_synth: &TextSynth<'_>,
    decoder: &Decoder<'_>,
    context: PathContext<'_>,
    writer: &mut LineWriter<'_>,
) {
    let (path, moment) = (decoder.path(), context.now.moment);
    let begins = moment.instructions.wrapping_sub(path.instructions);
    let mut number = 0;
    for (index, visit) in path.visits.iter().enumerate() {
        let instructions = decoder.block(visit.block()).instructions();
        let partial = path.partial.filter(|_| index + 1 == path.visits.len());
        let executed = partial.map_or(instructions.len(), |count| count as usize);
        for &from in &instructions[..executed.min(instructions.len())] {
            number += 1;
            if context.is_decided(number) {
                writer.prefix.advance_to(moment.time);
            }
            let now = begins.wrapping_add(number);
            match now.wrapping_sub(writer.prefix.written) {
                1 => writer.write_prefix(text_synth),
                period => writer.prefix.write_first(text_synth, period, writer.out),
            }
            writer.prefix.written = now;
            let line = PlaceLine {
                from,
                to: None,
                more_flags: context.flags(path.end && number == path.instructions),
            };
            text_synth.write_place(line, moment, writer.out);
        }
    }
}
