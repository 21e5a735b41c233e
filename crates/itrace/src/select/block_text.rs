//! Code that ran as text, where moments and places alone decide how it looks. Blocks run again and again: the text of
//! each is cached.

mod uncached;

use intel_pt::insn::Class;
use intel_pt::{BasicBlock, BlockVisit, Decoder, Located, Moment};
use oxperf_session::SampleFlags;
use rustc_hash::FxHashMap;

use super::line_prefix::LinePrefix;
use super::text_fast_path::{PlaceLine, TextSelection, TextSynth};
use super::visit_slots::VisitSlots;
use uncached::write_uncached;

/// Most bytes of text that are cached.
const MAX_TEXT: usize = 16 << 20;

/// Most variants of which texts are cached.
const MAX_VARIANTS: usize = 16;

/// A part of the cached text.
#[derive(Clone, Copy, Debug, Default)]
struct TextSpan {
    start: u32,
    length: u32,
}

impl TextSpan {
    /// The part from `start` on.
    fn to_end(text: &[u8], start: usize) -> TextSpan {
        TextSpan {
            start: start as u32,
            length: (text.len() - start) as u32,
        }
    }
}

/// Cached lines: the place of the first one, and the range of all line ends that are theirs.
#[derive(Clone, Copy, Debug)]
struct Lines {
    start: u32,
    first_end: u32,
    last_end: u32,
}

impl Lines {
    fn are_none(self) -> bool {
        self.first_end == self.last_end
    }
}

/// The text of a visit of a block.
#[derive(Clone, Copy, Debug)]
struct CachedText {
    /// The lines that are always the same.
    lines: Lines,
    /// The branch at its end, if its target varies.
    last: Option<Located>,
    /// The target that it had the last time.
    target: Option<u64>,
    /// The line with that target.
    target_line: TextSpan,
}

/// The state that makes the same block look different.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Variant {
    /// The meaning of addresses, as a number.
    generation: u64,
    /// The flags of every place.
    state: SampleFlags,
    guest: bool,
}

impl Variant {
    fn of(text_synth: &TextSynth<'_>, now: PathState<'_>) -> Variant {
        Variant {
            generation: text_synth.sampler.generation,
            state: now.state,
            guest: now.moment.mode.guest,
        }
    }
}

/// The texts of a variant.
#[derive(Debug, Default)]
struct VariantTexts {
    /// The cached text of each visit of a block.
    blocks: VisitSlots,
    /// The lines of instructions that packets name.
    addresses: FxHashMap<u64, TextSpan>,
}

/// The cached texts of a decoder's blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockTextCache {
    epoch: u64,
    variant: Variant,
    current: VariantTexts,
    /// The texts of other variants.
    others: FxHashMap<Variant, VariantTexts>,
    cached: Vec<CachedText>,
    ends: Vec<u32>,
    /// The lines of branches whose target varies, by the number of the cached text and the target.
    targets: FxHashMap<(u32, Option<u64>), TextSpan>,
    text: Vec<u8>,
}

/// The state in which a path ended.
#[derive(Clone, Copy)]
pub(crate) struct PathState<'m> {
    pub(crate) moment: &'m Moment,
    /// The flags of every place in it.
    pub(crate) state: SampleFlags,
}

/// An instruction that a packet names.
#[derive(Clone, Copy)]
pub(crate) struct NamedAddress<'m> {
    pub(crate) ip: u64,
    /// The epoch of the decoder that found it.
    pub(crate) epoch: u64,
    pub(crate) now: PathState<'m>,
}

/// A path with the state that it ended in.
#[derive(Clone, Copy)]
struct PathContext<'m> {
    now: PathState<'m>,
    /// The instruction from which on lines look as the moment says, counted from 1; `None` where all look as before.
    decision: Option<u64>,
}

/// The end of a text: lines are appended with the prefix of now.
pub(crate) struct LineWriter<'o> {
    pub(crate) prefix: &'o mut LinePrefix,
    pub(crate) out: &'o mut Vec<u8>,
}

impl LineWriter<'_> {
    /// Appends the prefix of now.
    #[inline]
    fn write_prefix(&mut self, text_synth: &TextSynth<'_>) {
        self.out.extend_from_slice(self.prefix.text(text_synth));
    }

    /// Appends a line.
    #[inline]
    fn write_line(&mut self, text_synth: &TextSynth<'_>, line: &[u8]) {
        self.write_prefix(text_synth);
        self.out.extend_from_slice(line);
    }
}

impl BlockTextCache {
    /// Appends the text of the decoder's path.
    pub(crate) fn write_path(
        &mut self,
        text_synth: &TextSynth<'_>,
        decoder: &Decoder<'_>,
        now: PathState<'_>,
        writer: &mut LineWriter<'_>,
    ) {
        let (before, instructions) = decoder.time_and_length();
        writer.prefix.advance_to(before);
        let differs = writer.prefix.differ_from(now.moment.time, text_synth);
        let context = PathContext {
            now,
            decision: if differs {
                decoder.path().decision
            } else {
                None
            },
        };
        let ran = now.moment.instructions;
        let begins = ran.wrapping_sub(instructions);
        let counts = text_synth.path.selection == TextSelection::Instructions;
        let gap = counts && writer.prefix.written != begins;
        if gap || !decoder.ran_whole() {
            write_uncached(text_synth, decoder, context, writer);
        } else {
            let LineWriter { prefix, out } = writer;
            self.write_cached(text_synth, decoder, context, LineWriter { prefix, out });
            writer.prefix.written = if counts { ran } else { 0 };
        }
        writer.prefix.advance_to(now.moment.time);
    }

    /// Appends the line of an instruction that a packet names.
    pub(crate) fn write_address(
        &mut self,
        text_synth: &TextSynth<'_>,
        address: NamedAddress<'_>,
        writer: &mut LineWriter<'_>,
    ) {
        let NamedAddress { ip, epoch, now } = address;
        self.follow(epoch, Variant::of(text_synth, now));
        let text = &mut self.text;
        let line = *self.current.addresses.entry(ip).or_insert_with(|| {
            let start = text.len();
            let from = Located {
                ip,
                length: 0,
                class: Class::Other,
            };
            let line = PlaceLine {
                from,
                to: None,
                more_flags: now.state,
            };
            text_synth.write_place(line, now.moment, text);
            TextSpan::to_end(text, start)
        });
        writer.write_line(text_synth, self.span(line));
    }

    fn write_cached(
        &mut self,
        text_synth: &TextSynth<'_>,
        decoder: &Decoder<'_>,
        context: PathContext<'_>,
        writer: LineWriter<'_>,
    ) {
        self.follow(decoder.epoch(), Variant::of(text_synth, context.now));
        let LineWriter { prefix, out } = writer;
        let (mut visits, mut before) = (decoder.visits(), 0);
        while let [visit, after @ ..] = visits {
            visits = after;
            let number = self.number(text_synth, decoder, *visit, context.now);
            let mut lines = self.cached[number].lines;
            if let Some(decision) = context.decision
                && before < decision
            {
                before += decoder.block(visit.block()).instructions().len() as u64;
                if before >= decision {
                    lines = self.write_early(text_synth, lines, LineWriter { prefix, out });
                    prefix.advance_to(context.now.moment.time);
                }
            }
            if !lines.are_none() {
                self.write_lines(lines, prefix.text(text_synth), out);
            }
            let cached = &self.cached[number];
            if let Some(from) = cached.last {
                let to = match after {
                    [next, ..] => decoder.address(next.block()),
                    [] => decoder.arrived_at(),
                };
                let span = if to.is_some() && cached.target == to {
                    cached.target_line
                } else {
                    let more_flags = context.now.state;
                    let line = PlaceLine {
                        from,
                        to,
                        more_flags,
                    };
                    self.branch_line(text_synth, number, line, context.now.moment)
                };
                out.extend_from_slice(prefix.text(text_synth));
                out.extend_from_slice(self.span(span));
            }
        }
    }

    /// Appends the lines of a block before the instruction that decides, which is the last one; gives the lines that are
    /// left.
    fn write_early(
        &self,
        text_synth: &TextSynth<'_>,
        lines: Lines,
        writer: LineWriter<'_>,
    ) -> Lines {
        let Lines {
            start,
            first_end,
            last_end,
        } = lines;
        let early_end = match text_synth.path.selection {
            TextSelection::Instructions => last_end.saturating_sub(1).max(first_end),
            // The branch of the last instruction is not among the lines that are always the same.
            TextSelection::Branches(_) => last_end,
        };
        let early = Lines {
            start,
            first_end,
            last_end: early_end,
        };
        let prefix = writer.prefix.text(text_synth);
        Lines {
            start: self.write_lines(early, prefix, writer.out),
            first_end: early_end,
            last_end,
        }
    }

    /// Appends lines, each behind the prefix; gives the place of the next one.
    #[inline]
    fn write_lines(&self, lines: Lines, prefix: &[u8], out: &mut Vec<u8>) -> u32 {
        let mut start = lines.start;
        let ends = &self.ends[lines.first_end as usize..lines.last_end as usize];
        let Some(&last) = ends.last() else {
            return start;
        };
        if prefix.is_empty() {
            out.extend_from_slice(&self.text[start as usize..last as usize]);
            return last;
        }
        out.reserve((last - start) as usize + ends.len() * prefix.len());
        for &end in ends {
            out.extend_from_slice(prefix);
            out.extend_from_slice(&self.text[start as usize..end as usize]);
            start = end;
        }
        last
    }

    fn span(&self, span: TextSpan) -> &[u8] {
        &self.text[span.start as usize..][..span.length as usize]
    }

    /// Goes on in an epoch of the decoder and a variant; forgets texts that are not true any more.
    #[inline]
    fn follow(&mut self, epoch: u64, variant: Variant) {
        if self.epoch != epoch || self.text.len() > MAX_TEXT || self.variant != variant {
            self.change_to(epoch, variant);
        }
    }

    #[cold]
    fn change_to(&mut self, epoch: u64, variant: Variant) {
        if self.epoch != epoch || self.text.len() > MAX_TEXT {
            *self = BlockTextCache {
                epoch,
                variant,
                ..BlockTextCache::default()
            };
        }
        if self.variant != variant {
            if self.others.len() >= MAX_VARIANTS {
                self.others.clear();
            }
            self.others
                .insert(self.variant, std::mem::take(&mut self.current));
            self.current = self.others.remove(&variant).unwrap_or_default();
            self.variant = variant;
        }
    }

    /// The number of the cached text of a visit.
    #[inline]
    fn number(
        &mut self,
        text_synth: &TextSynth<'_>,
        decoder: &Decoder<'_>,
        visit: BlockVisit,
        now: PathState<'_>,
    ) -> usize {
        match self.current.blocks.get(visit) {
            Some(number) => number,
            None => self.cache(text_synth, decoder, visit, now),
        }
    }

    #[cold]
    fn cache(
        &mut self,
        text_synth: &TextSynth<'_>,
        decoder: &Decoder<'_>,
        visit: BlockVisit,
        now: PathState<'_>,
    ) -> usize {
        let block = decoder.block(visit.block());
        let (start, first_end) = (self.text.len() as u32, self.ends.len() as u32);
        let last = match text_synth.path.selection {
            TextSelection::Instructions => {
                for &from in block.instructions() {
                    self.cache_line(text_synth, from, None, now);
                }
                None
            }
            TextSelection::Branches(_) => self.cache_jumps(text_synth, block, visit.taken(), now),
        };
        let number = self.cached.len();
        self.cached.push(CachedText {
            lines: Lines {
                start,
                first_end,
                last_end: self.ends.len() as u32,
            },
            last: last.filter(|last| text_synth.takes(*last, now.state)),
            target: None,
            target_line: TextSpan::default(),
        });
        self.current.blocks.set(visit, number);
        number
    }

    fn cache_line(
        &mut self,
        text_synth: &TextSynth<'_>,
        from: Located,
        to: Option<u64>,
        now: PathState<'_>,
    ) {
        let line = PlaceLine {
            from,
            to,
            more_flags: now.state,
        };
        text_synth.write_place(line, now.moment, &mut self.text);
        self.ends.push(self.text.len() as u32);
    }

    /// Caches the branches of a block whose targets are always the same; gives the one at the end if it is none of them.
    fn cache_jumps(
        &mut self,
        text_synth: &TextSynth<'_>,
        block: BasicBlock<'_>,
        taken: bool,
        now: PathState<'_>,
    ) -> Option<Located> {
        let instructions = block.instructions();
        for jump in block.jumps() {
            let from = instructions[usize::from(*jump)];
            let Some(next) = instructions.get(usize::from(*jump) + 1) else {
                return Some(from);
            };
            if text_synth.takes(from, now.state) {
                self.cache_line(text_synth, from, Some(next.ip), now);
            }
        }
        instructions.last().copied().filter(|_| taken)
    }

    /// The line of the branch at the end of a block, where it goes elsewhere than the last time.
    fn branch_line(
        &mut self,
        text_synth: &TextSynth<'_>,
        number: usize,
        line: PlaceLine,
        moment: &Moment,
    ) -> TextSpan {
        let text = &mut self.text;
        let key = (number as u32, line.to);
        let span = *self.targets.entry(key).or_insert_with(|| {
            let start = text.len();
            text_synth.write_place(line, moment, text);
            TextSpan::to_end(text, start)
        });
        let cached = &mut self.cached[number];
        (cached.target, cached.target_line) = (line.to, span);
        span
    }
}

#[cfg(test)]
pub(super) mod tests;
