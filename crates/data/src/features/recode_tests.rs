//! Features in another byte order.

use oxperf_wire::Endian;

use super::testing::little;
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
