//! Perfetto's trace: the samples of every thread on one time line, their stacks interned.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::threads::{Lane, Placed, lanes};
use super::{Exported, protobuf};

/// Fields of the message `TracePacket`.
mod packet {
    pub(super) const PROCESS_TREE: u32 = 2;
    pub(super) const TIMESTAMP: u32 = 8;
    pub(super) const SEQUENCE: u32 = 10;
    pub(super) const INTERNED_DATA: u32 = 12;
    pub(super) const SEQUENCE_FLAGS: u32 = 13;
    pub(super) const PERF_SAMPLE: u32 = 66;
}

/// Fields of the message `InternedData`.
mod interned {
    pub(super) const FUNCTION_NAMES: u32 = 5;
    pub(super) const FRAMES: u32 = 6;
    pub(super) const CALLSTACKS: u32 = 7;
    pub(super) const MAPPING_PATHS: u32 = 17;
    pub(super) const MAPPINGS: u32 = 19;
}

/// The one sequence of packets there is.
const SEQUENCE: u64 = 1;
/// Interned values begin anew.
const STATE_CLEARED: u64 = 1;
/// The packet means what was interned before.
const NEEDS_STATE: u64 = 2;

/// Bytes of interned data after which a packet is closed.
const PACKET: usize = 1 << 20;

pub(super) fn write(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let lanes = lanes(exported);
    write_packet(PacketKind::First(process_tree(exported, &lanes)), out)?;
    let mut data = Vec::new();
    for (index, dso) in (1u64..).zip(&exported.tree.dsos) {
        intern_text(
            interned::MAPPING_PATHS,
            index,
            dso.path.trim_start_matches('/'),
            &mut data,
        );
        let mut mapping = Vec::new();
        protobuf::number(1, index, &mut mapping);
        protobuf::number(7, index, &mut mapping);
        protobuf::bytes(interned::MAPPINGS, &mapping, &mut data);
    }
    for (index, frame) in (0u32..).zip(&exported.tree.frames) {
        let id = u64::from(index) + 1;
        intern_text(
            interned::FUNCTION_NAMES,
            id,
            &exported.label(index),
            &mut data,
        );
        let mut message = Vec::new();
        protobuf::number(1, id, &mut message);
        protobuf::number(2, id, &mut message);
        protobuf::number(
            3,
            frame.dso.map_or(0, |dso| u64::from(dso) + 1),
            &mut message,
        );
        protobuf::bytes(interned::FRAMES, &message, &mut data);
    }
    for node in lanes
        .iter()
        .flat_map(|lane| &lane.samples)
        .map(|sample| sample.node)
        .collect::<BTreeSet<_>>()
    {
        intern_stack(exported, node, &mut data);
        if data.len() >= PACKET {
            write_packet(PacketKind::Interned(std::mem::take(&mut data)), out)?;
        }
    }
    write_packet(PacketKind::Interned(data), out)?;
    for lane in &lanes {
        for sample in &lane.samples {
            write_packet(
                PacketKind::Sample(sample.since_start, perf_sample(lane, sample)),
                out,
            )?;
        }
    }
    Ok(())
}

/// A packet by what it holds, as a message.
enum PacketKind {
    First(Vec<u8>),
    Interned(Vec<u8>),
    Sample(u64, Vec<u8>),
}

fn write_packet(kind: PacketKind, out: &mut impl Write) -> io::Result<()> {
    let mut packet = Vec::new();
    protobuf::number(packet::SEQUENCE, SEQUENCE, &mut packet);
    let flags = match kind {
        PacketKind::First(processes) => {
            protobuf::bytes(packet::PROCESS_TREE, &processes, &mut packet);
            STATE_CLEARED
        }
        PacketKind::Interned(data) => {
            protobuf::bytes(packet::INTERNED_DATA, &data, &mut packet);
            NEEDS_STATE
        }
        PacketKind::Sample(time, sample) => {
            protobuf::number(packet::TIMESTAMP, time, &mut packet);
            protobuf::bytes(packet::PERF_SAMPLE, &sample, &mut packet);
            NEEDS_STATE
        }
    };
    protobuf::number(packet::SEQUENCE_FLAGS, flags, &mut packet);
    let mut framed = Vec::new();
    protobuf::bytes(1, &packet, &mut framed);
    out.write_all(&framed)
}

/// The message `ProcessTree`: every process, by the name of its first thread, and every thread.
fn process_tree(exported: &Exported<'_>, lanes: &[Lane]) -> Vec<u8> {
    let mut tree = Vec::new();
    let mut seen = BTreeSet::new();
    for lane in lanes {
        let (pid, tid) = (lane.thread.pid.0 as u64, lane.thread.tid.0 as u64);
        if seen.insert(pid) {
            let mut process = Vec::new();
            protobuf::number(1, pid, &mut process);
            protobuf::bytes(3, lane.name(exported).as_bytes(), &mut process);
            protobuf::bytes(1, &process, &mut tree);
        }
        let mut thread = Vec::new();
        protobuf::number(1, tid, &mut thread);
        protobuf::bytes(2, lane.name(exported).as_bytes(), &mut thread);
        protobuf::number(3, pid, &mut thread);
        protobuf::bytes(2, &thread, &mut tree);
    }
    tree
}

fn intern_text(field: u32, id: u64, text: &str, data: &mut Vec<u8>) {
    let mut message = Vec::new();
    protobuf::number(1, id, &mut message);
    protobuf::bytes(2, text.as_bytes(), &mut message);
    protobuf::bytes(field, &message, data);
}

/// A stack by the number of its innermost node, outermost frame first.
fn intern_stack(exported: &Exported<'_>, node: u32, data: &mut Vec<u8>) {
    let mut frames: Vec<u32> = exported.functions(node).collect();
    frames.reverse();
    let mut message = Vec::new();
    protobuf::number(1, u64::from(node) + 1, &mut message);
    frames
        .into_iter()
        .for_each(|frame| protobuf::number(2, u64::from(frame) + 1, &mut message));
    protobuf::bytes(interned::CALLSTACKS, &message, data);
}

/// The message `PerfSample`.
fn perf_sample(lane: &Lane, sample: &Placed) -> Vec<u8> {
    let mut message = Vec::new();
    if let Some(cpu) = sample.cpu {
        protobuf::number(1, u64::from(cpu), &mut message);
    }
    protobuf::number(2, lane.thread.pid.0 as u64, &mut message);
    protobuf::number(3, lane.thread.tid.0 as u64, &mut message);
    protobuf::number(4, u64::from(sample.node) + 1, &mut message);
    protobuf::number(6, sample.period, &mut message);
    message
}
