//! The Firefox Profiler's processed profile: a track for each thread, with its samples at their times.
//!
//! Every thread has tables of its own for stacks, frames, functions, objects and texts; they hold what its samples use.

mod tables;

use std::io::{self, Write};

use super::Exported;
use super::threads::{Lane, lanes};
use crate::json::string;
use crate::text::unit::WeightUnit;
use tables::Tables;

/// The version of the format that these fields are of; the reader brings older ones up to date.
const VERSION: u32 = 55;
const NANOS_PER_MILLI: f64 = 1e6;

/// Everything but the samples' unit, categories and times is the same for each file.
const META: &str = concat!(
    "\"categories\":[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},",
    "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},",
    "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]}],",
    "\"debug\":false,\"extensions\":{\"length\":0,\"baseURL\":[],\"id\":[],\"name\":[]},",
    "\"processType\":0,\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},",
    "\"startTime\":0,\"symbolicated\":true,\"pausedRanges\":[],\"version\":24,",
    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[]"
);

pub(super) fn write(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let lanes = lanes(exported);
    let mut text = Vec::new();
    text.extend_from_slice(b"{\"meta\":{\"product\":");
    string::write(exported.title, &mut text);
    write!(
        text,
        ",\"interval\":{},\"preprocessedProfileVersion\":{VERSION},{META}}}",
        interval(&lanes)
    )?;
    text.extend_from_slice(b",\"libs\":[");
    for (index, dso) in exported.tree.dsos.iter().enumerate() {
        separate(index, &mut text);
        write_lib(&dso.name, &dso.path, &mut text)?;
    }
    text.extend_from_slice(b"],\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\"threads\":[");
    for (index, lane) in lanes.iter().enumerate() {
        separate(index, &mut text);
        write_thread(exported, &lanes, lane, &mut text)?;
        out.write_all(&text)?;
        text.clear();
    }
    out.write_all(&text)?;
    out.write_all(b"]}\n")
}

/// The mean time between the samples of a thread, in milliseconds: how wide the reader draws one.
fn interval(lanes: &[Lane]) -> f64 {
    let spans = lanes.iter().filter_map(|lane| {
        let (first, last) = (lane.samples.first()?, lane.samples.last()?);
        Some((
            last.since_start.saturating_sub(first.since_start),
            lane.samples.len() as u64 - 1,
        ))
    });
    let (time, count) = spans.fold((0u64, 0u64), |sum, span| {
        (sum.0.saturating_add(span.0), sum.1 + span.1)
    });
    if count == 0 || time == 0 {
        1.0
    } else {
        time as f64 / count as f64 / NANOS_PER_MILLI
    }
}

fn write_lib(name: &str, path: &str, text: &mut Vec<u8>) -> io::Result<()> {
    for (key, value) in [
        ("{\"name\":", name),
        (",\"path\":", path),
        (",\"debugName\":", name),
        (",\"debugPath\":", path),
    ] {
        text.extend_from_slice(key.as_bytes());
        string::write(value, text);
    }
    write!(
        text,
        ",\"breakpadId\":\"{:033}\",\"codeId\":null,\"arch\":null}}",
        0
    )
}

fn write_thread(
    exported: &Exported<'_>,
    lanes: &[Lane],
    lane: &Lane,
    text: &mut Vec<u8>,
) -> io::Result<()> {
    let process = lanes
        .iter()
        .find(|other| other.thread.pid == lane.thread.pid && other.is_main());
    let main = process.unwrap_or(lane);
    let start = lane.samples.first().map_or(0, |sample| sample.since_start);
    text.extend_from_slice(b"{\"name\":");
    string::write(lane.name(exported), text);
    text.extend_from_slice(b",\"processName\":");
    string::write(main.name(exported), text);
    let (pid, tid) = (lane.thread.pid.0, lane.thread.tid.0);
    write!(
        text,
        ",\"isMainThread\":{},\"pid\":\"{pid}\",\"tid\":{tid}",
        lane.is_main()
    )?;
    write!(
        text,
        ",\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null"
    )?;
    write!(
        text,
        ",\"registerTime\":{},\"unregisterTime\":null",
        millis(start)
    )?;
    write!(text, ",\"pausedRanges\":[],\"showMarkersInTimeline\":false")?;
    write!(
        text,
        ",\"markers\":{{\"length\":0,\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],\"startTime\":[]}}"
    )?;
    let mut tables = Tables::default();
    let stacks: Vec<Option<u32>> = lane
        .samples
        .iter()
        .map(|sample| tables.stack(exported, sample.node))
        .collect();
    write_samples(exported, lane, &stacks, text)?;
    tables.write(exported, text)?;
    text.push(b'}');
    Ok(())
}

fn write_samples(
    exported: &Exported<'_>,
    lane: &Lane,
    stacks: &[Option<u32>],
    text: &mut Vec<u8>,
) -> io::Result<()> {
    write!(
        text,
        ",\"samples\":{{\"length\":{},\"weightType\":\"samples\",\"weight\":null",
        stacks.len()
    )?;
    column("stack", stacks, text, |stack, text| match stack {
        Some(stack) => write!(text, "{stack}"),
        None => text.write_all(b"null"),
    })?;
    if exported.unit() == WeightUnit::Nanoseconds {
        column("threadCPUDelta", &lane.samples, text, |sample, text| {
            write!(text, "{}", sample.period)
        })?;
    }
    column("time", &lane.samples, text, |sample, text| {
        write!(text, "{}", millis(sample.since_start))
    })?;
    text.push(b'}');
    Ok(())
}

/// Appends one column of a table.
fn column<T>(
    name: &str,
    values: &[T],
    text: &mut Vec<u8>,
    mut value: impl FnMut(&T, &mut Vec<u8>) -> io::Result<()>,
) -> io::Result<()> {
    write!(text, ",\"{name}\":[")?;
    for (index, item) in values.iter().enumerate() {
        separate(index, text);
        value(item, text)?;
    }
    text.push(b']');
    Ok(())
}

fn separate(index: usize, text: &mut Vec<u8>) {
    if index > 0 {
        text.push(b',');
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / NANOS_PER_MILLI
}

impl Lane {
    fn is_main(&self) -> bool {
        self.thread.pid.0 == self.thread.tid.0
    }
}
