//! Packets: events of one CPU in order of time, behind a head that says from when to when and how long.

/// The first bytes of every packet.
const MAGIC: u32 = 0xc1fc_1fc1;
/// Magic number and stream; two times, two sizes, the count of lost events; the CPU.
const HEAD: usize = 4 + 4 + 5 * 8 + 4;

/// A packet that grows.
#[derive(Debug)]
pub struct CtfPacket {
    cpu: u32,
    bytes: Vec<u8>,
    first: u64,
    last: u64,
    discarded: u64,
}

impl CtfPacket {
    /// An empty packet of a CPU.
    pub fn new(cpu: u32) -> CtfPacket {
        CtfPacket {
            cpu,
            bytes: Vec::new(),
            first: 0,
            last: 0,
            discarded: 0,
        }
    }

    /// Bytes so far; 0 without events.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// True if there is no event.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The time of the newest event, also of packets before; no event may be older.
    pub fn last_time(&self) -> u64 {
        self.last
    }

    /// Notes that events were lost, to be told by this packet and those that follow.
    pub fn discard(&mut self, lost: u64) {
        self.discarded = self.discarded.saturating_add(lost);
    }

    /// Begins an event: gives the place that its fields are appended to.
    pub fn event(&mut self, class: usize, time: u64) -> &mut Vec<u8> {
        if self.bytes.is_empty() {
            self.bytes.resize(HEAD, 0);
            self.first = time;
        }
        self.last = time;
        self.bytes.extend_from_slice(&(class as u32).to_le_bytes());
        self.bytes.extend_from_slice(&time.to_le_bytes());
        &mut self.bytes
    }

    /// The finished packet; the next one is empty and goes on where this ends.
    pub fn finish(
        &mut self,
        write: impl FnOnce(&[u8]) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        let bits = 8 * self.bytes.len() as u64;
        let mut head = Vec::with_capacity(HEAD);
        head.extend_from_slice(&MAGIC.to_le_bytes());
        head.extend_from_slice(&0u32.to_le_bytes());
        for word in [self.first, self.last, bits, bits, self.discarded] {
            head.extend_from_slice(&word.to_le_bytes());
        }
        head.extend_from_slice(&self.cpu.to_le_bytes());
        if let Some(place) = self.bytes.get_mut(..HEAD) {
            place.copy_from_slice(&head);
        }
        let written = write(&self.bytes);
        self.bytes.clear();
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_tells_its_times_and_size() {
        let mut packet = CtfPacket::new(3);
        packet.event(9, 100).push(0xee);
        packet.event(1, 250);
        packet.discard(5);
        let mut bytes = Vec::new();
        packet
            .finish(|finished| std::io::Write::write_all(&mut bytes, finished))
            .unwrap();
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        assert_eq!(
            (bytes.len(), [8, 16, 24, 32, 40].map(word)),
            (52 + 13 + 12, [100, 250, 616, 616, 5])
        );
        assert_eq!(
            (&bytes[..4], bytes[48], bytes[52], bytes[64]),
            (&[0xc1, 0x1f, 0xfc, 0xc1][..], 3, 9, 0xee)
        );
        assert_eq!((packet.is_empty(), packet.last_time()), (true, 250));
    }
}
