//! Intel Processor Trace: bytes of packets.

use intel_pt::packet::{Packet, PacketReader, encode};

use crate::trial::ensure;
use crate::{Shortfall, Trial};

/// Packets with the bytes that Intel's manual gives them.
const PACKETS: [(Packet, &[u8]); 6] = [
    (Packet::Pad, &[0x00]),
    (Packet::Cyc(2), &[0x13]),
    (Packet::Cyc(0x234), &[0xa7, 0x22]),
    (Packet::Mtc(0xfe), &[0x59, 0xfe]),
    (
        Packet::Tsc(0x0090_2a4c_3d2e_1f10),
        &[0x19, 0x10, 0x1f, 0x2e, 0x3d, 0x4c, 0x2a, 0x90],
    ),
    (Packet::Cbr(0x24), &[0x02, 0x03, 0x24, 0x00]),
];

/// Packets are read from their bytes and written as them.
pub(crate) fn packets(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    for (packet, bytes) in PACKETS {
        let read: Vec<_> = PacketReader::new(bytes).collect();
        trial.note(format_args!("{bytes:02x?}: {read:?}"));
        let one = matches!(&read[..], [Ok(found)] if *found == packet);
        ensure(one, format!("{bytes:02x?} is not read as {packet:?}"))?;
        let mut written = Vec::new();
        encode(packet, &mut written);
        ensure(
            written == bytes,
            format!("{packet:?} is written as {written:02x?}"),
        )?;
    }
    Ok(())
}
