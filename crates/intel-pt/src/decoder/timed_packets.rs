//! Packets with their time, and the state of the processor that they refer to.

use super::checkpoint::Checkpoint;
use super::packet_stream::{PacketStream, TraceChunk};
use super::processor::Processor;
use crate::config::Config;
use crate::item::Tsc;
use crate::packet::{BadPacket, Ip, Packet, PacketReader};
use crate::time::Clock;

/// A packet as the clock sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timing {
    /// No packet of timing.
    None,
    /// Its time was taken.
    Applied,
    /// The core to bus ratio was set.
    Ratio,
    /// An OVF packet, cut by an erratum so that it looks like CYC packets.
    Overflow,
}

/// The packets of a trace, with the clocks that they set and the address that compressed ones refer to.
#[derive(Debug)]
pub(super) struct TimedPackets<'t> {
    packets: PacketStream<'t>,
    clock: Clock,
    processor: Processor,
    last_ip: Option<u64>,
    /// The payload of the last CBR packet.
    cbr_payload: u16,
    overflow_in_cyc: bool,
}

impl<'t> TimedPackets<'t> {
    pub(super) fn new(config: &Config) -> TimedPackets<'t> {
        TimedPackets {
            packets: PacketStream::default(),
            clock: Clock::new(config),
            processor: Processor::new(),
            last_ip: None,
            cbr_payload: 0,
            overflow_in_cyc: config.errata.overflow_in_cyc,
        }
    }

    /// Pushes a chunk; the clock begins anew at one that does not follow the last.
    pub(super) fn push(&mut self, chunk: TraceChunk<'t>) {
        self.packets.push(chunk);
        if !chunk.consecutive {
            self.clock.restart(chunk.reference);
        }
    }

    #[inline]
    pub(super) fn packets(&self) -> &PacketStream<'t> {
        &self.packets
    }

    #[inline]
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    #[inline]
    pub(super) fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    #[inline]
    pub(super) fn processor(&self) -> &Processor {
        &self.processor
    }

    #[inline]
    pub(super) fn processor_mut(&mut self) -> &mut Processor {
        &mut self.processor
    }

    /// The payload of the last CBR packet.
    pub(super) fn cbr_payload(&self) -> u16 {
        self.cbr_payload
    }

    /// The packets behind the last one, as far as the chunk goes.
    pub(super) fn ahead(&self) -> PacketReader<'t> {
        self.packets.ahead()
    }

    /// The next packet of any kind; `None` at the end of the chunk.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Result<Packet, BadPacket>> {
        self.packets.next()
    }

    /// Goes to the next PSB; false if there is none in the trace so far.
    pub(super) fn find_psb(&mut self) -> bool {
        self.packets.find_psb()
    }

    /// Reads a TNT packet of one byte, if it comes next.
    #[inline(always)]
    pub(super) fn next_short_tnt(&mut self) -> Option<u8> {
        let byte = self.packets.next_short_tnt()?;
        self.clock.other_packet();
        Some(byte)
    }

    /// Reads a TIP packet, if it comes next.
    #[inline(always)]
    pub(super) fn next_tip(&mut self) -> Option<Ip> {
        let ip = self.packets.next_tip()?;
        self.clock.other_packet();
        Some(ip)
    }

    /// Applies a packet to the clock. So many instructions ran before it.
    #[inline]
    pub(super) fn on_timing(
        &mut self,
        packet: Packet,
        instructions: u64,
        in_psb_plus: bool,
    ) -> Timing {
        let tracing = self.processor.is_tracing();
        match packet {
            Packet::Cyc(count) if self.overflow_in_cyc && self.is_cut_cyc(count) => {
                self.packets.next();
                return Timing::Overflow;
            }
            Packet::Cyc(count) => self.clock.on_cyc(count, tracing, instructions),
            Packet::Mtc(mtc) => {
                let ahead = self.packets.ahead();
                self.clock.on_mtc(mtc, tracing, instructions, ahead);
            }
            Packet::Tsc(tsc) => self.clock.on_tsc(tsc, instructions),
            Packet::Tma(tma) => self.clock.on_tma(tma, tracing, in_psb_plus),
            Packet::Cbr(payload) => {
                self.clock.on_cbr(payload as u8, tracing);
                self.cbr_payload = payload;
                return Timing::Ratio;
            }
            _ => {
                self.clock.other_packet();
                return Timing::None;
            }
        }
        Timing::Applied
    }

    /// True if the bytes of a CYC packet and of the one behind it are an OVF packet behind a byte of CYC.
    fn is_cut_cyc(&self, count: u64) -> bool {
        const SECOND_BYTE_2: std::ops::RangeInclusive<u64> = 0x20..=0x3f;
        const BYTE_F3: Packet = Packet::Cyc(0x1e);
        SECOND_BYTE_2.contains(&count) && matches!(self.packets.ahead().next(), Some(Ok(BYTE_F3)))
    }

    /// The time of the last PSB+, as its TSC packet gives it.
    pub(super) fn psb_time(&self) -> Option<Tsc> {
        self.clock.tsc().or(self.clock.time())
    }

    /// The address of a packet, which becomes the last one.
    #[inline]
    pub(super) fn resolve(&mut self, ip: Ip) -> Option<u64> {
        let address = ip.resolve(self.last_ip.unwrap_or_default())?;
        self.last_ip = Some(address);
        Some(address)
    }

    /// The address of a packet, if what it leaves out is known.
    pub(super) fn resolve_complete(&mut self, ip: Ip) -> Option<u64> {
        if self.last_ip.is_some() || ip.is_complete() {
            self.resolve(ip)
        } else {
            None
        }
    }

    /// The address that compressed ones refer to.
    pub(super) fn last_ip(&self) -> Option<u64> {
        self.last_ip
    }

    pub(super) fn set_last_ip(&mut self, ip: Option<u64>) {
        self.last_ip = ip;
    }

    /// Goes on at a checkpoint, with the trace behind it.
    pub(super) fn restore(&mut self, from: &Checkpoint, chunk: TraceChunk<'t>) {
        self.packets.push(TraceChunk {
            consecutive: false,
            offset: from.offset,
            ..chunk
        });
        self.processor.restore(from);
        self.cbr_payload = from.cbr_payload;
        self.clock = from.clock.clone();
        self.last_ip = Some(from.ip);
    }
}
