//! This project's reader: records in order, sideband applied to the machine, samples decoded in full.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::Result;
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_session::{NoSink, SampleEvent, Session, Sink};
use oxperf_sys::MappedFile;

use crate::digest::Digest;

/// Reads every sample.
pub fn samples(path: &Path) -> Result<Digest> {
    let file = MappedFile::open(path)?;
    file.expect_sequential();
    let reader = Reader::open(&file)?;
    let mut sink = Look(Digest::default());
    Session::new(&reader).run(&mut sink)?;
    Ok(sink.0)
}

struct Look(Digest);

impl Sink for Look {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    #[inline]
    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let sample = &event.sample;
        self.0.sample(&[
            sample.id.map(|id| id.0),
            sample.ip,
            sample.pid.map(|pid| pid.0 as u64),
            sample.tid.map(|tid| tid.0 as u64),
            sample.time.map(|time| time.0),
            sample.addr,
            sample.cpu.map(|cpu| u64::from(cpu.0)),
            sample.period,
            sample.phys_addr,
        ]);
        self.0.chain(sample.callchain.into_iter().flat_map(|words| words.iter()));
        ControlFlow::Continue(())
    }
}
