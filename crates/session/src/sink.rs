//! The receiver of what a session reads: records, samples, damage.

use std::ops::ControlFlow;
use std::sync::Arc;

use oxperf_abi::{FileOffset, Misc};
use oxperf_data::{Damage, RawRecord};
use oxperf_machine::{Machine, ThreadId};
use oxperf_wire::user::AuxtraceError;
use oxperf_wire::{Sample, SampleId};

use crate::{EventIndex, EventTable, SampleTextWriter, Traced};

/// Receives what a session reads.
///
/// A sink that stands in front of another names it as [`Inner`](Sink::Inner) and returns it from
/// [`inner`](Sink::inner): every method that it does not define goes there. A sink at the end of the line has
/// [`NoSink`] behind it and ignores what it does not define. `Break` from any method ends the session.
///
/// ```
/// use std::ops::ControlFlow;
/// use oxperf_machine::Machine;
/// use oxperf_session::{NoSink, SampleEvent, Sink};
///
/// struct Count(usize);
/// impl Sink for Count {
///     type Inner = NoSink;
///     fn inner(&mut self) -> Option<&mut NoSink> {
///         None
///     }
///     fn sample(&mut self, _: &mut Machine, _: &SampleEvent<'_>) -> ControlFlow<()> {
///         self.0 += 1;
///         ControlFlow::Continue(())
///     }
/// }
///
/// /// Passes on the samples of user space, and everything that is no sample.
/// struct UserOnly<S>(S);
/// impl<S: Sink> Sink for UserOnly<S> {
///     type Inner = S;
///     fn inner(&mut self) -> Option<&mut S> {
///         Some(&mut self.0)
///     }
///     fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
///         match event.misc.cpu_mode() {
///             oxperf_abi::CpuMode::User => self.0.sample(machine, event),
///             _ => ControlFlow::Continue(()),
///         }
///     }
/// }
/// # let _ = UserOnly(Count(0)).inner();
/// ```
pub trait Sink {
    /// The sink behind this one; [`NoSink`] for the last.
    type Inner: Sink;

    /// The sink that receives what this one does not define; `None` for the last.
    fn inner(&mut self) -> Option<&mut Self::Inner>;

    /// A record of any kind when its turn has come, before it is decoded and counts: no later call need follow for it.
    /// Without an event it is a tool's, or its id is not listed.
    #[inline]
    fn record(
        &mut self,
        machine: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.record(machine, record, event),
            None => ControlFlow::Continue(()),
        }
    }

    /// A sample; the machine is as it was at that moment.
    #[inline]
    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.sample(machine, event),
            None => ControlFlow::Continue(()),
        }
    }

    /// `true` asks for batches of samples before their turn, by [`Sink::prefetch`].
    fn wants_batches(&mut self) -> bool {
        self.inner().is_some_and(Sink::wants_batches)
    }

    /// Samples whose turn comes next, in their order; nothing between them changes the machine. Each is handed over
    /// afterwards, with its index among these: see [`SampleEvent::prefetched`].
    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        if let Some(inner) = self.inner() {
            inner.prefetch(machine, samples);
        }
    }

    /// The writer of an event's samples, if moment and place alone decide their text: samples that are made of
    /// hardware trace may then come as text, by [`Sink::sample_text`].
    fn text_writer<'w>(&mut self, event: EventIndex) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        self.inner()?.text_writer(event)
    }

    /// Samples as the event's [`SampleTextWriter`] wrote them, in order; `common` has the fields that they share.
    fn sample_text(
        &mut self,
        machine: &Machine,
        common: &SampleEvent<'_>,
        text: &[u8],
    ) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.sample_text(machine, common, text),
            None => ControlFlow::Continue(()),
        }
    }

    /// A kernel record that is no sample, after it was applied to the machine; an EXIT before, while its thread is
    /// still known.
    fn sideband(&mut self, machine: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.sideband(machine, event),
            None => ControlFlow::Continue(()),
        }
    }

    /// A stretch of the recording that cannot be read, in file order: before the records that wait for their turn.
    fn damage(&mut self, damage: &Damage) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.damage(damage),
            None => ControlFlow::Continue(()),
        }
    }

    /// A stream describes or renames the event at `index` of `events` between its samples. `false` refuses further
    /// events: the samples of a new one then belong to no listed event.
    fn event_update(&mut self, events: &EventTable, index: EventIndex) -> bool {
        self.inner()
            .is_some_and(|inner| inner.event_update(events, index))
    }

    /// The end of a recorder's round: it has emptied every ring once more.
    fn round(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.round(machine),
            None => ControlFlow::Continue(()),
        }
    }

    /// The end of the recording: every record was delivered.
    fn end(&mut self, machine: &mut Machine) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.end(machine),
            None => ControlFlow::Continue(()),
        }
    }

    /// A piece of the log of a decoder of hardware trace.
    fn log(&mut self, text: &[u8]) {
        if let Some(inner) = self.inner() {
            inner.log(text);
        }
    }

    /// A stretch of hardware trace that its decoder could not follow, between the samples around it.
    fn trace_error(&mut self, machine: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        match self.inner() {
            Some(inner) => inner.trace_error(machine, error),
            None => ControlFlow::Continue(()),
        }
    }
}

/// The end of every line of sinks. It has no values: a sink with nothing behind it returns `None` from
/// [`Sink::inner`].
#[derive(Debug)]
pub enum NoSink {}

impl Sink for NoSink {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        match *self {}
    }
}

/// A kernel record that is no sample, on its way to the sink.
#[derive(Clone, Copy, Debug)]
pub struct SidebandEvent<'a> {
    /// The event it belongs to.
    pub event: EventIndex,
    /// The framed record.
    pub record: RawRecord<'a>,
    /// Thread, time and CPU, from its trailer.
    pub id: SampleId,
}

/// A sample on its way to the sink.
#[derive(Clone, Copy, Debug)]
pub struct SampleEvent<'a> {
    /// The event it belongs to.
    pub event: EventIndex,
    /// Offset of its record in the file.
    pub offset: FileOffset,
    /// Its record's flags.
    pub misc: Misc,
    /// The decoded fields.
    pub sample: Sample<'a>,
    /// Its thread.
    pub thread: ThreadId,
    /// Events that it stands for: its own period, or the event's fixed one.
    pub period: u64,
    /// Further facts of a sample that was made of hardware trace.
    pub traced: Option<Traced>,
    /// Its index among the samples of the last [`Sink::prefetch`], if it was one of them.
    pub prefetched: Option<usize>,
}
