//! `brstackinsn`, `brstackinsnlen`, `brstackdisasm`: the code between the last branches of a sample, every instruction
//! that ran, as far as its file is at hand.

use std::io::Write;

use oxperf_abi::{BranchEntry, BranchSampleType, CpuMode};
use oxperf_itrace::{CodeBytes, CodeInstruction};
use oxperf_machine::DsoId;
use oxperf_present::script::FieldSet;
use oxperf_present::script::traced::push_bytes;
use oxperf_present::text::sanitize;
use oxperf_present::text::source_line::{push_line, push_unknown};
use oxperf_resolve::DsoAddress;

use super::disassembly::{InstructionBytes, push_assembly};
use super::source_text::write_source_text;
use crate::code_reader::BRANCH_CODE;
use crate::text_context::TextContext;
use crate::view::SampleView;

/// The most bytes of a block. The CPU keeps no branches of code that is not traced, so what looks like one block may be
/// the whole address space.
const LONGEST_BLOCK: u64 = 16384;

/// How far to look for a branch that is missing.
const NEAR: u64 = 128;

/// Where what stands behind a branch begins.
const BRANCH_COLUMN: usize = 30;

/// Addresses from here on are the kernel's.
const KERNEL_START: u64 = 1 << 63;

/// Appends the code between the last branches, the oldest first, and up to the sample.
pub(crate) fn write_branch_code(
    text: &mut TextContext<'_>,
    view: &SampleView<'_>,
    out: &mut Vec<u8>,
) {
    let fields = view.fields();
    let is_shown = BRANCH_CODE.iter().any(|field| fields.contains(*field));
    let Some(stack) = view.sample().branch_stack.filter(|_| is_shown) else {
        return;
    };
    let limit = text.code.max_blocks;
    let limit = limit.map_or(usize::MAX, |limit| limit.saturating_add(1));
    let entries: Vec<BranchEntry> = stack.entries().take(limit).collect();
    let Some(newest) = entries.first().copied() else {
        return;
    };
    let sampled = view.ip_or_zero();
    out.push(b'\n');
    let mut walk = Walk {
        text,
        view,
        out,
        fields,
        symbol: None,
        cycles: 0,
    };
    walk.oldest(&entries);
    walk.between(&entries);
    // Where the sample is at the branch, it is shown already; what an abort leads to did not run yet.
    if newest.from != sampled && !newest.is(BranchEntry::ABORT) {
        walk.up_to_sample(newest.to, sampled);
    }
}

/// On the way through the blocks of a sample.
struct Walk<'w, 's> {
    text: &'w mut TextContext<'s>,
    view: &'w SampleView<'w>,
    out: &'w mut Vec<u8>,
    fields: FieldSet,
    /// The function whose name was shown last.
    symbol: Option<(DsoId, u64)>,
    cycles: u64,
}

/// The code from one address to another, and some bytes of what follows.
struct Block {
    start: u64,
    code: CodeBytes,
}

impl Block {
    /// The code from an address on.
    fn at(&self, address: u64) -> &[u8] {
        let from = usize::try_from(address.wrapping_sub(self.start)).unwrap_or(usize::MAX);
        self.code.bytes.get(from..).unwrap_or_default()
    }

    /// The address behind its code.
    fn end(&self) -> u64 {
        self.start.saturating_add(self.code.bytes.len() as u64)
    }
}

/// Why a block cannot be shown.
enum NoBlock {
    /// Its ends lie on both sides of the border between programs and the kernel.
    Crosses,
    /// It is too long, or its code is not known.
    Unknown,
}

fn mode_of(address: u64) -> CpuMode {
    if address >= KERNEL_START {
        CpuMode::Kernel
    } else {
        CpuMode::User
    }
}

impl Walk<'_, '_> {
    fn read(&mut self, start: u64, end: u64) -> Result<Block, NoBlock> {
        if start == 0 || end == 0 {
            return Err(NoBlock::Unknown);
        }
        if mode_of(start) != mode_of(end) {
            return Err(NoBlock::Crosses);
        }
        let longest = CodeInstruction::LONGEST as u64;
        let length = end.wrapping_sub(start);
        if length > LONGEST_BLOCK - longest {
            return Err(NoBlock::Unknown);
        }
        let wanted = (length + longest) as usize;
        let code = self.text.code.read(self.view.context(), start, wanted);
        if code.bytes.is_empty() {
            Err(NoBlock::Unknown)
        } else {
            Ok(Block { start, code })
        }
    }

    /// The oldest branch, of which nobody knows how it was reached.
    fn oldest(&mut self, entries: &[BranchEntry]) {
        let Some(entry) = entries.last() else { return };
        if let Ok(block) = self.read(entry.from, entry.from) {
            self.label(entry.from);
            self.branch(&block, entry, 0);
        }
    }

    /// The blocks between the branches.
    fn between(&mut self, entries: &[BranchEntry]) {
        let mut older = entries.len().saturating_sub(1);
        while older > 0 {
            let start = entries[older].to;
            let mut newer = older - 1;
            let mut block = self.read(start, entries[newer].from);
            if let (Err(NoBlock::Crosses), 1..) = (&block, newer) {
                // A filter of the ring leaves out how the kernel is entered, and not how it is left.
                newer -= 1;
                block = self.read(start, entries[newer].from);
            }
            if let Ok(block) = block {
                self.whole(&block, &entries[newer]);
            }
            older = newer;
        }
    }

    /// A block up to its branch.
    fn whole(&mut self, block: &Block, entry: &BranchEntry) {
        let (mut at, mut count) = (block.start, 0);
        while at < block.end() {
            self.label(at);
            count += 1;
            if at == entry.from {
                return self.branch(block, entry, count);
            }
            let Some(length) = self.instruction(block, at) else {
                break;
            };
            self.source_text(at);
            at = at.saturating_add(length);
        }
        if at != entry.from {
            self.out
                .extend_from_slice(b"\tmismatch of LBR data and executable\n");
        }
    }

    /// From the target of the newest branch to the sample.
    fn up_to_sample(&mut self, start: u64, sampled: u64) {
        // A branch or two may be missing: then the sample lies before, and what follows is shown for a while.
        let end = if sampled < start {
            start.saturating_add(NEAR)
        } else {
            sampled
        };
        let block = self.read(start, end);
        self.label(start);
        match block {
            Ok(block) => self.last(&block, end, sampled),
            Err(_) => {
                if let Ok(block) = self.read(sampled, sampled) {
                    let _ = self.instruction(&block, sampled);
                    self.source_text(sampled);
                }
            }
        }
    }

    fn last(&mut self, block: &Block, end: u64, sampled: u64) {
        let recorded = self.view.style.branches;
        let knows_all =
            recorded == BranchSampleType::EMPTY || recorded.contains(BranchSampleType::ANY);
        let mut at = block.start;
        while at <= end {
            let Some(length) = self.instruction(block, at) else {
                return;
            };
            let first = CodeInstruction::first_of(block.at(at), block.code.width);
            if knows_all && at != sampled && first.is_some_and(|first| first.always_branches) {
                self.out
                    .extend_from_slice(b"\t... not reaching sample ...\n");
                return;
            }
            self.source_text(at);
            at = at.saturating_add(length);
        }
    }

    /// A line with the name of the function, where another one begins.
    fn label(&mut self, address: u64) {
        let Some(place) = self.place(address) else {
            return;
        };
        let Some(name) = self.text.lookup(self.view.machine).name(&place) else {
            return;
        };
        if self.symbol.replace((place.dso, name.start)) == Some((place.dso, name.start)) {
            return;
        }
        let offset = place.address.wrapping_sub(name.start);
        let out = &mut *self.out;
        let _ = write!(out, "\t{}", sanitize(name.text));
        let _ = if offset == 0 {
            write!(out, ":")
        } else {
            write!(out, "{offset:+}:")
        };
        if self.fields.contains(FieldSet::SRCLINE) {
            out.push(b'\t');
            self.push_source(&place);
        }
        self.out.push(b'\n');
    }

    /// A line with an instruction; gives its length, `None` where there is none.
    fn instruction(&mut self, block: &Block, at: u64) -> Option<u64> {
        let length = self.push_instruction(block, at);
        if self.fields.contains(FieldSet::BRSTACKINSNLEN) {
            let _ = write!(self.out, "\tilen: {}", length.unwrap_or(0));
        }
        self.out.push(b'\n');
        length.map(|length| length as u64)
    }

    /// A line with a branch, which ends a block of so many instructions.
    fn branch(&mut self, block: &Block, entry: &BranchEntry, instructions: u32) {
        let start = self.out.len() + "\t0000000000000000\t".len();
        let length = self.push_instruction(block, entry.from);
        let out = &mut *self.out;
        out.resize(out.len().max(start + BRANCH_COLUMN), b' ');
        out.push(b'\t');
        if self.fields.contains(FieldSet::BRSTACKINSNLEN) {
            let _ = write!(out, "ilen: {}\t", length.unwrap_or(0));
        }
        if self.fields.contains(FieldSet::SRCLINE)
            && let Some(place) = self.place(entry.from)
        {
            self.out.extend_from_slice(b" srcline: ");
            self.push_source(&place);
            self.out.push(b'\t');
        }
        self.cycles += u64::from(entry.cycles());
        write_flags(entry, instructions, self.cycles, self.out);
        self.source_text(entry.from);
    }

    fn push_instruction(&mut self, block: &Block, at: u64) -> Option<usize> {
        let out = &mut *self.out;
        let _ = write!(out, "\t{at:016x}\t");
        let (bytes, width) = (block.at(at), block.code.width);
        if self.fields.contains(FieldSet::BRSTACKDISASM) {
            let instruction = InstructionBytes {
                bytes,
                width,
                address: at,
                shows_target: true,
            };
            let found = push_assembly(self.text, self.view.context(), instruction, self.out);
            if found.is_some() {
                return found;
            }
        }
        let out = &mut *self.out;
        let Some(first) = CodeInstruction::first_of(bytes, width) else {
            out.extend_from_slice(b"<bad>");
            return None;
        };
        out.extend_from_slice(b"insn:");
        push_bytes(&bytes[..first.length], out);
        out.push(b' ');
        Some(first.length)
    }

    fn place(&self, address: u64) -> Option<DsoAddress> {
        self.view.context().locate(mode_of(address), address)
    }

    fn push_source(&mut self, place: &DsoAddress) {
        let (names, objects) = (&self.text.names, self.view.machine.objects());
        let line = names
            .source(objects, place.dso)
            .and_then(|source| source.line(place.address));
        match line {
            Some(line) => push_line(self.out, &sanitize(&line.file), line.line, false),
            None => {
                let address = names.object_address(objects, place);
                let dso = sanitize(&objects.dso(place.dso).short_name);
                push_unknown(self.out, &dso, address);
            }
        }
    }

    fn source_text(&mut self, address: u64) {
        if self.fields.contains(FieldSet::SRCCODE) {
            let address = (mode_of(address), address);
            write_source_text(self.text, self.view.context(), address, self.out);
        }
    }
}

/// Appends the flags and cycles of a branch that ends a block of so many instructions, and ends its line.
fn write_flags(entry: &BranchEntry, instructions: u32, cycles: u64, out: &mut Vec<u8>) {
    const WORDS: [(u64, &str); 4] = [
        (BranchEntry::PREDICTED, " PRED"),
        (BranchEntry::MISPREDICTED, " MISPRED"),
        (BranchEntry::IN_TRANSACTION, " INTX"),
        (BranchEntry::ABORT, " ABORT"),
    ];
    out.push(b'#');
    for (_, word) in WORDS.iter().filter(|(bit, _)| entry.is(*bit)) {
        out.extend_from_slice(word.as_bytes());
    }
    let own = entry.cycles();
    if own != 0 {
        let _ = write!(out, " {own} cycles [{cycles}]");
        if instructions != 0 {
            let _ = write!(out, " {:.2} IPC", f64::from(instructions) / f64::from(own));
        }
    }
    out.push(b'\n');
}
