//! Registers of samples, under the names of the recorder's architecture.

use crate::text::number::push_word;
use crate::text::put;
use oxperf_wire::{Registers, Sample};

/// Whose registers a recording holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Architecture {
    /// x86, 32 and 64 bits.
    X86,
    /// 64-bit Arm.
    Arm64,
    /// 32-bit Arm.
    Arm,
    /// RISC-V.
    Riscv,
    /// PowerPC.
    PowerPc,
    /// s390.
    S390,
    /// Anything else: registers have numbers only.
    Other,
}

const X86: [&str; 24] = [
    "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS",
    "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15",
];
const ARM64: [&str; 33] = [
    "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
    "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
    "x28", "x29", "lr", "sp", "pc",
];
const ARM: [&str; 16] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc",
];
const RISCV: [&str; 32] = [
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5",
    "t6",
];
const POWERPC: [&str; 45] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15", "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27",
    "r28", "r29", "r30", "r31", "nip", "msr", "orig_r3", "ctr", "link", "xer", "ccr", "softe",
    "trap", "dar", "dsisr", "sier", "mmcra",
];
const S390: [&str; 34] = [
    "R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15", "FP0", "FP1", "FP2", "FP3", "FP4", "FP5", "FP6", "FP7", "FP8", "FP9", "FP10", "FP11",
    "FP12", "FP13", "FP14", "FP15", "MASK", "PC",
];
const XMM: [&str; 16] = [
    "XMM0", "XMM1", "XMM2", "XMM3", "XMM4", "XMM5", "XMM6", "XMM7", "XMM8", "XMM9", "XMM10",
    "XMM11", "XMM12", "XMM13", "XMM14", "XMM15",
];

impl Architecture {
    /// The architecture that `uname -m` names so.
    pub fn from_machine(machine: &str) -> Architecture {
        match machine {
            "x86_64" | "i386" | "i486" | "i586" | "i686" | "x86" => Architecture::X86,
            "aarch64" | "arm64" | "aarch64_be" => Architecture::Arm64,
            name if name.starts_with("arm") => Architecture::Arm,
            name if name.starts_with("riscv") => Architecture::Riscv,
            name if name.starts_with("ppc") => Architecture::PowerPc,
            name if name.starts_with("s390") => Architecture::S390,
            _ => Architecture::Other,
        }
    }

    /// The name of the register that a bit of a mask stands for.
    pub fn register(self, bit: u32) -> &'static str {
        let names: &[&str] = match self {
            Architecture::X86 => &X86,
            Architecture::Arm64 => &ARM64,
            Architecture::Arm => &ARM,
            Architecture::Riscv => &RISCV,
            Architecture::PowerPc => &POWERPC,
            Architecture::S390 => &S390,
            Architecture::Other => &[],
        };
        let index = bit as usize;
        let vector = || match self {
            // Two bits for each vector register.
            Architecture::X86 => XMM.get(index.checked_sub(32)? / 2),
            Architecture::Arm64 if bit == 46 => Some(&"vg"),
            _ => None,
        };
        names
            .get(index)
            .or_else(vector)
            .copied()
            .unwrap_or("unknown")
    }
}

/// Appends the registers of a sample.
pub(super) fn write(sample: &Sample<'_>, architecture: Architecture, out: &mut Vec<u8>) {
    for (which, registers) in [("user", &sample.regs_user), ("intr", &sample.regs_intr)] {
        if let Some(registers) = registers.as_ref().filter(|registers| registers.abi != 0) {
            write_registers(which, registers, architecture, out);
        }
    }
}

fn write_registers(
    which: &str,
    registers: &Registers<'_>,
    architecture: Architecture,
    out: &mut Vec<u8>,
) {
    let abi = match registers.abi {
        1 => "32-bit",
        2 => "64-bit",
        _ => "unknown",
    };
    put!(
        out,
        "... {which} regs: mask 0x{:x} ABI {abi}\n",
        registers.mask
    );
    let bits = (0..64).filter(|bit| registers.mask >> bit & 1 != 0);
    for (bit, value) in bits.zip(registers.values.iter()) {
        let name = architecture.register(bit);
        out.extend_from_slice(b".... ");
        out.extend_from_slice(name.as_bytes());
        out.resize(out.len() + 5usize.saturating_sub(name.len()), b' ');
        out.extend_from_slice(b" 0x");
        push_word(out, value);
        out.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_architecture() {
        let names = |machine, bits: &[u32]| {
            let architecture = Architecture::from_machine(machine);
            bits.iter()
                .map(|bit| architecture.register(*bit))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names("x86_64", &[0, 8, 23, 24, 32, 35]),
            ["AX", "IP", "R15", "unknown", "XMM0", "XMM1"]
        );
        assert_eq!(names("aarch64", &[30, 32, 46]), ["lr", "pc", "vg"]);
        assert_eq!(names("armv7l", &[11]), ["fp"]);
        assert_eq!(names("vax", &[0]), ["unknown"]);
    }
}
