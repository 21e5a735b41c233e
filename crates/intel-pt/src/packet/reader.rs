//! Walking over trace bytes, packet by packet.

use std::fmt;

use super::decode::{LONGEST, Window, decode, frequent};
use super::{Ip, IpCompression, ItemSize, PSB, Packet, find_psb};

/// The lengths of TNT packets of one byte and of TIP packets, by their first byte; 0 for all others.
const LENGTHS: [u8; 256] = {
    let mut lengths = [0; 256];
    let mut first = 3;
    while first < lengths.len() {
        lengths[first] = match (first & 0x1f, IpCompression::from_bits((first >> 5) as u8)) {
            (0x0d, Some(compression)) => 1 + compression.bytes() as u8,
            _ => (first & 1 == 0) as u8,
        };
        first += 1;
    }
    lengths
};

/// Reads packets from trace bytes. Cheap to clone: a clone looks ahead.
///
/// As an iterator it gives every packet, and an error where none begins; then it has stepped over one byte, so that it
/// ends on any input.
#[derive(Clone, Debug)]
pub struct PacketReader<'a> {
    trace: &'a [u8],
    offset: usize,
    /// Inside a block: the size of its items.
    items: Option<ItemSize>,
    /// Behind the last PSB that was read: [`PacketReader::resync`] looks no further back.
    synced: usize,
}

impl<'a> PacketReader<'a> {
    /// Reads `trace` from its beginning, outside any block.
    pub const fn new(trace: &'a [u8]) -> PacketReader<'a> {
        PacketReader {
            trace,
            offset: 0,
            items: None,
            synced: 0,
        }
    }

    /// The start of the next packet.
    #[inline]
    pub const fn offset(&self) -> usize {
        self.offset
    }

    /// True if a block is open.
    #[inline]
    pub(crate) const fn is_in_block(&self) -> bool {
        self.items.is_some()
    }

    /// Goes on at `offset`, outside any block.
    #[inline]
    pub const fn seek(&mut self, offset: usize) {
        self.offset = offset;
        self.items = None;
        self.synced = offset;
    }

    /// Goes on at `offset`, in the same block as `other`.
    #[inline]
    pub const fn seek_like(&mut self, offset: usize, other: &PacketReader<'_>) {
        self.offset = offset;
        self.items = other.items;
    }

    /// Reads a TNT packet of one byte, if that is what comes next, and gives that byte.
    #[inline(always)]
    pub fn next_short_tnt(&mut self) -> Option<u8> {
        let byte = *self.trace.get(self.offset)?;
        if byte & 1 != 0 || byte <= 2 || self.items.is_some() {
            return None;
        }
        self.offset += 1;
        Some(byte)
    }

    /// Reads a TIP packet, if that is what comes next and the trace does not end soon.
    #[inline(always)]
    pub fn next_tip(&mut self) -> Option<Ip> {
        let bytes: &[u8; 9] = self.trace.get(self.offset..)?.first_chunk()?;
        if bytes[0] & 0x1f != 0x0d || self.items.is_some() {
            return None;
        }
        let compression = IpCompression::from_bits(bytes[0] >> 5)?;
        self.offset += 1 + compression.bytes();
        Some(Ip::new(
            compression,
            u64::from_le_bytes(*bytes.last_chunk()?),
        ))
    }

    /// Steps over TNT packets of one byte and TIP packets, as far as the trace does not end soon; whether there were
    /// some.
    pub(crate) fn skip_outcomes(&mut self) -> bool {
        let end = self.trace.len().saturating_sub(LONGEST);
        let start = self.offset;
        while self.items.is_none() && self.offset < end {
            match LENGTHS[usize::from(self.trace[self.offset])] {
                0 => break,
                length => self.offset += usize::from(length),
            }
        }
        self.offset != start
    }

    /// All bytes of the trace.
    #[inline]
    pub const fn trace(&self) -> &'a [u8] {
        self.trace
    }

    /// The bytes from here on.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.trace.get(self.offset..).unwrap_or_default()
    }

    /// Steps over a byte; an open block stays open.
    #[inline]
    pub(super) const fn step(&mut self) {
        self.offset += 1;
    }

    /// Goes on at the next PSB. Without one it goes to the end and returns false.
    ///
    /// A packet that was cut off in the middle takes the bytes behind it for its own, so a PSB that began within the
    /// last bytes that were read is found, too.
    pub fn resync(&mut self) -> bool {
        let from = self.offset.saturating_sub(PSB.len()).max(self.synced);
        let found = find_psb(self.trace, from);
        self.seek(found.unwrap_or(self.trace.len()));
        found.is_some()
    }

    /// The next packet, of whatever kind.
    fn next_of_any_kind(&mut self) -> Option<Result<Packet, BadPacket>> {
        let rest = self.rest();
        let decoded = match rest.first_chunk() {
            Some(window) => decode(window, self.items),
            None if rest.is_empty() => return None,
            None => decode(&padded(rest), self.items),
        };
        let (packet, length) = match decoded {
            Some((packet, length)) if length <= rest.len() => (packet, length),
            None if !is_cut(rest) => return Some(Err(self.refuse(Problem::Unknown))),
            _ => return Some(Err(self.refuse(Problem::Truncated))),
        };
        self.offset += length;
        self.items = packet.items_after(self.items);
        if packet == Packet::Psb {
            self.synced = self.offset;
        }
        Some(Ok(packet))
    }

    /// The error for what begins here; steps over a byte.
    #[cold]
    fn refuse(&mut self, problem: Problem) -> BadPacket {
        let rest = self.rest();
        let found = [rest[0], rest.get(1).copied().unwrap_or_default()];
        let offset = self.offset;
        self.step();
        BadPacket {
            offset,
            problem,
            found,
        }
    }
}

impl Iterator for PacketReader<'_> {
    type Item = Result<Packet, BadPacket>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if let (None, Some((packet, length))) =
            (self.items, self.rest().first_chunk().and_then(frequent))
        {
            self.offset += length;
            return Some(Ok(packet));
        }
        self.next_of_any_kind()
    }
}

#[cold]
fn padded(rest: &[u8]) -> Window {
    let mut window = [0; LONGEST];
    window[..rest.len()].copy_from_slice(rest);
    window
}

/// True if the trace ends before it says which packet begins.
fn is_cut(rest: &[u8]) -> bool {
    PSB.starts_with(rest) || rest == [0x02, 0xc3]
}

/// The reason for which bytes are no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Problem {
    /// No packet begins so.
    Unknown,
    /// The trace ends inside the packet.
    Truncated,
}

/// A place in the trace where no packet begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BadPacket {
    /// Bytes from the beginning of the trace.
    pub offset: usize,
    /// The reason.
    pub problem: Problem,
    /// The first two bytes; the second is 0 where there is none.
    pub found: [u8; 2],
}

impl fmt::Display for BadPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadPacket {
            offset,
            found: [first, second],
            ..
        } = self;
        match self.problem {
            Problem::Unknown => {
                write!(
                    f,
                    "no packet begins with {first:02x} {second:02x} at offset {offset:#x}"
                )
            }
            Problem::Truncated => {
                write!(
                    f,
                    "the trace ends inside the packet {first:02x} at offset {offset:#x}"
                )
            }
        }
    }
}

impl std::error::Error for BadPacket {}
