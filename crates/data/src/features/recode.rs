//! Any feature in another byte order.

use oxperf_wire::{Cursor, Encoder};

use super::*;

/// Decodes the feature with number `id` and appends what it says. `None` for a feature whose numbers are not known
/// here, or are structures of the recorder's kernel.
pub(crate) fn recode(
    id: FeatureId,
    cursor: &mut Cursor<'_>,
    context: &FeatureContext,
    out: &mut Encoder,
) -> Option<Result<(), FeatureFault>> {
    macro_rules! any_of {
        ($($feature:ty),* $(,)?) => {
            match id {
                $(<$feature>::ID => Some(<$feature>::decode(cursor, context).map(|value| value.encode(out))),)*
                _ => None,
            }
        };
    }
    any_of!(
        BuildIds,
        Hostname,
        OsRelease,
        Version,
        Arch,
        NrCpus,
        CpuDesc,
        CpuId,
        TotalMem,
        CmdLine,
        EventDesc,
        CpuTopology,
        NumaTopology,
        BranchStack,
        PmuMappings,
        GroupDesc,
        AuxtraceIndex,
        StatData,
        CpuCaches,
        SampleTime,
        MemTopology,
        ClockResolution,
        DirFormat,
        Compression,
        CpuPmuCaps,
        ClockData,
        HybridTopology,
        PmuCaps,
        CpuDomainInfo,
        ElfMachine,
        CacheLineSize,
    )
}

#[cfg(test)]
mod tests {
    use oxperf_wire::Endian;

    use super::super::testing::little;
    use super::*;

    fn recoded(id: FeatureId, bytes: &[u8]) -> Option<Result<Vec<u8>, FeatureFault>> {
        let mut out = Encoder::new(Endian::Big);
        let done = recode(
            id,
            &mut Cursor::new(bytes, Endian::Little),
            &FeatureContext::default(),
            &mut out,
        )?;
        Some(done.map(|()| out.into_bytes()))
    }

    #[test]
    fn numbers_turn() {
        let cpus = little(&NrCpus {
            available: 2,
            online: 1,
        });
        assert_eq!(
            recoded(FeatureId::NRCPUS, &cpus),
            Some(Ok(vec![0, 0, 0, 2, 0, 0, 0, 1]))
        );
        assert!(matches!(recoded(FeatureId::NRCPUS, &[1]), Some(Err(_))));
    }

    #[test]
    fn only_bytes_without_known_numbers_are_left() {
        let left: Vec<_> = FeatureId::ALL
            .iter()
            .copied()
            .filter(|id| recoded(*id, &[]).is_none())
            .collect();
        assert_eq!(
            left,
            [
                FeatureId::TRACING_DATA,
                FeatureId::BPF_PROG_INFO,
                FeatureId::BPF_BTF
            ]
        );
    }
}
