//! Differences between the processors whose stacks can be unwound.

/// A register by its DWARF number; only the general ones are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register(pub(crate) u8);

/// A processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arch {
    /// x86-64, in 64-bit mode.
    X86_64,
    /// x86 in 32-bit mode, also on a 64-bit processor.
    X86,
    /// arm64.
    Aarch64,
}

/// The DWARF number of each register in the order of perf's x86 registers; `None` for those that no rule uses. The
/// instruction pointer is not among them: it is [`RegisterFile::ip`](crate::RegisterFile::ip).
const X86_64_RECORDED: [Option<u8>; 24] = [
    Some(0),
    Some(3),
    Some(2),
    Some(1),
    Some(4),
    Some(5),
    Some(6),
    Some(7),
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    Some(8),
    Some(9),
    Some(10),
    Some(11),
    Some(12),
    Some(13),
    Some(14),
    Some(15),
];

/// The recorded registers of 32-bit programs, in the same way.
const X86_RECORDED: [u8; 8] = [0, 3, 1, 2, 6, 7, 5, 4];

/// Processors as ELF files number them.
const EM_386: u16 = 3;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

impl Arch {
    /// The processor by the name that `uname -m` gives; `None` where its stacks cannot be unwound here.
    pub fn by_name(machine: &str) -> Option<Arch> {
        match machine {
            "x86_64" => Some(Arch::X86_64),
            "i386" | "i486" | "i586" | "i686" => Some(Arch::X86),
            "aarch64" | "arm64" => Some(Arch::Aarch64),
            _ => None,
        }
    }

    /// The processor by the number that ELF files give it; `None` where its stacks cannot be unwound here.
    pub fn by_elf_machine(machine: u16) -> Option<Arch> {
        match machine {
            EM_X86_64 => Some(Arch::X86_64),
            EM_386 => Some(Arch::X86),
            EM_AARCH64 => Some(Arch::Aarch64),
            _ => None,
        }
    }

    /// The register of a bit in perf's mask of recorded registers.
    pub fn recorded(self, bit: u32) -> Option<Register> {
        let number = match self {
            Arch::X86_64 => X86_64_RECORDED.get(bit as usize).copied().flatten(),
            Arch::X86 => X86_RECORDED.get(bit as usize).copied(),
            Arch::Aarch64 => (bit < 32).then_some(bit as u8),
        };
        number.map(Register)
    }

    /// The bit of the instruction pointer in perf's mask.
    pub fn recorded_ip(self) -> u32 {
        match self {
            Arch::X86_64 | Arch::X86 => 8,
            Arch::Aarch64 => 32,
        }
    }

    /// The stack pointer.
    pub fn stack_pointer(self) -> Register {
        match self {
            Arch::X86_64 => Register(7),
            Arch::X86 => Register(4),
            Arch::Aarch64 => Register(31),
        }
    }

    /// The frame pointer, where a function has one.
    pub(crate) fn frame_pointer(self) -> Register {
        match self {
            Arch::X86_64 => Register(6),
            Arch::X86 => Register(5),
            Arch::Aarch64 => Register(29),
        }
    }

    /// The number that expressions and rules have for the instruction pointer, if they have one.
    pub(crate) fn instruction_pointer(self) -> Option<Register> {
        match self {
            Arch::X86_64 => Some(Register(16)),
            Arch::X86 => Some(Register(8)),
            Arch::Aarch64 => None,
        }
    }

    /// The register that holds the address to return to at the entry of a function, if that is a register.
    pub(crate) fn link(self) -> Option<Register> {
        match self {
            Arch::X86_64 | Arch::X86 => None,
            Arch::Aarch64 => Some(Register(30)),
        }
    }

    /// The registers that a call leaves as they are when no rule says otherwise, a bit each.
    pub(crate) fn kept_by_calls(self) -> u64 {
        match self {
            // rbx, rbp, r12 to r15.
            Arch::X86_64 => 1 << 3 | 1 << 6 | 0xf << 12,
            // ebx, ebp, esi, edi.
            Arch::X86 => 1 << 3 | 0b111 << 5,
            // x19 to x30.
            Arch::Aarch64 => 0xfff << 19,
        }
    }

    /// Number of registers that have numbers that rules may use.
    pub(crate) fn register_count(self) -> u16 {
        match self {
            Arch::X86_64 => 17,
            Arch::X86 => 9,
            Arch::Aarch64 => 32,
        }
    }

    /// Number of bytes that an address has.
    pub fn address_size(self) -> u8 {
        match self {
            Arch::X86_64 | Arch::Aarch64 => 8,
            Arch::X86 => 4,
        }
    }

    /// The architecture of 32-bit programs on this processor.
    pub fn compatible(self) -> Option<Arch> {
        match self {
            Arch::X86_64 | Arch::X86 => Some(Arch::X86),
            Arch::Aarch64 => None,
        }
    }

    /// An address without what the processor may have hidden in its upper bits: arm64 signs addresses to return to.
    pub(crate) fn plain_address(self, address: u64) -> u64 {
        const USER_BITS: u64 = (1 << 48) - 1;
        match self {
            Arch::Aarch64 if address >> 55 & 1 == 0 => address & USER_BITS,
            Arch::X86 => address & u64::from(u32::MAX),
            _ => address,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_registers_have_dwarf_numbers() {
        assert_eq!(
            [0, 1, 7, 8, 16, 23, 24].map(|bit| Arch::X86_64.recorded(bit).map(|found| found.0)),
            [Some(0), Some(3), Some(7), None, Some(8), Some(15), None]
        );
        assert_eq!(
            [0, 1, 2, 3, 6, 7, 8].map(|bit| Arch::X86.recorded(bit).map(|found| found.0)),
            [Some(0), Some(3), Some(1), Some(2), Some(5), Some(4), None]
        );
        assert_eq!(
            Arch::Aarch64.recorded(31),
            Some(Arch::Aarch64.stack_pointer())
        );
        assert_eq!(Arch::Aarch64.recorded(32), None);
    }

    #[test]
    fn signed_addresses_become_plain() {
        assert_eq!(
            Arch::Aarch64.plain_address(0x002f_aaaa_bbbb_cccc),
            0xaaaa_bbbb_cccc
        );
        assert_eq!(
            Arch::X86_64.plain_address(0x002f_aaaa_bbbb_cccc),
            0x002f_aaaa_bbbb_cccc
        );
    }
}
