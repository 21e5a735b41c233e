//! The counts of a recording that `stat record` made, as perf's `script` lists them: a line a counter, at the end of each
//! round.

use std::io::{self, Write};

use oxperf_data::RawRecord;
use oxperf_present::text::sanitize;
use oxperf_session::{CountCollector, CounterPlace, EventIndex, EventTable, RecordedCounter};
use oxperf_wire::user::StatRound;

use crate::format::SampleFormat;
use crate::output::ScriptOutput;

/// Lists counts before what `inner` makes of the recording; without a collector it lists none.
pub struct StatRoundsFormat<F> {
    collector: Option<CountCollector>,
    has_heading: bool,
    inner: F,
}

impl<F> StatRoundsFormat<F> {
    /// Lists the counts that a collector takes.
    pub fn new(collector: Option<CountCollector>, inner: F) -> StatRoundsFormat<F> {
        StatRoundsFormat {
            collector,
            has_heading: false,
            inner,
        }
    }
}

impl<F: SampleFormat> SampleFormat for StatRoundsFormat<F> {
    type Inner = F;

    fn inner(&mut self) -> Option<&mut F> {
        Some(&mut self.inner)
    }

    fn events_changed(&mut self, events: &EventTable) {
        if let Some(collector) = &mut self.collector {
            collector.set_events(events);
        }
        self.inner.events_changed(events);
    }

    #[inline]
    fn raw_record(
        &mut self,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
        out: &mut ScriptOutput,
    ) -> io::Result<()> {
        if record.header.kind.is_user()
            && let Some(collector) = &mut self.collector
            && let Some(round) = collector.take(record)
        {
            if !std::mem::replace(&mut self.has_heading, true) {
                heading(out.buffer())?;
            }
            list(collector, round, out.buffer())?;
            collector.begin_round();
            out.writer.settle()?;
        }
        self.inner.raw_record(record, event, out)
    }
}

fn heading(out: &mut Vec<u8>) -> io::Result<()> {
    let [value, enabled, running, time] = ["VAL", "ENA", "RUN", "TIME"];
    writeln!(
        out,
        "CPU   THREAD {value:>15} {enabled:>15} {running:>15} {time:>15} EVENT"
    )
}

/// Appends the counters of all events, thread by thread.
fn list(counts: &CountCollector, round: StatRound, out: &mut Vec<u8>) -> io::Result<()> {
    let scales = counts.settings().is_none_or(|settings| settings.scales);
    for (index, event) in counts.events().iter().enumerate() {
        let mut places = counts.places(index);
        places.sort_unstable_by_key(|place| (place.thread, place.cpu));
        for place in places {
            let reading = event.at(place).map(RecordedCounter::in_round);
            let reading = reading.unwrap_or_default();
            let reading = if scales { reading.scaled() } else { reading };
            let tid = thread_of(counts, place);
            let cpu = place.cpu.map_or(-1, |cpu| i64::from(cpu.0));
            write!(out, "{cpu:>3} {tid:>8} ")?;
            for number in [reading.value, reading.enabled, reading.running] {
                write!(out, "{number:>15} ")?;
            }
            writeln!(out, "{:>15} {}", round.time.0, sanitize(&event.name))?;
        }
    }
    Ok(())
}

/// The id of a counter's thread; -1 for any, and for one that is not listed.
fn thread_of(counts: &CountCollector, place: CounterPlace) -> i32 {
    let thread = counts.threads().get(place.thread as usize);
    thread.and_then(|thread| thread.tid).map_or(-1, |tid| tid.0)
}
