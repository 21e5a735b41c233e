//! The `linux-perf-data` crate, as its documentation shows it.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::Result;
use linux_perf_data::linux_perf_event_reader::{EventRecord, SampleRecord};
use linux_perf_data::{PerfFileReader, PerfFileRecord};

use crate::digest::Digest;

/// Reads every sample.
pub fn samples(path: &Path) -> Result<Digest> {
    let reader = BufReader::new(File::open(path)?);
    let PerfFileReader { mut perf_file, mut record_iter } = PerfFileReader::parse_file(reader)?;
    let mut digest = Digest::default();
    while let Some(record) = record_iter.next_record(&mut perf_file)? {
        let PerfFileRecord::EventRecord { record, .. } = record else { continue };
        if let EventRecord::Sample(sample) = record.parse()? {
            look(&sample, &mut digest);
        }
    }
    Ok(digest)
}

#[inline]
fn look(sample: &SampleRecord<'_>, digest: &mut Digest) {
    digest.sample(&[
        sample.id,
        sample.ip,
        sample.pid.map(|pid| pid as u64),
        sample.tid.map(|tid| tid as u64),
        sample.timestamp,
        sample.addr,
        sample.cpu.map(u64::from),
        sample.period,
        sample.phys_addr,
    ]);
    if let Some(chain) = &sample.callchain {
        digest.chain((0..chain.len()).filter_map(|index| chain.get(index)));
    }
}
