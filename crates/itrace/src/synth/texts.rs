//! Code that ran as text, where places alone decide what is shown of it. Blocks run again and again: what each looks
//! like is kept.

use std::sync::Arc;

use intel_pt::{Block, Branch, Decoder, Located, Visit};
use oxperf_session::{EventIndex, PlaceWriter, SampleFlags, TracedPlace};

use super::flags::{BranchFilter, flags_of};

/// What is written of code that ran, and how.
#[derive(Clone)]
pub(crate) struct Written {
    /// The event whose samples these are.
    pub(crate) event: EventIndex,
    pub(crate) shown: Shown,
    pub(crate) writer: Arc<dyn PlaceWriter>,
}

/// Which instructions are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shown {
    /// Each: only its address.
    Instructions,
    /// Taken branches that pass the filter.
    Branches(BranchFilter),
}

impl Written {
    fn instructions(&self, instructions: &[Located], out: &mut Vec<u8>) {
        let place = |ip| TracedPlace { ip, addr: 0, flags: SampleFlags::default() };
        instructions.iter().for_each(|located| self.writer.write(&place(located.ip), out));
    }

    fn branch(&self, from: Located, to: Option<u64>, more: SampleFlags, out: &mut Vec<u8>) {
        let flags = flags_of(from.class) | more;
        if matches!(self.shown, Shown::Branches(filter) if filter.takes(flags)) {
            self.writer.write(&TracedPlace { ip: from.ip, addr: to.unwrap_or(0), flags }, out);
        }
    }

    /// Writes a run without keeping anything.
    fn run(&self, decoder: &Decoder<'_>, state: SampleFlags, out: &mut Vec<u8>) {
        if self.shown != Shown::Instructions {
            let ended =
                |branch: &Branch| if branch.end { SampleFlags::TRACE_END } else { Default::default() };
            return decoder.branches().for_each(|branch| {
                self.branch(branch.from, branch.to, state | ended(&branch), out);
            });
        }
        let run = decoder.run();
        for (index, visit) in run.visits.iter().enumerate() {
            let instructions = decoder.block(visit.block()).instructions();
            let partial = run.partial.filter(|_| index + 1 == run.visits.len());
            let executed = partial.map_or(instructions.len(), |count| count as usize);
            self.instructions(&instructions[..executed.min(instructions.len())], out);
        }
    }
}

/// Bytes of text that are kept at most.
const MOST: usize = 16 << 20;

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
    /// The branch at its end, if its target varies.
    last: Option<Located>,
    /// The target that it had the last time, and how that looks.
    target: Option<u64>,
    varied: Piece,
}

/// The kept texts of a decoder's blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockTexts {
    epoch: u64,
    /// Of each block, not branching and branching: which of `kept` it is.
    slots: Vec<[u32; 2]>,
    kept: Vec<Kept>,
    text: Vec<u8>,
}

impl BlockTexts {
    /// Appends the text of the decoder's run; `state` are the flags of every place in it.
    pub(crate) fn write_run(
        &mut self,
        written: &Written,
        decoder: &Decoder<'_>,
        state: SampleFlags,
        out: &mut Vec<u8>,
    ) {
        let run = decoder.run();
        if run.partial.is_some() || run.end || state != SampleFlags::default() {
            return written.run(decoder, state, out);
        }
        if self.epoch != decoder.epoch() || self.text.len() > MOST {
            *self = BlockTexts { epoch: decoder.epoch(), ..BlockTexts::default() };
        }
        for (index, visit) in run.visits.iter().enumerate() {
            let number = self.number(written, decoder, *visit);
            let kept = &self.kept[number];
            out.extend_from_slice(self.piece(kept.same));
            if let Some(last) = kept.last {
                let next =
                    run.visits.get(index + 1).map_or(run.next, |next| Some(decoder.address(next.block())));
                self.write_last(written, number, (last, next), out);
            }
        }
    }

    fn piece(&self, piece: Piece) -> &[u8] {
        &self.text[piece.start as usize..][..piece.length as usize]
    }

    /// Which of the kept texts is that of a visit.
    #[inline]
    fn number(&mut self, written: &Written, decoder: &Decoder<'_>, visit: Visit) -> usize {
        let slot = self.slots.get(visit.block().index()).map(|slots| slots[usize::from(visit.taken())]);
        match slot {
            Some(number) if number != NONE => number as usize,
            _ => self.keep(written, decoder, visit),
        }
    }

    #[cold]
    fn keep(&mut self, written: &Written, decoder: &Decoder<'_>, visit: Visit) -> usize {
        let (block, start) = (decoder.block(visit.block()), self.text.len());
        let last = match written.shown {
            Shown::Instructions => {
                written.instructions(block.instructions(), &mut self.text);
                None
            }
            Shown::Branches(_) => write_block(written, block, visit.taken(), &mut self.text),
        };
        let same = Piece { start: start as u32, length: (self.text.len() - start) as u32 };
        let number = self.kept.len();
        self.kept.push(Kept { same, last, target: None, varied: Piece::default() });
        let index = visit.block().index();
        if self.slots.len() <= index {
            self.slots.resize(index + 1, [NONE; 2]);
        }
        self.slots[index][usize::from(visit.taken())] = number as u32;
        number
    }

    /// Writes the branch at the end of a block; most go where they went the last time.
    #[inline]
    fn write_last(
        &mut self,
        written: &Written,
        number: usize,
        (last, next): (Located, Option<u64>),
        out: &mut Vec<u8>,
    ) {
        let Kept { target, varied, .. } = self.kept[number];
        if target == next && next.is_some() {
            return out.extend_from_slice(self.piece(varied));
        }
        let start = out.len();
        written.branch(last, next, SampleFlags::default(), out);
        let line = &out[start..];
        let varied = match varied.length as usize == line.len() {
            true => varied,
            false => Piece { start: self.text.len() as u32, length: line.len() as u32 },
        };
        self.text.resize(self.text.len().max(varied.start as usize + line.len()), 0);
        self.text[varied.start as usize..][..line.len()].copy_from_slice(line);
        let kept = &mut self.kept[number];
        (kept.target, kept.varied) = (next, varied);
    }
}

/// Writes the branches of a block whose targets are always the same; gives the one at the end if it is none of them.
fn write_block(written: &Written, block: Block<'_>, taken: bool, out: &mut Vec<u8>) -> Option<Located> {
    let instructions = block.instructions();
    for jump in block.jumps() {
        let from = instructions[usize::from(*jump)];
        match instructions.get(usize::from(*jump) + 1) {
            Some(next) => written.branch(from, Some(next.ip), SampleFlags::default(), out),
            None => return Some(from),
        }
    }
    instructions.last().copied().filter(|_| taken)
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;

    use intel_pt::{Config, FlatCode, Item, Stretch, Wanted};

    use super::*;
    use crate::ItraceOptions;

    /// Writes the place as it is.
    struct Plain;

    impl PlaceWriter for Plain {
        fn write(&self, place: &TracedPlace, out: &mut Vec<u8>) {
            writeln!(out, "{:x}>{:x} {}", place.ip, place.addr, place.flags.0).unwrap();
        }
    }

    /// Two callers of a function that loops, and back to the first.
    pub(in crate::synth) fn code() -> FlatCode {
        #[rustfmt::skip]
        let bytes = vec![
            0xe8, 0x0b, 0, 0, 0, // 1000: call 1010
            0xe8, 0x06, 0, 0, 0, // 1005: call 1010
            0xeb, 0xf4, // 100a: jmp 1000
            0x90, 0x90, 0x90, 0x90,
            0x75, 0xfe, // 1010: jnz 1010
            0xc3, // 1012: ret
        ];
        FlatCode::new(0x1000, bytes)
    }

    /// What ran from 1000 on.
    pub(in crate::synth) fn trace() -> Vec<u8> {
        let psb = [0x02, 0x82].repeat(8);
        let start = [0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0];
        // Loops and compressed returns, twice the same; the last return tells its address.
        let outcomes = [0b0101_1010, 0b0111_0110, 0b0101_1010, 0b0111_0110, 0b0000_0100];
        [&psb[..], &start, &outcomes, &[0x2d, 0x0a, 0x10]].concat()
    }

    /// The text of a whole trace, kept and not kept.
    fn texts(shown: Shown) -> [String; 2] {
        let written = Written { event: EventIndex(0), shown, writer: Arc::new(Plain) };
        let (trace, mut code) = (trace(), code());
        let mut decoder = Decoder::new(Config::default(), Wanted { runs: true, ..Wanted::default() });
        decoder.feed(Stretch { bytes: &trace, offset: 0, consecutive: false, reference: None });
        let (mut texts, mut out) = (BlockTexts::default(), [Vec::new(), Vec::new()]);
        loop {
            match decoder.next(&mut code) {
                Item::End => return out.map(|text| String::from_utf8(text).unwrap()),
                Item::Run => {
                    texts.write_run(&written, &decoder, SampleFlags::default(), &mut out[0]);
                    written.run(&decoder, SampleFlags::default(), &mut out[1]);
                }
                Item::Error(error) => panic!("{error:?}"),
                _ => {}
            }
        }
    }

    #[test]
    fn kept_texts_are_what_is_written_anew() {
        let calls = ItraceOptions::parse("c").unwrap();
        let all = BranchFilter::default();
        for shown in [Shown::Instructions, Shown::Branches(all), Shown::Branches(BranchFilter::new(&calls))] {
            let [kept, anew] = texts(shown);
            assert_eq!(kept, anew, "{shown:?}");
            assert!(kept.lines().count() >= 4, "{kept}");
        }
        let [branches, _] = texts(Shown::Branches(all));
        let returns: Vec<&str> = branches.lines().filter(|line| line.starts_with("1012>")).collect();
        assert!(returns.contains(&"1012>1005 5") && returns.contains(&"1012>100a 5"), "{returns:?}");
    }
}
