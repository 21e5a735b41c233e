//! `--per-event-dump`: the samples of each event in a file of its own, beside the recording.

use std::io;
use std::path::Path;

use oxperf_present::text::sanitize;
use oxperf_sys::files::create_output;

use super::view::EventView;
use crate::failure::Failure;
use crate::output::{Output, print_line};

/// One file for each event.
pub(super) struct Dumps {
    files: Vec<Dump>,
}

struct Dump {
    name: String,
    output: Output,
    samples: u64,
}

impl Dumps {
    /// Makes the files. The name of an event may hold what separates folders: these become underscores.
    pub(super) fn create(recording: &Path, views: &[EventView]) -> Result<Dumps, Failure> {
        let create = |view: &EventView| {
            let event = view.name.replace(['/', '\0'], "_");
            let name = format!("{}.{event}.dump", recording.display());
            let file = create_output(Path::new(&name)).map_err(|error| {
                Failure::new(format!(
                    "Couldn't create the per event dump files: {name}: {error}"
                ))
            })?;
            Ok(Dump {
                name,
                output: Output::new(file),
                samples: 0,
            })
        };
        Ok(Dumps {
            files: views.iter().map(create).collect::<Result<_, Failure>>()?,
        })
    }

    /// Exchanges an event's file with another output.
    pub(super) fn exchange(&mut self, event: usize, output: &mut Output) {
        if let Some(dump) = self.files.get_mut(event) {
            std::mem::swap(&mut dump.output, output);
        }
    }

    /// Counts a sample of an event.
    pub(super) fn count(&mut self, event: usize) {
        if let Some(dump) = self.files.get_mut(event) {
            dump.samples += 1;
        }
    }

    /// Writes out what is left, and tells of every file.
    pub(super) fn finish(self) -> io::Result<()> {
        self.files.into_iter().try_for_each(|dump| {
            let megabytes = dump.output.finish()? as f64 / f64::from(1 << 20);
            let (name, samples) = (sanitize(&dump.name), dump.samples);
            print_line(&format!(
                "[ perf script: Wrote {megabytes:.3} MB {name} ({samples} samples) ]"
            ))
        })
    }
}
