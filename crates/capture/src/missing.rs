//! Kernel features that a recording would like and older kernels lack, newest first.

use std::fmt;

/// A part of an attribute that some kernels refuse.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Feature {
    /// `PERF_FORMAT_LOST`, Linux 6.0.
    ReadLost,
    /// Build ids in mapping records, Linux 5.12.
    MmapBuildId,
    /// BPF program records, Linux 5.1.
    BpfEvent,
    /// Kernel symbol records, Linux 5.1.
    Ksymbol,
    /// Exec told from renaming, Linux 3.16.
    CommExec,
    /// Mapping records with inode and protection, Linux 3.16.
    Mmap2,
}

impl Feature {
    /// Every feature, in the order in which they are given up.
    pub const NEWEST_FIRST: [Feature; 6] = [
        Feature::ReadLost,
        Feature::MmapBuildId,
        Feature::BpfEvent,
        Feature::Ksymbol,
        Feature::CommExec,
        Feature::Mmap2,
    ];

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::ReadLost => "count of lost samples (Linux 6.0)",
            Feature::MmapBuildId => "build ids in mapping records (Linux 5.12)",
            Feature::BpfEvent => "records of BPF programs (Linux 5.1)",
            Feature::Ksymbol => "records of kernel symbols (Linux 5.1)",
            Feature::CommExec => "mark for exec (Linux 3.16)",
            Feature::Mmap2 => "mapping records with inodes (Linux 3.16)",
        })
    }
}

/// The features found missing so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Missing(u8);

impl Missing {
    /// Whether the kernel may still have `feature`.
    pub fn still_has(self, feature: Feature) -> bool {
        self.0 & feature.bit() == 0
    }

    /// Gives up the newest feature that is not given up yet; `None` when there is none left.
    #[must_use]
    pub fn without_newest(self) -> Option<(Missing, Feature)> {
        let feature = Feature::NEWEST_FIRST
            .into_iter()
            .find(|feature| self.still_has(*feature))?;
        Some((Missing(self.0 | feature.bit()), feature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_go_newest_first_and_end() {
        let mut missing = Missing::default();
        let mut gone = Vec::new();
        while let Some((next, feature)) = missing.without_newest() {
            assert!(missing.still_has(feature) && !next.still_has(feature));
            (missing, gone) = (next, [gone, vec![feature]].concat());
        }
        assert_eq!(gone, Feature::NEWEST_FIRST);
    }
}
