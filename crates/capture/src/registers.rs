//! The general registers of this machine by name: which of them a sample may hold.

/// Names with their bits in the kernel's mask.
#[cfg(target_arch = "x86_64")]
const NAMES: [(&str, u32); 20] = [
    ("AX", 0),
    ("BX", 1),
    ("CX", 2),
    ("DX", 3),
    ("SI", 4),
    ("DI", 5),
    ("BP", 6),
    ("SP", 7),
    ("IP", 8),
    ("FLAGS", 9),
    ("CS", 10),
    ("SS", 11),
    ("R8", 16),
    ("R9", 17),
    ("R10", 18),
    ("R11", 19),
    ("R12", 20),
    ("R13", 21),
    ("R14", 22),
    ("R15", 23),
];

/// Names with their bits in the kernel's mask.
#[cfg(not(target_arch = "x86_64"))]
const NAMES: [(&str, u32); 33] = [
    ("x0", 0),
    ("x1", 1),
    ("x2", 2),
    ("x3", 3),
    ("x4", 4),
    ("x5", 5),
    ("x6", 6),
    ("x7", 7),
    ("x8", 8),
    ("x9", 9),
    ("x10", 10),
    ("x11", 11),
    ("x12", 12),
    ("x13", 13),
    ("x14", 14),
    ("x15", 15),
    ("x16", 16),
    ("x17", 17),
    ("x18", 18),
    ("x19", 19),
    ("x20", 20),
    ("x21", 21),
    ("x22", 22),
    ("x23", 23),
    ("x24", 24),
    ("x25", 25),
    ("x26", 26),
    ("x27", 27),
    ("x28", 28),
    ("x29", 29),
    ("lr", 30),
    ("sp", 31),
    ("pc", 32),
];

/// The stack pointer and the instruction pointer, without which no stack can be unwound.
#[cfg(target_arch = "x86_64")]
const NEEDED: u64 = 1 << 7 | 1 << 8;
/// The stack pointer and the instruction pointer, without which no stack can be unwound.
#[cfg(not(target_arch = "x86_64"))]
const NEEDED: u64 = 1 << 31 | 1 << 32;

/// Registers, a bit each, as the kernel numbers them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RegisterMask(pub u64);

impl RegisterMask {
    /// All that a sample may hold.
    pub fn all() -> RegisterMask {
        RegisterMask(NAMES.iter().fold(0, |mask, (_, bit)| mask | 1 << bit))
    }

    /// Their names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Registers by their names, separated by commas, in letters of any size.
    ///
    /// # Errors
    /// The first name that is none.
    pub fn parse(list: &str) -> Result<RegisterMask, &str> {
        list.split(',')
            .try_fold(RegisterMask::default(), |mask, word| {
                let known = NAMES
                    .iter()
                    .find(|(name, _)| name.eq_ignore_ascii_case(word));
                known
                    .map(|(_, bit)| RegisterMask(mask.0 | 1 << bit))
                    .ok_or(word)
            })
    }

    /// These for unwinding a stack: all where none were asked for.
    pub(crate) fn for_unwinding(asked: Option<RegisterMask>) -> u64 {
        asked.map_or(RegisterMask::all().0, |asked| asked.0 | NEEDED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bits() {
        let all = RegisterMask::names().collect::<Vec<_>>().join(",");
        assert_eq!(
            RegisterMask::parse(&all.to_lowercase()),
            Ok(RegisterMask::all())
        );
        assert_eq!(RegisterMask::parse("nothing"), Err("nothing"));
        assert_eq!(RegisterMask::parse(""), Err(""));
        assert_eq!(
            RegisterMask::for_unwinding(Some(RegisterMask(1))),
            1 | NEEDED
        );
    }
}
