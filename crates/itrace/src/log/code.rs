//! The instructions in the log.
//!
//! As in perf, each stretch of code from where it was entered to its next branch is shown once with its bytes; later
//! only its branch is, without them.

use std::io::Write;

use intel_pt::insn::{Class, Flow, Instruction, classify};
use intel_pt::packet::Packet;
use intel_pt::packet::text::perf::write_columns;
use intel_pt::{CodeAddress, CodeSource, Decoder, ImageId, Located};
use rustc_hash::FxHashSet;

use super::line;
use crate::code::ThreadCode;

/// Code from where it was entered to a branch.
#[derive(Default)]
struct Stretch {
    instructions: Vec<Located>,
    /// Its last instruction branches.
    branches: bool,
    /// A packet named the address that it leads to.
    steered: bool,
}

/// Stretches that were shown; forgotten when they are too many.
#[derive(Debug, Default)]
pub(super) struct Walked {
    stretches: FxHashSet<(ImageId, u64)>,
    /// The last instruction announced an emulated PTWRITE.
    announced: bool,
}

/// Most stretches that are remembered.
const MAX_STRETCHES: usize = 1 << 20;

impl Walked {
    /// True when the last instruction announced an emulated PTWRITE.
    pub(super) fn announced(&self) -> bool {
        self.announced
    }

    /// Appends the instructions of the decoder's path; `steered` where a packet named the address that it leads to.
    pub(super) fn write_path(
        &mut self,
        decoder: &Decoder<'_>,
        code: &ThreadCode<'_>,
        steered: bool,
        out: &mut Vec<u8>,
    ) {
        let path = decoder.path();
        let text = CodeText {
            decoder,
            code,
            guest: decoder.moment().mode.guest,
        };
        let mut stretch = Stretch {
            steered,
            ..Stretch::default()
        };
        for (index, visit) in path.visits.iter().enumerate() {
            let instructions = decoder.block(visit.block()).instructions();
            let is_last = index + 1 == path.visits.len();
            let partial = path.partial.filter(|_| is_last);
            let ran = partial.map_or(instructions.len(), |count| count as usize);
            for (place, &located) in instructions.iter().take(ran).enumerate() {
                stretch.instructions.push(located);
                stretch.branches = located.class.flow() != Flow::Next;
                let sampled = path
                    .marks
                    .iter()
                    .any(|mark| mark.visit as usize == index && mark.instruction as usize == place);
                if stretch.branches || sampled {
                    self.write_stretch(&stretch, &text, out);
                    stretch.instructions.clear();
                    stretch.branches = false;
                }
            }
        }
        self.write_stretch(&stretch, &text, out);
    }

    fn write_stretch(&mut self, stretch: &Stretch, text: &CodeText<'_, '_>, out: &mut Vec<u8>) {
        let instructions = &stretch.instructions;
        let (Some(first), Some(last)) = (instructions.first(), instructions.last()) else {
            return;
        };
        let place = text.place(first.ip).filter(|_| stretch.branches);
        let known = place.is_some_and(|place| self.stretches.contains(&place));
        self.announced = false;
        if known && !stretch.steered {
            return text.write(*last, false, out);
        }
        for &located in instructions {
            text.write(located, true, out);
        }
        self.announced = text.jumps_over_signature(*last);
        if self.announced && !text.announces(*last) {
            line!(out, "Emulated ptwrite signature not found");
            self.announced = false;
        }
        if self.stretches.len() > MAX_STRETCHES {
            self.stretches.clear();
        }
        self.stretches.extend(place);
    }
}

/// Writes instructions.
struct CodeText<'a, 'm> {
    decoder: &'a Decoder<'a>,
    code: &'a ThreadCode<'m>,
    guest: bool,
}

impl CodeText<'_, '_> {
    /// The image of an address, and the offset there.
    fn place(&self, ip: u64) -> Option<(ImageId, u64)> {
        let code = self.code.code(CodeAddress {
            ip,
            guest: self.guest,
        })?;
        Some((code.image, code.offset + ip.wrapping_sub(code.start)))
    }

    fn bytes(&self, ip: u64) -> &[u8] {
        let code = self.code.code(CodeAddress {
            ip,
            guest: self.guest,
        });
        code.map_or(&[], |code| code.from(ip))
    }

    fn instruction(&self, located: Located) -> Option<Instruction> {
        classify(self.bytes(located.ip), self.decoder.exec_mode())
    }

    /// Appends the line of an instruction.
    fn write(&self, located: Located, with_bytes: bool, out: &mut Vec<u8>) {
        let length = if with_bytes {
            usize::from(located.length)
        } else {
            0
        };
        let bytes = self.bytes(located.ip);
        out.extend_from_slice(b"        ");
        write_columns(located.ip, &bytes[..length.min(bytes.len())], out);
        let name = name(located.class);
        match (located.class.flow(), self.instruction(located)) {
            (Flow::Direct | Flow::Conditional, Some(Instruction { relative, .. })) => {
                let sign = if relative > 0 { "+" } else { "" };
                line!(out, "{name} {sign}{relative}");
            }
            _ => line!(out, "{name}"),
        }
    }

    /// True for the jump that announces an emulated PTWRITE, if the right bytes are behind it.
    fn jumps_over_signature(&self, located: Located) -> bool {
        let jump = self
            .instruction(located)
            .filter(|_| located.class == Class::Jump);
        jump.is_some_and(|jump| jump.relative == 16)
    }

    fn announces(&self, located: Located) -> bool {
        let jump = self.instruction(located);
        jump.is_some_and(|jump| {
            intel_pt::insn::announces_emulated_ptwrite(jump, self.bytes(located.behind()))
        })
    }
}

/// perf's word for a class.
fn name(class: Class) -> &'static str {
    match class {
        Class::Other | Class::PtWrite => "Other",
        Class::Call | Class::CallIndirect => "Call",
        Class::Return => "Ret",
        Class::Conditional => "Jcc",
        Class::Jump | Class::JumpIndirect => "Jmp",
        Class::Loop => "Loop",
        Class::InterruptReturn => "IRet",
        Class::Interrupt => "Int",
        Class::Syscall => "Syscall",
        Class::SysReturn => "Sysret",
        Class::VmEntry => "VMentry",
        Class::EventReturnSupervisor => "Erets",
        Class::EventReturnUser => "Eretu",
    }
}

/// The reason why a packet and the instruction at `ip` do not fit.
pub(super) fn misfit(
    packet: Option<Packet>,
    ip: u64,
    decoder: &Decoder<'_>,
    code: &ThreadCode<'_>,
) -> &'static str {
    let text = CodeText {
        decoder,
        code,
        guest: decoder.moment().mode.guest,
    };
    let class =
        classify(text.bytes(ip), decoder.exec_mode()).map_or(Class::Other, |found| found.class);
    match (packet, class.flow()) {
        (Some(Packet::Fup(_)), Flow::Conditional) => "Unexpected conditional branch",
        (Some(Packet::Fup(_)), Flow::Indirect) => "Unexpected indirect branch",
        (Some(Packet::Tip(_) | Packet::TipPgd(_)), Flow::Conditional) => {
            "Conditional branch when expecting indirect branch"
        }
        (Some(Packet::Tnt(_)), Flow::Indirect) if class == Class::Return => {
            "RET when expecting conditional branch"
        }
        (_, Flow::Indirect) => "Missing deferred TIP for indirect branch",
        _ => "Unexpected packet",
    }
}
