//! The trace as one stream of packets, though it comes in chunks.

use crate::item::Tsc;
use crate::note::Read;
use crate::packet::{BadPacket, Ip, PSB, Packet, PacketReader, Problem, find_psb};

/// A part of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceChunk<'t> {
    /// The bytes.
    pub bytes: &'t [u8],
    /// The place of the first byte in the trace: items name their place by it.
    pub offset: u64,
    /// True if it begins where the last chunk ended.
    pub consecutive: bool,
    /// A time near the chunk's, for the upper bits that TSC packets lack.
    pub reference: Option<Tsc>,
}

/// The chunk that is being read, and the beginning of a packet from the one before.
#[derive(Debug)]
pub(super) struct PacketStream<'t> {
    reader: PacketReader<'t>,
    base: u64,
    /// The start of the last packet, relative to `base`.
    packet: i64,
    /// The beginning of a packet, from the chunk before.
    rest: Vec<u8>,
    /// The last packet, if it began in the chunk before.
    joined: Vec<u8>,
}

impl Default for PacketStream<'_> {
    fn default() -> Self {
        PacketStream {
            reader: PacketReader::new(&[]),
            base: 0,
            packet: 0,
            rest: Vec::new(),
            joined: Vec::new(),
        }
    }
}

/// The longest rest: one byte less than a PSB.
const LONGEST_REST: usize = PSB.len() - 1;

impl<'t> PacketStream<'t> {
    pub(super) fn push(&mut self, stretch: TraceChunk<'t>) {
        if !stretch.consecutive {
            self.rest.clear();
        }
        let mut reader = PacketReader::new(stretch.bytes);
        if stretch.consecutive {
            reader.seek_like(0, &self.reader);
        }
        self.reader = reader;
        self.base = stretch.offset;
    }

    /// The start of the last packet.
    #[inline]
    pub(super) fn offset_of_packet(&self) -> u64 {
        self.base.wrapping_add_signed(self.packet)
    }

    /// The start of the next packet.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        (self.base + self.reader.offset() as u64).wrapping_sub(self.rest.len() as u64)
    }

    /// True if the next packet begins in this chunk, outside any block.
    pub(super) fn is_whole(&self) -> bool {
        self.rest.is_empty() && !self.reader.is_in_block()
    }

    /// The unread part of the chunk.
    pub(super) fn unread(&self) -> TraceChunk<'t> {
        TraceChunk {
            bytes: self.reader.rest(),
            offset: self.offset(),
            consecutive: false,
            reference: None,
        }
    }

    /// Reads a TNT packet of one byte, if it comes next.
    #[inline(always)]
    pub(super) fn next_short_tnt(&mut self) -> Option<u8> {
        if !self.rest.is_empty() {
            return None;
        }
        let at = self.reader.offset();
        let byte = self.reader.next_short_tnt()?;
        self.packet = at as i64;
        Some(byte)
    }

    /// Reads a TIP packet, if it comes next.
    #[inline(always)]
    pub(super) fn next_tip(&mut self) -> Option<Ip> {
        if !self.rest.is_empty() {
            return None;
        }
        let at = self.reader.offset();
        let ip = self.reader.next_tip()?;
        self.packet = at as i64;
        Some(ip)
    }

    /// The place in the trace of what [`PacketStream::ahead`] calls its offset 0.
    pub(super) fn place_of_reader(&self) -> u64 {
        self.base
    }

    /// The bytes of the last packet, and of zeros behind it up to `filled` in all.
    pub(super) fn bytes_of_packet(&self, filled: usize) -> ([u8; Read::MOST], u8) {
        let (trace, end) = (self.reader.trace(), self.reader.offset());
        let packet = match usize::try_from(self.packet) {
            Ok(start) => trace.get(start..end).unwrap_or_default(),
            Err(_) => &self.joined,
        };
        let room = filled.saturating_sub(packet.len());
        let zeros = trace[end.min(trace.len())..]
            .iter()
            .take(room)
            .take_while(|&&byte| byte == 0)
            .count();
        let length = packet.len().min(Read::MOST);
        let mut bytes = [0; Read::MOST];
        bytes[..length].copy_from_slice(&packet[..length]);
        (bytes, (length + zeros) as u8)
    }

    /// The packets behind the last one, as far as the chunk goes.
    pub(super) fn ahead(&self) -> PacketReader<'t> {
        self.reader.clone()
    }

    /// The next packet; `None` at the end of the chunk.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Result<Packet, BadPacket>> {
        if !self.rest.is_empty() {
            return self.next_joined();
        }
        let at = self.reader.offset();
        self.packet = at as i64;
        let packet = self.reader.next()?;
        match packet {
            Err(BadPacket {
                problem: Problem::Truncated,
                ..
            }) => {
                self.keep_rest(at);
                None
            }
            packet => Some(packet),
        }
    }

    /// Keeps what is left from `at` on for the next chunk.
    fn keep_rest(&mut self, at: usize) {
        let trace = self.reader.trace();
        self.rest.clear();
        self.rest
            .extend_from_slice(&trace[at.max(trace.len().saturating_sub(LONGEST_REST))..]);
        let before = self.reader.clone();
        self.reader.seek_like(trace.len(), &before);
    }

    /// Reads the packet that began in the chunk before.
    #[cold]
    fn next_joined(&mut self) -> Option<Result<Packet, BadPacket>> {
        let more = self.reader.rest();
        if more.is_empty() {
            return None;
        }
        let old = self.rest.len();
        let mut joined = std::mem::take(&mut self.rest);
        joined.extend_from_slice(&more[..more.len().min(PSB.len())]);
        let mut reader = PacketReader::new(&joined);
        reader.seek_like(0, &self.reader);
        self.packet = -(old as i64);
        let packet = reader.next()?;
        let read = reader.offset();
        if let Err(BadPacket {
            problem: Problem::Truncated,
            ..
        }) = packet
        {
            let end = self.reader.trace().len();
            self.reader.seek_like(end, &reader);
            joined.truncate(LONGEST_REST);
            self.rest = joined;
            return None;
        }
        self.reader
            .seek_like(self.reader.offset() + read.saturating_sub(old), &reader);
        self.joined.clear();
        self.joined
            .extend_from_slice(&joined[..read.min(joined.len())]);
        joined.truncate(old);
        self.rest = joined.split_off(read.min(old));
        Some(packet)
    }

    /// Goes to the next PSB; false if there is none in what is known so far.
    pub(super) fn find_psb(&mut self) -> bool {
        if !self.rest.is_empty() && self.find_joined_psb() {
            return true;
        }
        let at = self.reader.offset();
        if self.reader.resync() {
            return true;
        }
        self.keep_rest(at);
        false
    }

    /// Looks for a PSB that began in the chunk before.
    fn find_joined_psb(&mut self) -> bool {
        let mut joined = std::mem::take(&mut self.rest);
        let old = joined.len();
        let more = self.reader.rest();
        joined.extend_from_slice(&more[..more.len().min(LONGEST_REST)]);
        let Some(at) = find_psb(&joined, 0).filter(|&at| at < old) else {
            return false;
        };
        self.rest = joined[at..old].to_vec();
        let start = self.reader.offset();
        self.reader.seek(start);
        true
    }
}
