//! Code that ran as text, where moments and places alone decide what is shown of it. Blocks run again and again: what
//! each looks like is kept.

mod uncached;

use intel_pt::insn::Class;
use intel_pt::{BasicBlock, BlockVisit, Decoder, Located, Moment};
use oxperf_session::SampleFlags;
use rustc_hash::FxHashMap;

use super::line_prefix::Heads;
use super::text_fast_path::{Scribe, Shown};
use uncached::write_anew;

/// Bytes of text that are kept at most.
const MOST: usize = 16 << 20;

/// Worlds of which texts are kept at most.
const MOST_WORLDS: usize = 16;

/// No text is kept.
const NONE: u32 = u32::MAX;

/// A piece of the kept text.
#[derive(Clone, Copy, Debug, Default)]
struct Piece {
    start: u32,
    length: u32,
}

/// What a visit of a block looks like.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// What is always the same.
    same: Piece,
    /// Where its lines end: which of all ends.
    ends: (u32, u32),
    /// The branch at its end, if its target varies.
    last: Option<Located>,
    /// The target that it had the last time, and how that looks.
    target: Option<u64>,
    varied: Piece,
}

/// Lines of a kept text: where the first one starts, and which of all ends are theirs.
type Lines = (u32, (u32, u32));

/// What makes the same block look different.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct World {
    /// What addresses mean.
    generation: u64,
    /// The flags of every place.
    state: SampleFlags,
    guest: bool,
}

/// What is kept in a world.
#[derive(Debug, Default)]
struct Slots {
    /// Of each block, not branching and branching: which of the kept texts it is.
    blocks: Vec<[u32; 2]>,
    /// Of instructions that packets name: what they look like.
    addresses: FxHashMap<u64, Piece>,
}

/// The kept texts of a decoder's blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockTexts {
    epoch: u64,
    world: World,
    slots: Slots,
    /// The slots of other worlds.
    worlds: FxHashMap<World, Slots>,
    kept: Vec<Kept>,
    ends: Vec<u32>,
    /// How branches look whose target varies.
    varied: FxHashMap<(u32, Option<u64>), Piece>,
    text: Vec<u8>,
}

/// What is true of a whole run.
struct Whole<'m> {
    moment: &'m Moment,
    /// The flags of every place in it.
    state: SampleFlags,
    /// From which instruction on lines look as the moment says, counted from 1.
    decision: u64,
}

impl BlockTexts {
    /// Appends the text of the decoder's run; `state` are the flags of every place in it.
    pub(crate) fn write_run(
        &mut self,
        scribe: &Scribe<'_>,
        decoder: &Decoder<'_>,
        (moment, state): (&Moment, SampleFlags),
        heads: &mut Heads,
        out: &mut Vec<u8>,
    ) {
        let (before, instructions) = decoder.time_and_length();
        heads.pass_to(before);
        let differs = heads.differ_from(moment.time, scribe);
        let decision = if differs {
            decoder.path().decision.unwrap_or(u64::MAX)
        } else {
            u64::MAX
        };
        let whole = Whole {
            moment,
            state,
            decision,
        };
        let begins = moment.instructions.wrapping_sub(instructions);
        let counts = scribe.written.shown == Shown::Instructions;
        let gap = counts && heads.written != begins;
        if gap || !decoder.ran_whole() {
            write_anew(scribe, decoder, &whole, heads, out);
        } else {
            self.write_kept(scribe, decoder, &whole, heads, out);
            heads.written = if counts { moment.instructions } else { 0 };
        }
        heads.pass_to(moment.time);
    }

    /// Appends the line of an instruction that a packet names.
    pub(crate) fn write_address(
        &mut self,
        scribe: &Scribe<'_>,
        (ip, moment, state): (u64, &Moment, SampleFlags),
        epoch: u64,
        heads: &mut Heads,
        out: &mut Vec<u8>,
    ) {
        let (generation, guest) = (scribe.scene.generation, moment.mode.guest);
        self.follow(
            epoch,
            World {
                generation,
                state,
                guest,
            },
        );
        let text = &mut self.text;
        let piece = *self.slots.addresses.entry(ip).or_insert_with(|| {
            let start = text.len();
            let located = Located {
                ip,
                length: 0,
                class: Class::Other,
            };
            scribe.place((located, None), state, moment, text);
            Piece {
                start: start as u32,
                length: (text.len() - start) as u32,
            }
        });
        out.extend_from_slice(heads.text(scribe));
        out.extend_from_slice(self.piece(piece));
    }

    fn write_kept(
        &mut self,
        scribe: &Scribe<'_>,
        decoder: &Decoder<'_>,
        whole: &Whole<'_>,
        heads: &mut Heads,
        out: &mut Vec<u8>,
    ) {
        let (generation, guest) = (scribe.scene.generation, whole.moment.mode.guest);
        self.follow(
            decoder.epoch(),
            World {
                generation,
                state: whole.state,
                guest,
            },
        );
        let (visits, mut before) = (decoder.visits(), 0);
        for (index, visit) in visits.iter().enumerate() {
            let number = self.number(scribe, decoder, *visit, whole);
            let kept = self.kept[number];
            let mut lines = (kept.same.start, kept.ends);
            if before < whole.decision && whole.decision != u64::MAX {
                before += decoder.block(visit.block()).instructions().len() as u64;
                if before >= whole.decision {
                    lines = self.write_early(scribe, lines, heads, out);
                    heads.pass_to(whole.moment.time);
                }
            }
            if lines.1.0 != lines.1.1 {
                self.write_lines(lines, heads.text(scribe), out);
            }
            if let Some(last) = kept.last {
                let next = visits
                    .get(index + 1)
                    .map(|next| decoder.address(next.block()));
                let next = next.or(decoder.arrived_at());
                let piece = self.last(scribe, number, (last, next), whole);
                out.extend_from_slice(heads.text(scribe));
                out.extend_from_slice(self.piece(piece));
            }
        }
    }

    /// Appends what ran of a block before the instruction that decides, which is the last one; gives the lines that are left.
    fn write_early(
        &self,
        scribe: &Scribe<'_>,
        (start, (first, end)): Lines,
        heads: &mut Heads,
        out: &mut Vec<u8>,
    ) -> Lines {
        let early = match scribe.written.shown {
            Shown::Instructions => end.saturating_sub(1).max(first),
            // The branch of the last instruction is not among the lines that are always the same.
            Shown::Branches(_) => end,
        };
        (
            self.write_lines((start, (first, early)), heads.text(scribe), out),
            (early, end),
        )
    }

    /// Appends lines, each behind the head; gives where the next one starts.
    #[inline]
    fn write_lines(&self, (mut start, ends): Lines, head: &[u8], out: &mut Vec<u8>) -> u32 {
        let ends = &self.ends[ends.0 as usize..ends.1 as usize];
        let Some(&last) = ends.last() else {
            return start;
        };
        if head.is_empty() {
            out.extend_from_slice(&self.text[start as usize..last as usize]);
            return last;
        }
        out.reserve((last - start) as usize + ends.len() * head.len());
        for &end in ends {
            out.extend_from_slice(head);
            out.extend_from_slice(&self.text[start as usize..end as usize]);
            start = end;
        }
        last
    }

    fn piece(&self, piece: Piece) -> &[u8] {
        &self.text[piece.start as usize..][..piece.length as usize]
    }

    /// Forgets what is not true any more.
    fn follow(&mut self, epoch: u64, world: World) {
        if self.epoch != epoch || self.text.len() > MOST {
            *self = BlockTexts {
                epoch,
                world,
                ..BlockTexts::default()
            };
        }
        if self.world != world {
            if self.worlds.len() >= MOST_WORLDS {
                self.worlds.clear();
            }
            self.worlds
                .insert(self.world, std::mem::take(&mut self.slots));
            self.slots = self.worlds.remove(&world).unwrap_or_default();
            self.world = world;
        }
    }

    /// Which of the kept texts is that of a visit.
    #[inline]
    fn number(
        &mut self,
        scribe: &Scribe<'_>,
        decoder: &Decoder<'_>,
        visit: BlockVisit,
        whole: &Whole,
    ) -> usize {
        let slot = self
            .slots
            .blocks
            .get(visit.block().index())
            .map(|slots| slots[usize::from(visit.taken())]);
        match slot {
            Some(number) if number != NONE => number as usize,
            _ => self.keep(scribe, decoder, visit, whole),
        }
    }

    #[cold]
    fn keep(
        &mut self,
        scribe: &Scribe<'_>,
        decoder: &Decoder<'_>,
        visit: BlockVisit,
        whole: &Whole,
    ) -> usize {
        let block = decoder.block(visit.block());
        let (start, first) = (self.text.len() as u32, self.ends.len() as u32);
        let last = match scribe.written.shown {
            Shown::Instructions => {
                for located in block.instructions() {
                    self.keep_line(scribe, (*located, None), whole);
                }
                None
            }
            Shown::Branches(_) => self.keep_jumps(scribe, block, visit.taken(), whole),
        };
        let last = last.filter(|last| scribe.takes(*last, whole.state));
        let same = Piece {
            start,
            length: self.text.len() as u32 - start,
        };
        let number = self.kept.len();
        let ends = (first, self.ends.len() as u32);
        self.kept.push(Kept {
            same,
            ends,
            last,
            target: None,
            varied: Piece::default(),
        });
        let index = visit.block().index();
        let blocks = &mut self.slots.blocks;
        if blocks.len() <= index {
            blocks.resize(index + 1, [NONE; 2]);
        }
        blocks[index][usize::from(visit.taken())] = number as u32;
        number
    }

    fn keep_line(&mut self, scribe: &Scribe<'_>, place: (Located, Option<u64>), whole: &Whole) {
        scribe.place(place, whole.state, whole.moment, &mut self.text);
        self.ends.push(self.text.len() as u32);
    }

    /// Keeps the branches of a block whose targets are always the same; gives the one at the end if it is none of them.
    fn keep_jumps(
        &mut self,
        scribe: &Scribe<'_>,
        block: BasicBlock<'_>,
        taken: bool,
        whole: &Whole<'_>,
    ) -> Option<Located> {
        let instructions = block.instructions();
        for jump in block.jumps() {
            let from = instructions[usize::from(*jump)];
            let Some(next) = instructions.get(usize::from(*jump) + 1) else {
                return Some(from);
            };
            if scribe.takes(from, whole.state) {
                self.keep_line(scribe, (from, Some(next.ip)), whole);
            }
        }
        instructions.last().copied().filter(|_| taken)
    }

    /// The text of the branch at the end of a block; most go where they went the last time.
    #[inline]
    fn last(
        &mut self,
        scribe: &Scribe<'_>,
        number: usize,
        (last, next): (Located, Option<u64>),
        whole: &Whole<'_>,
    ) -> Piece {
        let Kept { target, varied, .. } = self.kept[number];
        if target == next && next.is_some() {
            return varied;
        }
        let start = self.text.len();
        let text = &mut self.text;
        let varied = *self.varied.entry((number as u32, next)).or_insert_with(|| {
            scribe.place((last, next), whole.state, whole.moment, text);
            Piece {
                start: start as u32,
                length: (text.len() - start) as u32,
            }
        });
        let kept = &mut self.kept[number];
        (kept.target, kept.varied) = (next, varied);
        varied
    }
}

#[cfg(test)]
pub(super) mod tests;
