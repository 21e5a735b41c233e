//! Kernel features that a recording would like and older kernels lack, newest first.

use std::fmt;

/// A part of an attribute that some kernels refuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelFeature {
    /// `PERF_FORMAT_LOST`, Linux 6.0.
    ReadLost,
    /// Build ids in mapping records, Linux 5.12.
    MmapBuildId,
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
    pub const NEWEST_FIRST: [KernelFeature; 6] = [
        KernelFeature::ReadLost,
        KernelFeature::MmapBuildId,
        KernelFeature::BpfEvent,
        KernelFeature::Ksymbol,
        KernelFeature::CommExec,
        KernelFeature::Mmap2,
    ];

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for KernelFeature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KernelFeature::ReadLost => "count of lost samples (Linux 6.0)",
            KernelFeature::MmapBuildId => "build ids in mapping records (Linux 5.12)",
            KernelFeature::BpfEvent => "records of BPF programs (Linux 5.1)",
            KernelFeature::Ksymbol => "records of kernel symbols (Linux 5.1)",
            KernelFeature::CommExec => "mark for exec (Linux 3.16)",
            KernelFeature::Mmap2 => "mapping records with inodes (Linux 3.16)",
        })
    }
}

/// The features that the kernel turned out to lack.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Unsupported(u8);

impl Unsupported {
    /// Returns whether the kernel may have `feature`.
    pub fn may_have(self, feature: KernelFeature) -> bool {
        self.0 & feature.bit() == 0
    }

    /// Gives up the newest feature that is not given up yet; `None` when there is none left.
    #[must_use]
    pub fn without_newest(self) -> Option<(Unsupported, KernelFeature)> {
        let feature = KernelFeature::NEWEST_FIRST
            .into_iter()
            .find(|feature| self.may_have(*feature))?;
        Some((Unsupported(self.0 | feature.bit()), feature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_go_newest_first_and_end() {
        let mut unsupported = Unsupported::default();
        let mut gone = Vec::new();
        while let Some((next, feature)) = unsupported.without_newest() {
            assert!(unsupported.may_have(feature) && !next.may_have(feature));
            (unsupported, gone) = (next, [gone, vec![feature]].concat());
        }
        assert_eq!(gone, KernelFeature::NEWEST_FIRST);
    }
}
