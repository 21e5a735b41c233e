//! Whether the code of an object keeps frame pointers, by its unwind tables.

use gimli::{
    BaseAddresses, CallFrameInstruction, CieOrFde, EhFrame, EndianSlice, FrameDescriptionEntry,
    RunTimeEndian, UnwindSection,
};
use oxperf_objects::Elf;

use crate::arch::Arch;

type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Most entries that are looked at: more tell nothing new.
const MOST_ENTRIES: usize = 20_000;
/// Of a hundred functions with a frame so many have a frame pointer where the code is compiled with them. The others are
/// written in assembly language.
const MOST_OF_A_HUNDRED: usize = 95;

/// The functions of an object that have a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameSurvey {
    /// Number of functions whose frame is more than the address to return to.
    pub framed: usize,
    /// Number of those whose frame pointer points to it.
    pub kept: usize,
}

impl FrameSurvey {
    /// Counts the functions of an object; `None` without a table, or for a processor that is not known.
    pub fn of(image: &Elf<'_>) -> Option<FrameSurvey> {
        let arch = Arch::by_elf_machine(image.machine())?;
        let section = image.section(b".eh_frame")?;
        let endian = match image.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let mut frames = EhFrame::new(image.bytes_of(section)?, endian);
        frames.set_address_size(arch.address_size());
        let bases = BaseAddresses::default().set_eh_frame(section.address);
        let mut entries = frames.entries(&bases);
        let mut survey = FrameSurvey::default();
        for _ in 0..MOST_ENTRIES {
            let Ok(Some(entry)) = entries.next() else {
                break;
            };
            if let CieOrFde::Fde(entry) = entry
                && let Ok(entry) = entry.parse(EhFrame::cie_from_offset)
            {
                survey.add(frame_of(&entry, &frames, &bases, arch));
            }
        }
        Some(survey)
    }

    /// Returns whether the kernel finds the callers of this code by frame pointers.
    pub fn keeps_frame_pointers(self) -> bool {
        self.kept > 0 && self.kept * 100 >= self.framed * MOST_OF_A_HUNDRED
    }

    fn add(&mut self, frame: FunctionFrame) {
        self.framed += usize::from(frame != FunctionFrame::Empty);
        self.kept += usize::from(frame == FunctionFrame::Pointed);
    }
}

/// The frame of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum FunctionFrame {
    /// The address to return to alone.
    Empty,
    /// The frame pointer points to it.
    Pointed,
    /// Its address is known from the stack pointer alone.
    Unpointed,
}

fn frame_of<'a>(
    entry: &FrameDescriptionEntry<Slice<'a>>,
    frames: &EhFrame<Slice<'a>>,
    bases: &BaseAddresses,
    arch: Arch,
) -> FunctionFrame {
    let mut instructions = entry.instructions(frames, bases);
    let pointer = u16::from(arch.frame_pointer().0);
    let mut frame = FunctionFrame::Empty;
    while let Ok(Some(instruction)) = instructions.next() {
        match instruction {
            // Stubs of the linker, which hold no code of a compiler.
            CallFrameInstruction::DefCfaExpression { .. } => return FunctionFrame::Empty,
            CallFrameInstruction::DefCfa { register, .. }
            | CallFrameInstruction::DefCfaRegister { register }
                if register.0 == pointer =>
            {
                frame = FunctionFrame::Pointed;
            }
            // arm64 saves it beside the address to return to, and counts from the stack pointer.
            CallFrameInstruction::Offset { register, .. }
                if arch == Arch::Aarch64 && register.0 == pointer =>
            {
                frame = FunctionFrame::Pointed;
            }
            CallFrameInstruction::DefCfa { .. } | CallFrameInstruction::DefCfaOffset { .. }
                if frame == FunctionFrame::Empty =>
            {
                frame = FunctionFrame::Unpointed;
            }
            _ => {}
        }
    }
    frame
}
