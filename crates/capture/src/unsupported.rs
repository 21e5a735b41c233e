//! Kernel features that a recording would like and older kernels lack, newest first.

use std::fmt;

use oxperf_abi::{AttrFlags, EventAttr, ReadFormat, SampleType};

/// A part of an attribute that some kernels refuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelFeature {
    /// User parts of call chains that come later, Linux 6.19.
    DeferredChains,
    /// `PERF_FORMAT_LOST`, Linux 6.0.
    ReadLost,
    /// Build ids in mapping records, Linux 5.12.
    MmapBuildId,
    /// Several latencies of a sample, Linux 5.12.
    WeightStruct,
    /// Records of changes of the kernel's code, Linux 5.8.
    TextPoke,
    /// BPF program records, Linux 5.1.
    BpfEvent,
    /// Kernel symbol records, Linux 5.1.
    Ksymbol,
    /// A mark for exec, which renaming does not have, Linux 3.16.
    CommExec,
    /// Mapping records with inode and protection, Linux 3.16.
    Mmap2,
}

impl KernelFeature {
    /// Every feature, in the order in which they are given up.
    pub const NEWEST_FIRST: [KernelFeature; 9] = [
        KernelFeature::DeferredChains,
        KernelFeature::ReadLost,
        KernelFeature::MmapBuildId,
        KernelFeature::WeightStruct,
        KernelFeature::TextPoke,
        KernelFeature::BpfEvent,
        KernelFeature::Ksymbol,
        KernelFeature::CommExec,
        KernelFeature::Mmap2,
    ];

    /// Returns whether an attribute asks for it.
    fn is_in(self, attr: &EventAttr) -> bool {
        let flag = |flag| attr.flags.contains(flag);
        match self {
            KernelFeature::DeferredChains => flag(AttrFlags::DEFER_CALLCHAIN),
            KernelFeature::ReadLost => attr.read_format.contains(ReadFormat::LOST),
            KernelFeature::MmapBuildId => flag(AttrFlags::BUILD_ID),
            KernelFeature::WeightStruct => attr.sample_type.contains(SampleType::WEIGHT_STRUCT),
            KernelFeature::TextPoke => flag(AttrFlags::TEXT_POKE),
            KernelFeature::BpfEvent => flag(AttrFlags::BPF_EVENT),
            KernelFeature::Ksymbol => flag(AttrFlags::KSYMBOL),
            KernelFeature::CommExec => flag(AttrFlags::COMM_EXEC),
            KernelFeature::Mmap2 => flag(AttrFlags::MMAP2),
        }
    }

    fn bit(self) -> u16 {
        1 << self as u8
    }
}

impl fmt::Display for KernelFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KernelFeature::DeferredChains => "deferred call chains (Linux 6.19)",
            KernelFeature::ReadLost => "count of lost samples (Linux 6.0)",
            KernelFeature::MmapBuildId => "build ids in mapping records (Linux 5.12)",
            KernelFeature::WeightStruct => "latencies in samples (Linux 5.12)",
            KernelFeature::TextPoke => "records of changes of the kernel's code (Linux 5.8)",
            KernelFeature::BpfEvent => "records of BPF programs (Linux 5.1)",
            KernelFeature::Ksymbol => "records of kernel symbols (Linux 5.1)",
            KernelFeature::CommExec => "mark for exec (Linux 3.16)",
            KernelFeature::Mmap2 => "mapping records with inodes (Linux 3.16)",
        })
    }
}

/// The features that the kernel turned out to lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unsupported(u16);

impl Unsupported {
    /// Returns whether the kernel may have `feature`.
    pub fn may_have(self, feature: KernelFeature) -> bool {
        self.0 & feature.bit() == 0
    }

    /// Gives up a feature.
    #[must_use]
    pub fn without(self, feature: KernelFeature) -> Unsupported {
        Unsupported(self.0 | feature.bit())
    }

    /// Gives up the newest feature that a refused attribute asks for; `None` when it asks for none.
    #[must_use]
    pub fn without_newest_of(self, attr: &EventAttr) -> Option<(Unsupported, KernelFeature)> {
        let feature = KernelFeature::NEWEST_FIRST
            .into_iter()
            .find(|feature| self.may_have(*feature) && feature.is_in(attr))?;
        Some((self.without(feature), feature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_go_newest_first_and_end() {
        let all = EventAttr {
            flags: AttrFlags(u64::MAX),
            sample_type: SampleType::WEIGHT_STRUCT,
            read_format: ReadFormat::LOST,
            ..EventAttr::default()
        };
        let mut unsupported = Unsupported::default();
        let mut gone = Vec::new();
        while let Some((next, feature)) = unsupported.without_newest_of(&all) {
            assert!(unsupported.may_have(feature) && !next.may_have(feature));
            (unsupported, gone) = (next, [gone, vec![feature]].concat());
        }
        assert_eq!(gone, KernelFeature::NEWEST_FIRST);
    }

    #[test]
    fn what_is_not_asked_for_is_not_given_up() {
        let plain = EventAttr {
            flags: AttrFlags::MMAP2,
            ..EventAttr::default()
        };
        let (without, feature) = Unsupported::default().without_newest_of(&plain).unwrap();
        assert_eq!(feature, KernelFeature::Mmap2);
        assert_eq!(without.without_newest_of(&plain), None);
    }
}
