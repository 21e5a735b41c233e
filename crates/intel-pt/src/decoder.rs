//! The decoder: trace bytes and code in, items out.
//!
//! Each layer owns the one below it and calls its methods alone: [`Follower`] acts on packets, [`emitter`] makes items with
//! their moments, [`walker`] walks over code, [`timed_packets`] keeps clocks and the state of the processor, and
//! [`packet_stream`] joins chunks.

mod access;
mod checkpoint;
mod emitter;
mod follower;
mod limit;
mod packet_stream;
mod processor;
mod psb_scanner;
mod timed_packets;
mod walker;

use crate::code::CodeSource;
use crate::config::{Config, EmitOptions};
use crate::item::{Item, Tsc};
use crate::note::Note;
pub use checkpoint::Checkpoint;
use follower::Follower;
use limit::Limits;
pub use packet_stream::TraceChunk;
pub use psb_scanner::PsbScanner;

/// Follows the flow of control through a trace.
///
/// [`TraceChunk`]s of one processor's (or thread's) trace and asked for one [`Item`] after the other:
///
/// ```
/// use intel_pt::{Config, Decoder, FlatCode, Item, TraceChunk, EmitOptions};
/// // nop; jnz -3; and a trace in which the branch is taken once.
/// let mut code = FlatCode::new(0x1000, vec![0x90, 0x75, 0xfd]);
/// let psb = [0x02, 0x82].repeat(8);
/// let trace = [&psb[..], &[0x02, 0x23, 0x71, 0x00, 0x10, 0, 0, 0, 0, 0x06]].concat();
/// let mut decoder = Decoder::new(Config::default(), EmitOptions { paths: true, ..EmitOptions::default() });
/// decoder.push(TraceChunk { bytes: &trace, offset: 0, consecutive: false, reference: None });
/// assert_eq!(decoder.next(&mut code), Item::Begin { to: 0x1000, enabled: true, end: false });
/// assert_eq!(decoder.next(&mut code), Item::Path);
/// let branches: Vec<_> = decoder.branches().map(|branch| (branch.from.ip, branch.to)).collect();
/// assert_eq!(branches, [(0x1001, Some(0x1000))]);
/// assert_eq!(decoder.next(&mut code), Item::End);
/// ```
#[derive(Debug)]
pub struct Decoder<'t> {
    follower: Follower<'t>,
    limits: Limits,
}

impl<'t> Decoder<'t> {
    /// A decoder that waits for its first chunk of trace.
    pub fn new(config: Config, options: EmitOptions) -> Decoder<'t> {
        Decoder {
            follower: Follower::new(&config, options),
            limits: Limits::default(),
        }
    }

    /// Pushes the next chunk of the trace; the unread part of the last one is dropped.
    ///
    /// A consecutive chunk goes on where the last one ended, even within a packet. Any other begins anew. Some packets
    /// refer to later ones, which are looked for within the chunk alone, as in perf: those with the value of an emulated
    /// PTWRITE, and the MTC packet up to which the length of a cycle is measured.
    pub fn push(&mut self, chunk: TraceChunk<'t>) {
        self.follower.push(chunk);
    }

    /// Sets the items that are emitted from where decoding is resumed.
    pub fn set_emit_options(&mut self, options: EmitOptions) {
        self.follower.emitter_mut().set_options(options);
    }

    /// From here on [`Item::Pause`] comes instead of the items of packets at this time or later.
    pub fn set_limit(&mut self, limit: Option<Tsc>) {
        self.limits.set_time(limit);
    }

    /// The limit that was set.
    pub fn limit(&self) -> Option<Tsc> {
        self.limits.time()
    }

    /// From here on [`Item::Pause`] comes where the packet at this place in the trace, or a later one, is next.
    pub fn set_stop(&mut self, stop: Option<u64>) {
        self.limits.set_stop(stop);
    }

    /// The next item. After [`Item::End`] the next chunk can be pushed.
    pub fn next(&mut self, code: &mut impl CodeSource) -> Item {
        if let Some(item) = self.follower.emitter_mut().next_queued() {
            return item;
        }
        let paused = self.limits.take_pause();
        let walker = self.follower.emitter_mut().walker_mut();
        walker.follow_code(code, paused);
        loop {
            if let Some(item) = self.follower.finish_pending(code) {
                return item;
            }
            if self.limits.are_reached(&mut self.follower, code) {
                return self.follower.emitter_mut().emit_at_once(Item::Pause);
            }
            if let Some(item) = self.follower.step(code) {
                return item;
            }
            let walker = self.follower.emitter_mut().walker_mut();
            if walker.is_full() {
                walker.forget_code(code);
            }
        }
    }

    /// From here on every step is noted, which takes a multiple of the time: [`Decoder::take_notes`] has them.
    pub fn keep_notes(&mut self) {
        self.follower.emitter_mut().keep_notes();
    }

    /// The steps since this was last called, in order. Those that led to an item are there when the item is.
    pub fn take_notes(&mut self) -> impl Iterator<Item = Note> + '_ {
        self.follower.emitter_mut().take_notes()
    }
}
