//! Places whose text is made later: those of many samples at a time, on all cores.
//!
//! What a sample says of itself is printed at its turn. Where its address or call chain belongs a gap is left, and with it
//! is kept what was mapped at that moment. When there are gaps enough, each core fills its share of them with what it has
//! learned of places so far; the pieces are written in order.

use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, ThreadId};
use oxperf_present::script::push_hex;
use oxperf_resolve::{MappingsId, MappingsTable, Names, Place, PlaceId, PlaceTable};
use rayon::prelude::*;

use super::lines::Lines;
use crate::output::Output;

/// Addresses for each core before the gaps are filled: few at first, because who reads the text may want no more.
const FIRST: usize = 1 << 10;
const EACH: usize = 32 << 10;
/// Shares that a core takes one after another: what is new in one keeps its core busy for longer than others.
const SHARES: usize = 4;
/// So few that no other core is asked.
const FEW: usize = 1 << 10;
/// Most cores that are waited for until each has enough to do.
const MOST_CORES: usize = 16;

/// What gaps are filled by.
#[derive(Clone, Copy)]
pub(super) struct Naming<'n, 's> {
    /// Has room for all dsos of the machine.
    pub(super) names: &'n Names<'s>,
    pub(super) machine: &'n Machine,
    /// Chains end with these functions.
    pub(super) last: &'n [String],
}

/// Gaps in the text that was not written out yet.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    list: Vec<Gap>,
    /// The addresses of all gaps, one gap's after the other's.
    addresses: Vec<(CpuMode, u64)>,
    mappings: MappingsTable,
    /// By the number of the thread; the last is for whoever is none of the pool.
    cores: Vec<Mutex<Core>>,
    /// The text around the gaps, while they are filled, and where it began.
    around: Vec<u8>,
    base: usize,
    pieces: Vec<Vec<u8>>,
    /// How often gaps were filled.
    fills: u32,
}

/// A place in the text where addresses belong.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: usize,
    /// Where its addresses end.
    end: usize,
    mappings: MappingsId,
    /// The number of the rendered locations that it uses.
    lines: usize,
    /// Whether it is a call chain, each address in a line.
    is_chain: bool,
}

/// What one core has learned of places.
#[derive(Debug, Default)]
struct Core {
    places: PlaceTable,
    lines: Vec<Lines>,
}

impl Gaps {
    /// Leaves a gap at the end of the text for the place of one address.
    pub(super) fn leave_address(
        &mut self,
        (text, lines): (&[u8], usize),
        (machine, thread): (&Machine, ThreadId),
        address: (CpuMode, u64),
    ) {
        self.addresses.push(address);
        self.leave((text, lines, false), (machine, thread));
    }

    /// Leaves a gap at the end of the text for the lines of a call chain.
    pub(super) fn leave_chain(
        &mut self,
        (text, lines): (&[u8], usize),
        (machine, thread): (&Machine, ThreadId),
        chain: &[(CpuMode, u64)],
    ) {
        self.addresses.extend_from_slice(chain);
        self.leave((text, lines, true), (machine, thread));
    }

    fn leave(
        &mut self,
        (text, lines, is_chain): (&[u8], usize, bool),
        (machine, thread): (&Machine, ThreadId),
    ) {
        let mappings = self.mappings.keep(machine, thread);
        let (at, end) = (text.len(), self.addresses.len());
        self.list.push(Gap { at, end, mappings, lines, is_chain });
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether all cores have enough to do.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.work() >= (FIRST << self.fills.min(16)).min(EACH) * cores()
    }

    /// How much there is to do.
    #[inline]
    fn work(&self) -> usize {
        self.addresses.len() + self.list.len()
    }

    /// Fills all gaps, in the buffer of the output or, where there are many, behind what was written. Locations are rendered
    /// as `lines` are.
    pub(super) fn fill(
        &mut self,
        output: &mut Output,
        lines: &[Lines],
        naming: Naming<'_, '_>,
    ) -> io::Result<()> {
        self.prepare(lines);
        self.fills = self.fills.saturating_add(1);
        let filled = match self.work() < FEW {
            true => self.fill_here(output, naming),
            false => self.share(output, naming),
        };
        self.list.clear();
        self.around.clear();
        self.addresses.clear();
        self.mappings.clear();
        filled
    }

    /// Lets every core know what locations look like.
    fn prepare(&mut self, lines: &[Lines]) {
        self.cores.resize_with(rayon::current_num_threads() + 1, Mutex::default);
        for core in &mut self.cores {
            let core = core.get_mut().unwrap_or_else(PoisonError::into_inner);
            let missing = lines.iter().skip(core.lines.len());
            core.lines.extend(missing.map(|lines| Lines::new(lines.fields(), lines.sourcing())));
        }
    }

    fn fill_here(&mut self, output: &mut Output, naming: Naming<'_, '_>) -> io::Result<()> {
        let Some(first) = self.list.first() else { return Ok(()) };
        let (first, text) = (first.at, output.buffer());
        self.base = first;
        self.around.extend_from_slice(&text[first..]);
        text.truncate(first);
        self.fill_some(0..self.list.len(), text, naming);
        Ok(())
    }

    /// Gives each core its shares of the gaps.
    fn share(&mut self, output: &mut Output, naming: Naming<'_, '_>) -> io::Result<()> {
        let Some(first) = self.list.first() else { return Ok(()) };
        std::mem::swap(&mut self.around, output.buffer());
        self.base = 0;
        let shares = self.shares(cores() * SHARES);
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.resize_with(shares.len(), Vec::new);
        pieces[0].extend_from_slice(&self.around[..first.at]);
        let gaps = &*self;
        let work = shares.into_par_iter().zip(&mut pieces).with_max_len(1);
        work.for_each(|(share, piece)| gaps.fill_some(share, piece, naming));
        self.pieces = output.begin(pieces)?;
        Ok(())
    }

    /// Cuts the gaps into as many shares of about the same work.
    fn shares(&self, count: usize) -> Vec<Range<usize>> {
        let before = |index: usize| index + self.list.get(index).map_or(self.addresses.len(), |gap| gap.end);
        let places: Vec<usize> = (0..self.list.len()).collect();
        let cut = |nth| places.partition_point(|&index| before(index) * count < self.work() * nth);
        let cuts = (1..count).map(cut).chain([self.list.len()]);
        cuts.scan(0, |from, to| Some(std::mem::replace(from, to)..to)).collect()
    }

    /// Fills some of the gaps, with the text up to the next one behind each.
    fn fill_some(&self, share: Range<usize>, out: &mut Vec<u8>, naming: Naming<'_, '_>) {
        let own = rayon::current_thread_index().unwrap_or(self.cores.len() - 1);
        let mut core = self.cores[own].lock().unwrap_or_else(PoisonError::into_inner);
        let Core { places, lines } = &mut *core;
        let mut from = share.start.checked_sub(1).map_or(0, |before| self.list[before].end);
        for index in share {
            let gap = self.list[index];
            let lines = &mut lines[gap.lines];
            let addresses = &self.addresses[from..gap.end];
            let mappings = self.mappings.get(gap.mappings);
            let mut located =
                addresses.iter().map(|(mode, ip)| (*ip, places.locate_in(mappings, *mode, *ip)));
            if gap.is_chain {
                write_chain(&mut located, lines, naming, out);
            } else if let Some((ip, place)) = located.next() {
                write_place((ip, place), lines, naming, out);
            }
            from = gap.end;
            let next = self.list.get(index + 1).map(|next| next.at - self.base);
            out.extend_from_slice(&self.around[gap.at - self.base..next.unwrap_or(self.around.len())]);
        }
    }
}

fn cores() -> usize {
    rayon::current_num_threads().clamp(1, MOST_CORES)
}

/// An address and where it lies.
type Located = (u64, Option<(PlaceId, Place)>);

fn write_place((ip, place): Located, lines: &mut Lines, naming: Naming<'_, '_>, out: &mut Vec<u8>) {
    out.push(b' ');
    match lines.names_anything() {
        true => lines.push(ip, place, (naming.names, naming.machine), out),
        false => push_hex(out, ip, 16),
    }
}

fn write_chain(
    chain: &mut dyn Iterator<Item = Located>,
    lines: &mut Lines,
    naming: Naming<'_, '_>,
    out: &mut Vec<u8>,
) {
    let Naming { names, machine, last } = naming;
    for (ip, place) in chain {
        lines.push_entry(ip, place, (names, machine), out);
        let is_last = || {
            let name = place.and_then(|(_, place)| names.name(machine, &place));
            name.is_some_and(|name| last.iter().any(|last| last == name.text))
        };
        if !last.is_empty() && is_last() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_hold_each_gap_once_and_about_the_same_work() {
        let mut gaps = Gaps::default();
        let machine = Machine::default();
        for length in [3, 0, 40, 1, 1, 1, 9, 30] {
            let chain = vec![(CpuMode::User, 0); length];
            gaps.leave_chain((b"", 0), (&machine, ThreadId(0)), &chain);
        }
        let shares: Vec<Vec<usize>> = gaps.shares(4).into_iter().map(Iterator::collect).collect();
        assert_eq!(shares, [vec![0, 1], vec![2], vec![3, 4, 5, 6], vec![7]]);
    }
}
