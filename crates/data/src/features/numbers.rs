//! The features that are one or two numbers: NRCPUS, TOTAL_MEM, DIR_FORMAT, E_MACHINE, CLN_SIZE.

use oxperf_wire::{Cursor, Encoder};

use super::{Feature, FeatureContext, FeatureId};
use crate::FeatureFault;

/// Number of CPUs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NrCpus {
    /// One more than the highest CPU that is present.
    pub available: u32,
    /// CPUs that were online.
    pub online: u32,
}

impl Feature for NrCpus {
    const ID: FeatureId = FeatureId::NRCPUS;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<NrCpus, FeatureFault> {
        Ok(NrCpus {
            available: cursor.u32()?,
            online: cursor.u32()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.available);
        encoder.u32(self.online);
    }
}

/// Size of the host's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TotalMem {
    /// In units of 1024 bytes.
    pub kilobytes: u64,
}

impl Feature for TotalMem {
    const ID: FeatureId = FeatureId::TOTAL_MEM;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<TotalMem, FeatureFault> {
        Ok(TotalMem {
            kilobytes: cursor.u64()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.kilobytes);
    }
}

/// The records are in further files beside this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DirFormat {
    /// Version of that layout; 1 is the only one.
    pub version: u64,
}

impl Feature for DirFormat {
    const ID: FeatureId = FeatureId::DIR_FORMAT;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<DirFormat, FeatureFault> {
        Ok(DirFormat {
            version: cursor.u64()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u64(self.version);
    }
}

/// The ELF machine of the recorded programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ElfMachine {
    /// `e_machine` of the ELF header.
    pub machine: u32,
    /// `e_flags` of the ELF header.
    pub flags: u32,
}

impl Feature for ElfMachine {
    const ID: FeatureId = FeatureId::E_MACHINE;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<ElfMachine, FeatureFault> {
        Ok(ElfMachine {
            machine: cursor.u32()?,
            flags: cursor.u32()?,
        })
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.machine);
        encoder.u32(self.flags);
    }
}

/// Bytes in a cache line of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheLineSize(pub u32);

impl Feature for CacheLineSize {
    const ID: FeatureId = FeatureId::CLN_SIZE;

    fn decode(cursor: &mut Cursor<'_>, _: &FeatureContext) -> Result<CacheLineSize, FeatureFault> {
        Ok(CacheLineSize(cursor.u32()?))
    }

    fn encode(&self, encoder: &mut Encoder) {
        encoder.u32(self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{little, round_trip};
    use super::*;

    #[test]
    fn numbers_round_trip() {
        round_trip(&NrCpus {
            available: 8,
            online: 6,
        });
        round_trip(&TotalMem {
            kilobytes: 24_684_096,
        });
        round_trip(&DirFormat { version: 1 });
        round_trip(&ElfMachine {
            machine: 62,
            flags: 1,
        });
        round_trip(&CacheLineSize(64));
        assert_eq!(
            little(&NrCpus {
                available: 8,
                online: 6
            }),
            [8, 0, 0, 0, 6, 0, 0, 0]
        );
    }
}
