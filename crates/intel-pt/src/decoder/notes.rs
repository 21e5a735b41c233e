//! Taking notes of the decoder's steps.

use super::Decoder;
use super::input::Input;
use crate::note::{Measured, Note, Read};
use crate::packet::{BadPacket, Packet};

/// The notes, if they are wanted.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) wanted: bool,
    list: Vec<Note>,
    /// Padding up to here stands with the packet before it.
    padded_to: u64,
}

impl Notes {
    /// Bytes up to which zeros behind a packet are taken for a part of it.
    const FILLED: usize = 8;

    #[inline]
    pub(super) fn add(&mut self, note: Note) {
        if self.wanted {
            self.list.push(note);
        }
    }

    /// Notes the packet that was read last.
    fn add_packet(&mut self, input: &Input<'_>, packet: Option<Packet>) {
        let offset = input.offset_of_packet();
        if packet == Some(Packet::Pad) && offset < self.padded_to {
            return;
        }
        let filled = if packet.is_some() { Notes::FILLED } else { 0 };
        let (bytes, length) = input.bytes_of_packet(filled);
        self.padded_to = offset + u64::from(length);
        self.list.push(Note::Reads(Read {
            offset,
            packet,
            bytes,
            length,
        }));
    }
}

impl Decoder<'_> {
    /// From here on every step is noted, which takes a multiple of the time: [`Decoder::take_notes`] has them.
    pub fn keep_notes(&mut self) {
        self.notes.wanted = true;
    }

    /// The steps since this was last called, in order. Those that led to an item are there when the item is.
    pub fn take_notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        self.notes.list.drain(..)
    }

    /// Notes a packet.
    #[inline]
    pub(super) fn note_packet(&mut self, packet: Result<Packet, BadPacket>) {
        if self.notes.wanted {
            self.notes.add_packet(&self.input, packet.ok());
        }
    }

    /// Notes what a timing packet did to the clock.
    #[cold]
    pub(super) fn note_time(&mut self, packet: Packet, behind_cyc: bool) {
        let told = match packet {
            Packet::Tma(tma) => {
                let tie =
                    self.clock
                        .tie(tma)
                        .map(|(time, mtc, rest)| Note::Ties { time, mtc, rest });
                return self.notes.list.extend(tie);
            }
            Packet::Mtc(_) => self.clock.follows_crystal(),
            Packet::Cyc(_) => self.clock.follows_cycles(),
            Packet::Tsc(_) => true,
            _ => false,
        };
        if told && behind_cyc && matches!(packet, Packet::Mtc(_)) {
            self.note_measurement();
        }
        self.notes
            .list
            .extend(self.clock.time().filter(|_| told).map(Note::Time));
    }

    fn note_measurement(&mut self) {
        let place = self.input.place_of_reader();
        let measured = self.clock.measure(self.input.ahead());
        self.notes.list.extend(measured.map(|measured| {
            Note::Measures(Measured {
                end: place.wrapping_add(measured.end),
                ..measured
            })
        }));
    }
}
