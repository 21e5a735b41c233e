//! Bytes and packets, both ways.

use super::*;

/// The packets of `hex`, blanks ignored, as their debug text; errors as theirs.
fn read(hex: &str) -> Vec<String> {
    let show = |packet: Result<Packet, BadPacket>| match packet {
        Ok(packet) => format!("{packet:?}"),
        Err(bad) => bad.to_string(),
    };
    PacketReader::new(&bytes(hex)).map(show).collect()
}

pub(super) fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| (pair[0] << 4 | pair[1]) as u8)
        .collect()
}

/// Checks that `hex` is this packet alone and that the packet becomes `hex`.
fn both_ways(hex: &str, packet: Packet) {
    let trace = bytes(hex);
    assert_eq!(
        PacketReader::new(&trace).collect::<Vec<_>>(),
        [Ok(packet)],
        "{hex}"
    );
    let mut encoded = Vec::new();
    encode(packet, &mut encoded);
    assert_eq!(encoded, trace, "{packet:?}");
}

#[test]
fn a_packet_is_small() {
    assert_eq!(size_of::<Packet>(), 24);
}

#[test]
fn plain_packets() {
    both_ways("00", Packet::Pad);
    both_ways("0282 0282 0282 0282 0282 0282 0282 0282", Packet::Psb);
    both_ways("0223", Packet::PsbEnd);
    both_ways("02f3", Packet::Ovf);
    both_ways("0283", Packet::TraceStop);
    both_ways("02c388 0102030405060708", Packet::Mnt(0x0807060504030201));
    both_ways("02c8 0102030405", Packet::Vmcs(0x0504030201));
}

#[test]
fn branches() {
    both_ways("04", Packet::Tnt(Tnt::short(0, 1).unwrap()));
    both_ways("fe", Packet::Tnt(Tnt::short(0x3f, 6).unwrap()));
    both_ways("02a3 020000000000", Packet::Tnt(Tnt::long(0, 1).unwrap()));
    both_ways(
        "02a3 ffffffffffff",
        Packet::Tnt(Tnt::long((1 << 47) - 1, 47).unwrap()),
    );
    both_ways("0d", Packet::Tip(Ip::SUPPRESSED));
    both_ways(
        "31 0102",
        Packet::TipPge(Ip::new(IpCompression::Update16, 0x0201)),
    );
    both_ways(
        "41 01020304",
        Packet::TipPgd(Ip::new(IpCompression::Update32, 0x04030201)),
    );
    both_ways(
        "7d 010203040586",
        Packet::Fup(Ip::new(IpCompression::Sext48, 0x860504030201)),
    );
    both_ways(
        "8d 010203040586",
        Packet::Tip(Ip::new(IpCompression::Update48, 0x860504030201)),
    );
    both_ways(
        "cd 0102030405060788",
        Packet::Tip(Ip::new(IpCompression::Full, 0x8807060504030201)),
    );
}

#[test]
fn clocks() {
    both_ways("19 01020304050607", Packet::Tsc(0x07060504030201));
    both_ways("59 94", Packet::Mtc(0x94));
    both_ways("0273 0102000301", Packet::Tma(Tma::new(0x0201, 0x103)));
    both_ways("0203 2400", Packet::Cbr(0x24));
    both_ways("fb", Packet::Cyc(31));
    both_ways("bf04", Packet::Cyc(0x57));
    both_ways("ffffffffffffffffff0e", Packet::Cyc(u64::MAX));
}

#[test]
fn modes() {
    both_ways("9905", Packet::ModeExec(ModeExec::from_bits(5)));
    both_ways("9921", Packet::ModeTsx(ModeTsx::from_bits(0x21)));
    both_ways("0243 fbfa0a000000", Packet::Pip(Pip::from_bits(0x0afafb)));
    assert_eq!(Pip::from_bits(0x0afafb).cr3(), 0xafafa0);
    assert!(Pip::from_bits(0x0afafb).non_root());
}

#[test]
fn power_and_writes() {
    both_ways("0262", Packet::ExStop(false));
    both_ways("02e2", Packet::ExStop(true));
    both_ways(
        "02c2 0b00000001000000",
        Packet::Mwait(Mwait::from_bits(0x1_0000_000b)),
    );
    both_ways(
        "0222 8021",
        Packet::PowerEntry(PowerEntry::from_bits(0x2180)),
    );
    both_ways(
        "02a2 6201000000",
        Packet::PowerExit(PowerExit::from_bits(0x162)),
    );
    both_ways(
        "0292 efcdab90",
        Packet::PtWrite(PtWrite::dword(0x90abcdef, true)),
    );
    both_ways(
        "0232 efcdab9078563412",
        Packet::PtWrite(PtWrite::qword(0x1234567890abcdef, false)),
    );
}

#[test]
fn events() {
    both_ways(
        "0213 830e",
        Packet::ControlFlowEvent(ControlFlowEvent::from_bits(0x0e83)),
    );
    both_ways(
        "0253 02aa0bf00000000000",
        Packet::EventData(EventData::new(2, 0xf00baa)),
    );
    both_ways("d920a1", Packet::Trigger(Trigger::new(0x20, 0xa1, 0)));
    both_ways("d9e0a11700", Packet::Trigger(Trigger::new(0xe0, 0xa1, 23)));
}

#[test]
fn items_stand_in_blocks_only() {
    let four = "BlockItem(BlockItem { id: 1, size: Four, value: 67305985 })";
    let begin = "BlockBegin(Block(132))";
    assert_eq!(
        read("026384 0c01020304 0233 0c")[..3],
        [begin, four, "BlockEnd(false)"]
    );
    assert_eq!(
        read("026384 0c01020304 0233 0c")[3],
        "Tnt(Tnt { count: 2, long: false, bits: 2 })"
    );
    assert_eq!(
        read("026384 2d0102 0c")[2],
        "Tnt(Tnt { count: 2, long: false, bits: 2 })",
        "a TIP ends the block"
    );
    for between in [
        "00",
        "3d0102",
        "5901",
        "19 01020304050607",
        "0273 0102000304",
        "0203 1200",
        "0b",
        "0262",
    ] {
        assert_eq!(
            read(&format!("026384 {between} 0c01020304"))[2],
            four,
            "behind {between}"
        );
    }
    let eight = "BlockItem(BlockItem { id: 31, size: Eight, value: 578437695752307201 })";
    assert_eq!(read("026304 fc0102030405060708")[1], eight);
}

#[test]
fn outcomes_are_skipped_as_they_are_read() {
    let rest = [0x59; 16];
    for first in 0..=u8::MAX {
        let trace = [&[first, 1, 2, 3, 4, 5, 6, 7, 8][..], &rest].concat();
        let (mut read, mut skipped) = (PacketReader::new(&trace), PacketReader::new(&trace));
        if read.next_short_tnt().is_none() {
            read.next_tip();
        }
        let some = skipped.skip_outcomes();
        assert_eq!(some, read.offset() != 0, "{first:02x}");
        assert_eq!(skipped.offset(), read.offset(), "{first:02x}");
        assert!(!PacketReader::new(&trace[..8]).skip_outcomes());
    }
}

#[test]
fn what_is_no_packet_is_refused_a_byte_at_a_time() {
    assert_eq!(
        read("45 00"),
        ["no packet begins with 45 00 at offset 0x0", "Pad"]
    );
    for hex in [
        "0200", "9940", "9903", "ad0102", "ed0102", "0272", "02c389", "05",
    ] {
        let padded = bytes(&format!("{hex} 23232323 23232323 23232323 23232323"));
        let bad = PacketReader::new(&padded).next();
        assert!(
            matches!(
                bad,
                Some(Err(BadPacket {
                    offset: 0,
                    problem: Problem::Unknown,
                    ..
                }))
            ),
            "{hex}: {bad:?}"
        );
    }
}

#[test]
fn a_cut_packet_is_told_from_an_unknown_one() {
    let whole = [
        "0282028202820282028202820282 0282",
        "02c388 0102030405060708",
        "19 01020304050607",
        "5901",
        "bf05 04",
    ];
    for hex in whole {
        let trace = bytes(hex);
        assert_eq!(PacketReader::new(&trace).count(), 1);
        for length in 1..trace.len() {
            let bad = PacketReader::new(&trace[..length])
                .next()
                .unwrap()
                .unwrap_err();
            assert_eq!(
                (bad.offset, bad.problem),
                (0, Problem::Truncated),
                "{length} bytes of {hex}"
            );
        }
    }
}

#[test]
fn reading_goes_on_at_the_next_boundary() {
    let trace = [&bytes("45 19 02")[..], &PSB, &bytes("0223")].concat();
    let mut reader = PacketReader::new(&trace);
    assert!(reader.next().unwrap().is_err());
    assert!(reader.resync());
    assert_eq!(reader.offset(), 3);
    assert_eq!(
        reader.by_ref().collect::<Vec<_>>(),
        [Ok(Packet::Psb), Ok(Packet::PsbEnd)]
    );
    assert!(!reader.resync());
    assert_eq!(reader.next(), None);
}

#[test]
fn a_boundary_inside_a_packet_that_was_cut_off_is_found() {
    // MNT, of which three bytes are there; the PSB behind them goes into its payload.
    let trace = [&bytes("02c388")[..], &PSB, &bytes("0223")].concat();
    let mut reader = PacketReader::new(&trace);
    assert!(matches!(reader.next(), Some(Ok(Packet::Mnt(_)))));
    assert!(matches!(reader.next(), Some(Err(_))));
    assert!(reader.resync());
    assert_eq!(reader.offset(), 3);
    assert_eq!(reader.next(), Some(Ok(Packet::Psb)));
    assert!(!reader.resync(), "the same PSB is not found twice");
}
