//! The time stamp counter: its value, and its frequency as the CPU tells it.

/// The ticks of the time stamp counter in a second, from the CPUID leaves of Intel's CPUs: leaf 0x15, or the base frequency
/// of leaf 0x16 where that leaves the crystal's frequency out. `None` on other CPUs.
pub fn tsc_frequency() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    {
        frequency(leaf)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}

/// The time stamp counter; 0 where the architecture has none that a program may read.
pub fn tsc() -> u64 {
    use crate::CounterRegisters;
    crate::CpuRegisters::new().map_or(0, |registers| registers.cycles())
}

/// The frequency of the time stamp counter as a multiple of that of the crystal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TscRatio {
    /// The counter's part.
    pub numerator: u32,
    /// The crystal's part.
    pub denominator: u32,
}

/// The ratio that leaf 0x15 of CPUID tells, which Intel's CPUs with a trace have; `None` on other CPUs.
pub fn tsc_ratio() -> Option<TscRatio> {
    #[cfg(target_arch = "x86_64")]
    {
        ratio(leaf)
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        None
    }
}

/// Registers EAX, EBX, ECX, EDX of a leaf.
#[cfg(target_arch = "x86_64")]
type Registers = [u32; 4];

#[cfg(target_arch = "x86_64")]
fn leaf(number: u32) -> Registers {
    // Since Rust 1.94 this call is safe; before, every CPU of this architecture has the instruction.
    #[allow(unused_unsafe)]
    // SAFETY: every CPU of this architecture has the instruction; it only reads.
    let answer = unsafe { std::arch::x86_64::__cpuid_count(number, 0) };
    [answer.eax, answer.ebx, answer.ecx, answer.edx]
}

#[cfg(target_arch = "x86_64")]
const TSC_LEAF: u32 = 0x15;
#[cfg(target_arch = "x86_64")]
const FREQUENCY_LEAF: u32 = 0x16;

#[cfg(target_arch = "x86_64")]
fn frequency(leaf: impl Fn(u32) -> Registers) -> Option<u64> {
    let highest = highest_of_intel(&leaf)?;
    let [denominator, numerator, crystal, _] = leaf(TSC_LEAF).map(u64::from);
    if denominator != 0 && numerator != 0 && crystal != 0 {
        return Some(crystal * numerator / denominator);
    }
    let megahertz = if highest >= FREQUENCY_LEAF {
        u64::from(leaf(FREQUENCY_LEAF)[0] & 0xffff)
    } else {
        0
    };
    (megahertz != 0).then_some(megahertz * 1_000_000)
}

/// The highest leaf of a CPU by Intel that has the one about the counter.
#[cfg(target_arch = "x86_64")]
fn highest_of_intel(leaf: impl Fn(u32) -> Registers) -> Option<u32> {
    let [highest, vendor @ ..] = leaf(0);
    let intel = [*b"Genu", *b"ntel", *b"ineI"].map(u32::from_le_bytes);
    (vendor == intel && highest >= TSC_LEAF).then_some(highest)
}

#[cfg(target_arch = "x86_64")]
fn ratio(leaf: impl Fn(u32) -> Registers) -> Option<TscRatio> {
    highest_of_intel(&leaf)?;
    let [denominator, numerator, ..] = leaf(TSC_LEAF);
    Some(TscRatio {
        numerator,
        denominator,
    })
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const INTEL: [u32; 3] = [0x756e_6547, 0x6c65_746e, 0x4965_6e69];

    fn of(vendor: [u32; 3], highest: u32, tsc: Registers, base: u32) -> Option<u64> {
        frequency(|number| match number {
            0 => [highest, vendor[0], vendor[1], vendor[2]],
            TSC_LEAF => tsc,
            _ => [base, 0, 0, 0],
        })
    }

    #[test]
    fn frequencies_of_leaves() {
        assert_eq!(
            of(INTEL, 0x16, [2, 160, 25_000_000, 0], 0),
            Some(2_000_000_000)
        );
        assert_eq!(of(INTEL, 0x16, [2, 334, 0, 0], 4000), Some(4_000_000_000));
        assert_eq!(of(INTEL, 0x15, [2, 334, 0, 0], 4000), None);
        assert_eq!(of(INTEL, 0x16, [0, 0, 0, 0], 0), None);
        assert_eq!(of(INTEL, 0xd, [2, 160, 25_000_000, 0], 0), None);
        assert_eq!(of([1, 2, 3], 0x16, [2, 160, 25_000_000, 0], 0), None);
    }

    #[test]
    fn ratios_are_those_of_intel() {
        let of = |vendor: [u32; 3], highest| {
            ratio(|number| match number {
                0 => [highest, vendor[0], vendor[1], vendor[2]],
                _ => [2, 334, 0, 0],
            })
        };
        let expected = TscRatio {
            numerator: 334,
            denominator: 2,
        };
        assert_eq!(of(INTEL, 0x15), Some(expected));
        assert_eq!((of(INTEL, 0x14), of([1, 2, 3], 0x16)), (None, None));
    }

    #[test]
    fn this_cpu_has_a_frequency_that_makes_sense_or_none() {
        assert!(tsc_frequency().is_none_or(|hertz| (100_000_000..20_000_000_000).contains(&hertz)));
    }
}
