//! Decoding the queues up to a moment, the one that is furthest behind first.

use std::io::Write;
use std::ops::ControlFlow;

use intel_pt::{CodeAddress, ErrorKind, Item, Tsc};
use oxperf_abi::{PerfTime, RecordType, Tid};
use oxperf_data::RawRecord;
use oxperf_machine::Machine;
use oxperf_session::Sink;
use oxperf_wire::Cursor;
use oxperf_wire::kernel::TaskEvent;
use oxperf_wire::user::AuxtraceError;

use super::Tracer;
use crate::code::ThreadCode;
use crate::decoded::DecodedItem;
use crate::errors::{is_reported, trace_error_record};
use crate::log::{Log, line};
use crate::queue::QueueDecoder;
use crate::window::{Seeker, earliest};

/// The reason why decoding halts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    /// The time limit is reached, or the end.
    Limit,
    /// Another buffer was begun.
    Buffer,
    /// The trace from here on can be shared out.
    Stop,
}

impl<S: Sink> Tracer<'_, '_, S> {
    /// Decodes up to the first time stamp of each queue; trace before it is nowhere in time.
    fn begin(&mut self, machine: &mut Machine) {
        if std::mem::replace(&mut self.begun, true) || self.synthesizer.plan.timeless {
            return;
        }
        self.synthesizer.images.grow(machine);
        for index in 0..self.queues.len() {
            if !self.jump_to_start(machine, index) {
                self.find_first_time(machine, index);
            }
        }
    }

    /// Begins a queue at the first moment that is asked for, if it can begin there.
    fn jump_to_start(&mut self, machine: &mut Machine, index: usize) -> bool {
        let traced = &mut self.queues[index];
        let seeker = self.bounds.start.map(|start| Seeker {
            config: &self.synthesizer.plan.config,
            emit: self.emit,
            start,
        });
        let Some(start) = seeker.and_then(|seeker| seeker.find(&traced.queue.feed)) else {
            return false;
        };
        self.left_out += start.checkpoint.offset();
        let code = ThreadCode {
            machine,
            images: &self.synthesizer.images,
            thread: None,
        };
        traced.queue.begin_at(start, &code);
        traced.state.cbr_seen = traced.queue.decoder.cbr();
        true
    }

    /// Decodes a queue up to its first time stamp.
    fn find_first_time(&mut self, machine: &mut Machine, index: usize) {
        let queue = &mut self.queues[index].queue;
        if let Some(log) = &mut self.log {
            log.begin_queue(&self.synthesizer.plan);
            line!(log.text(), "queue {} getting timestamp", queue.number);
            log.decode(queue);
        }
        queue.decoder.set_limit(Some(Tsc(0)));
        let mut code = ThreadCode {
            machine,
            images: &self.synthesizer.images,
            thread: None,
        };
        queue.reached = loop {
            let item = queue.decoder.next(&mut code);
            if let Some(log) = &mut self.log {
                log.item(item, queue, &code, self.sink);
            }
            match item {
                Item::Pause => {
                    let time = queue.decoder.moment().time;
                    break Some(time.map_or(0, |time| time.0));
                }
                Item::End if !next_buffer(queue, self.log.as_mut()) => break None,
                _ => {}
            }
        };
        if let Some(log) = &mut self.log {
            log.queue_begun(queue);
        }
    }

    /// Decodes everything before a moment, or all that is left.
    pub(super) fn advance(&mut self, machine: &mut Machine, until: Option<u64>) -> ControlFlow<()> {
        self.begin(machine);
        self.synthesizer.images.grow(machine);
        loop {
            let mut waiting: Vec<(u64, usize)> = self
                .queues
                .iter()
                .enumerate()
                .filter_map(|(index, traced)| Some((traced.queue.reached?, index)))
                .collect();
            waiting.sort_unstable();
            let Some((reached, index)) = waiting.first().copied() else {
                return ControlFlow::Continue(());
            };
            if until.is_some_and(|until| reached >= until) {
                return ControlFlow::Continue(());
            }
            // Another queue's turn comes when this one is past it.
            let next = waiting.get(1).map(|(next, _)| next.saturating_add(1));
            let limit = self.bounds.limit(reached, earliest(next, until));
            self.set_running(machine, index);
            if let Some(log) = &mut self.log {
                let queue = &self.queues[index].queue;
                line!(
                    log.text(),
                    "queue {} processing {reached:#x} to {:#x}",
                    queue.number,
                    until.unwrap_or(u64::MAX)
                );
                log.decode(queue);
            }
            self.decode(machine, index, limit)?;
            if self.bounds.end.is_some_and(|end| reached >= end) {
                self.queues[index].queue.reached = None;
            }
        }
    }

    /// Decodes a queue up to a moment, or to its end.
    fn decode(
        &mut self,
        machine: &mut Machine,
        index: usize,
        limit: Option<u64>,
    ) -> ControlFlow<()> {
        loop {
            let traced = &mut self.queues[index];
            traced.state.prefix.forget();
            let queue = &mut traced.queue;
            queue.decoder.set_limit(limit.map(Tsc));
            let stop = match queue.stop {
                Some(stop) => stop,
                None => self.pool.next_stop(&queue.decoder, queue.shared_to),
            };
            queue.stop = Some(stop);
            queue.decoder.set_stop(stop);
            let halt = self.decode_items(machine, index, limit)?;
            let mut cx = self.queues[index].context(machine, self.sink);
            self.synthesizer.hand_over_text(&mut cx)?;
            match halt {
                Halt::Limit => return ControlFlow::Continue(()),
                Halt::Buffer => {}
                Halt::Stop => {
                    if self.share_out(machine, index)? == Halt::Limit {
                        return ControlFlow::Continue(());
                    }
                }
            }
            self.queues[index].queue.stop = None;
        }
    }

    /// Decodes a queue until something is to be decided.
    pub(super) fn decode_items(
        &mut self,
        machine: &mut Machine,
        index: usize,
        limit: Option<u64>,
    ) -> ControlFlow<(), Halt> {
        if let Some(item) = self.queues[index].queue.held.take() {
            self.take_item(machine, index, &item)?;
        }
        loop {
            let traced = &mut self.queues[index];
            let queue = &mut traced.queue;
            let mut code = queue.code(machine, &self.synthesizer.images);
            let item = queue.decoder.next(&mut code);
            if let Some(log) = &mut self.log {
                log.item(item, queue, &code, self.sink);
            }
            match item {
                Item::Path => {
                    let mut cx = traced.context(machine, self.sink);
                    self.synthesizer.path(&mut cx)?;
                }
                Item::Address { ip } => {
                    let mut cx = traced.context(machine, self.sink);
                    self.synthesizer.address(&mut cx, ip)?;
                }
                Item::Pause => {
                    let time = queue.decoder.moment().time.map(|time| time.0);
                    if !is_reached(limit, time) {
                        return ControlFlow::Continue(Halt::Stop);
                    }
                    queue.reached = time;
                    return ControlFlow::Continue(Halt::Limit);
                }
                Item::End if next_buffer(queue, self.log.as_mut()) => {
                    return ControlFlow::Continue(Halt::Buffer);
                }
                Item::End => {
                    (queue.reached, queue.ended) = (None, true);
                    return ControlFlow::Continue(Halt::Limit);
                }
                item => {
                    let item = DecodedItem::new(item, &queue.decoder);
                    let mut cx = traced.context(machine, self.sink);
                    self.synthesizer.hand_over_text(&mut cx)?;
                    let queue = &mut traced.queue;
                    let entered = item.enters_user_at(&queue.prior);
                    let entered = entered.map(|time| time.0);
                    if is_reached(limit, entered) {
                        (queue.reached, queue.held) = (entered, Some(item));
                        return ControlFlow::Continue(Halt::Limit);
                    }
                    self.take_item(machine, index, &item)?;
                }
            }
        }
    }

    /// Takes an item that is no path.
    pub(super) fn take_item(
        &mut self,
        machine: &mut Machine,
        index: usize,
        item: &DecodedItem,
    ) -> ControlFlow<()> {
        let traced = &mut self.queues[index];
        let Item::Error(error) = item.item else {
            let mut cx = traced.context(machine, self.sink);
            return self.synthesizer.item(&mut cx, item);
        };
        let queue = &mut traced.queue;
        queue.errors += 1;
        let at = CodeAddress {
            ip: error.ip.unwrap_or(0),
            guest: item.moment.mode.guest,
        };
        let object = queue
            .code(machine, &self.synthesizer.images)
            .object_without_code(at)
            .filter(|_| error.kind == ErrorKind::MissingCode);
        if object.is_some_and(|object| self.missing_code.is_known(object)) {
            self.log_error(error.kind, None);
            return ControlFlow::Continue(());
        }
        queue.apply_time(item.time_update(&queue.prior));
        let code = error.kind.perf_code();
        if !is_reported(&self.synthesizer.options.errors, code) {
            self.log_error(error.kind, None);
            return ControlFlow::Continue(());
        }
        self.errors += 1;
        let time = self.synthesizer.time(queue.timestamp);
        let ip = error.ip.unwrap_or(0);
        let record = trace_error_record(code, queue.running, ip, time);
        self.log_error(error.kind, Some(&record));
        self.sink.trace_error(machine, &record)
    }

    fn log_error(&mut self, kind: ErrorKind, record: Option<&AuxtraceError<'_>>) {
        if let Some(log) = &mut self.log {
            log.error(kind, record, self.sink);
        }
    }

    /// Decodes queues without time, those of one thread or all.
    pub(super) fn decode_timeless(
        &mut self,
        machine: &mut Machine,
        tid: Option<Tid>,
    ) -> ControlFlow<()> {
        self.synthesizer.images.grow(machine);
        for index in 0..self.queues.len() {
            let queue = &self.queues[index].queue;
            if !queue.ended && tid.is_none_or(|tid| queue.running.tid == tid) {
                self.set_running(machine, index);
                if let Some(log) = &mut self.log {
                    log.decode(&self.queues[index].queue);
                }
                self.decode(machine, index, None)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Decodes the code that ran before a record.
    pub(super) fn decode_before(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        time: Option<PerfTime>,
    ) -> ControlFlow<()> {
        if self.synthesizer.plan.timeless {
            if record.header.kind != RecordType::EXIT {
                return ControlFlow::Continue(());
            }
            return match TaskEvent::decode(&mut Cursor::new(record.body, self.endian)) {
                Ok(exit) => self.decode_timeless(machine, Some(exit.tid)),
                Err(_) => ControlFlow::Continue(()),
            };
        }
        let time = time.filter(|time| time.0 != 0 && time.0 != u64::MAX);
        match time.zip(self.trace.info.clock) {
            Some((time, clock)) => self.advance(machine, Some(clock.tsc(time))),
            None => ControlFlow::Continue(()),
        }
    }
}

/// True when a time has come to the limit, if both are known.
fn is_reached(limit: Option<u64>, time: Option<u64>) -> bool {
    limit.zip(time).is_some_and(|(limit, time)| time >= limit)
}

/// Goes on to the next buffer; false at the end.
fn next_buffer(queue: &mut QueueDecoder<'_>, log: Option<&mut Log>) -> bool {
    let found = queue.feed.advance(&mut queue.decoder);
    if let Some(log) = log {
        log.feed(queue, found);
    }
    found
}
