//! The recording as a decoder has to know it, and the items that are wanted.

use std::num::NonZeroU32;

use crate::errata::Errata;

/// A ratio of two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Ticks of the first clock.
    pub numerator: u32,
    /// Ticks of the second in the same time; not 0.
    pub denominator: u32,
}

/// The options with which the trace was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// True if branches were traced at all.
    pub branches: bool,
    /// True if returns may have a TNT bit.
    pub return_compression: bool,
    /// The crystal clock's bits below the MTC payload.
    pub mtc_shift: u8,
    /// Ticks of the time-stamp counter for ticks of the crystal clock (CPUID 15H), if known.
    pub tsc_to_crystal: Option<Ratio>,
    /// The ratio of core to bus clock at which the core runs as fast as the time-stamp counter ticks, if known.
    pub max_non_turbo_ratio: Option<NonZeroU32>,
    /// Differences of the processor's trace from the manual.
    pub errata: Errata,
}

impl Default for Config {
    /// Branches with return compression, no clocks known.
    fn default() -> Config {
        Config {
            branches: true,
            return_compression: true,
            mtc_shift: 0,
            tsc_to_crystal: None,
            max_non_turbo_ratio: None,
            errata: Errata::default(),
        }
    }
}

/// The interval of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Every so many instructions; at least 1.
    Instructions(u64),
    /// Every so many ticks of the time-stamp counter, of which the next lower power of two is taken.
    Ticks(u64),
}

/// The part of the flow that is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuickMode {
    /// Every instruction.
    #[default]
    Walk,
    /// Only addresses in TIP and FUP packets, as [`Item::Address`](crate::Item::Address).
    Addresses,
    /// Only the addresses at PSBs.
    Psb,
}

/// The items that a decoder emits beside errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EmitOptions {
    /// [`Item::Path`](crate::Item::Path) for all code that ran. Without it, and without a period, paths are counted only.
    pub paths: bool,
    /// Instructions to be marked in paths.
    pub period: Option<Period>,
    /// [`Item::Event`](crate::Item::Event).
    pub events: bool,
    /// The part of the flow that is followed.
    pub quick: QuickMode,
}
