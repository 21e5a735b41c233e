//! `--per-event-dump`: the samples of each event in a file of its own, beside the recording.

use std::io;

use oxperf_ordered::BackgroundWriter;
use oxperf_present::text::sanitize;
use oxperf_session::{EventIndex, SampleTextWriter};

use crate::error::ScriptError;
use crate::event_style::EventStyle;
use crate::format::{SampleFormat, Written};
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// The file of an event.
pub struct EventDump {
    name: String,
    writer: BackgroundWriter,
    samples: u64,
}

impl EventDump {
    /// A file of this name, open for writing.
    pub fn new(name: String, writer: BackgroundWriter) -> EventDump {
        EventDump {
            name,
            writer,
            samples: 0,
        }
    }
}

/// Writes samples to the files of their events; without files, to the output.
pub struct EventDumps<F> {
    files: Vec<EventDump>,
    inner: F,
}

impl<F> EventDumps<F> {
    /// Writes what `inner` makes of samples to the files, by event.
    pub fn new(files: Vec<EventDump>, inner: F) -> EventDumps<F> {
        EventDumps { files, inner }
    }
}

impl<F: SampleFormat> SampleFormat for EventDumps<F> {
    type Inner = F;

    fn inner(&mut self) -> Option<&mut F> {
        Some(&mut self.inner)
    }

    #[inline]
    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        let Some(file) = self.files.get_mut(view.event.event.0) else {
            let printed = self.inner.sample(view, out);
            if !self.files.is_empty() {
                printed?;
                return out.fill(view.machine.objects());
            }
            return printed;
        };
        file.samples += 1;
        std::mem::swap(&mut file.writer, &mut out.writer);
        let printed = self.inner.sample(view, out);
        let settled = printed
            .and_then(|()| out.fill(view.machine.objects()))
            .and_then(|()| out.writer.settle());
        std::mem::swap(&mut file.writer, &mut out.writer);
        settled
    }

    fn text_writer<'w>(
        &mut self,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<std::sync::Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        if self.files.is_empty() {
            self.inner.text_writer(event, styles)
        } else {
            None
        }
    }

    fn finish(&mut self) -> Result<Written, ScriptError> {
        let mut written = self.inner.finish()?;
        for dump in self.files.drain(..) {
            let megabytes = dump.writer.finish()? as f64 / f64::from(1 << 20);
            let (name, samples) = (sanitize(&dump.name), dump.samples);
            written.messages.push(format!(
                "[ perf script: Wrote {megabytes:.3} MB {name} ({samples} samples) ]"
            ));
        }
        Ok(written)
    }
}
