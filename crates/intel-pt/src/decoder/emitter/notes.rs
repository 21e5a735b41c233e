//! Notes of the decoder's steps.

use super::Emitter;
use crate::decoder::packet_stream::PacketStream;
use crate::decoder::timed_packets::TimedPackets;
use crate::note::{Measured, Note, Read};
use crate::packet::{BadPacket, Packet};

/// The notes, if they are wanted.
#[derive(Debug, Default)]
pub(super) struct Notes {
    wanted: bool,
    list: Vec<Note>,
    /// Padding up to here stands with the packet before it.
    padded_to: u64,
}

impl Notes {
    /// Bytes up to which zeros behind a packet are taken for a part of it.
    const FILLED: usize = 8;

    /// Notes the packet that was read last.
    fn add_packet(&mut self, packets: &PacketStream<'_>, packet: Option<Packet>) {
        let offset = packets.offset_of_packet();
        if packet == Some(Packet::Pad) && offset < self.padded_to {
            return;
        }
        let filled = if packet.is_some() { Notes::FILLED } else { 0 };
        let (bytes, length) = packets.bytes_of_packet(filled);
        self.padded_to = offset + u64::from(length);
        self.list.push(Note::Reads(Read {
            offset,
            packet,
            bytes,
            length,
        }));
    }

    /// Notes the effect of a timing packet on the clock.
    fn add_time(&mut self, trace: &TimedPackets<'_>, packet: Packet, behind_cyc: bool) {
        let clock = trace.clock();
        let follows = match packet {
            Packet::Tma(tma) => {
                let tie = clock.tie(tma);
                let note = tie.map(|(time, mtc, rest)| Note::Ties { time, mtc, rest });
                return self.list.extend(note);
            }
            Packet::Mtc(_) => clock.follows_crystal(),
            Packet::Cyc(_) => clock.follows_cycles(),
            Packet::Tsc(_) => true,
            _ => false,
        };
        if !follows {
            return;
        }
        if behind_cyc && matches!(packet, Packet::Mtc(_)) {
            let base = trace.packets().place_of_reader();
            let measured = clock.measure(trace.ahead());
            self.list.extend(measured.map(|measured| {
                Note::Measures(Measured {
                    end: base.wrapping_add(measured.end),
                    ..measured
                })
            }));
        }
        self.list.extend(clock.time().map(Note::Time));
    }
}

impl Emitter<'_> {
    /// From here on every step is noted.
    pub(in crate::decoder) fn keep_notes(&mut self) {
        self.notes.wanted = true;
    }

    /// True if every step is noted.
    #[inline]
    pub(in crate::decoder) fn keeps_notes(&self) -> bool {
        self.notes.wanted
    }

    /// The steps since this was last called.
    pub(in crate::decoder) fn take_notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        self.notes.list.drain(..)
    }

    #[inline]
    pub(in crate::decoder) fn note(&mut self, note: Note) {
        if self.notes.wanted {
            self.notes.list.push(note);
        }
    }

    /// Notes a packet.
    #[inline]
    pub(in crate::decoder) fn note_packet(&mut self, packet: Result<Packet, BadPacket>) {
        if self.notes.wanted {
            let packets = self.walker.trace().packets();
            self.notes.add_packet(packets, packet.ok());
        }
    }

    /// Notes the effect of a timing packet on the clock.
    #[inline]
    pub(in crate::decoder) fn note_time(&mut self, packet: Packet, behind_cyc: bool) {
        if self.notes.wanted {
            self.notes.add_time(self.walker.trace(), packet, behind_cyc);
        }
    }
}
