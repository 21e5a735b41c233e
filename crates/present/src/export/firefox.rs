//! The Firefox Profiler's processed profile: a track for each thread and event, with its samples at their times.
//!
//! Every track has tables of its own for stacks, frames, functions, objects and texts; they hold what its samples use.
//! Stretches of time on one CPU are markers. A sample weighs its period.

mod libs;
mod tables;

use std::io::{self, Write};

use oxperf_profile::EventProfile;

use super::code::CodeExport;
use crate::json::string;
use crate::text::unit::WeightUnit;
use libs::Libs;
use tables::Tables;
use tracks::{CodeTrack, tracks};

mod tracks;

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
    "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[{\"name\":\"CPU\",",
    "\"display\":[\"marker-chart\",\"marker-table\"],\"chartLabel\":\"{marker.data.cpu}\",",
    "\"tooltipLabel\":\"CPU {marker.data.cpu}\",\"tableLabel\":\"{marker.data.cpu}\",",
    "\"fields\":[{\"key\":\"cpu\",\"label\":\"CPU\",\"format\":\"integer\"}]}]"
);

pub(super) fn write(code: &CodeExport<'_>, out: &mut impl Write) -> io::Result<()> {
    let tracks = tracks(code);
    let libs = Libs::of(code);
    let mut text = Vec::new();
    text.extend_from_slice(b"{\"meta\":{\"product\":");
    string::write(code.title, &mut text);
    write!(
        text,
        ",\"interval\":{},\"preprocessedProfileVersion\":{VERSION},{META}}}",
        interval(&tracks)
    )?;
    libs.write(code, &mut text)?;
    text.extend_from_slice(b",\"pages\":[],\"profilerOverhead\":[],\"counters\":[],\"threads\":[");
    for (index, track) in tracks.iter().enumerate() {
        separate(index, &mut text);
        let main = tracks
            .iter()
            .find(|other| other.thread.pid == track.thread.pid && other.is_main());
        let process = main.unwrap_or(track).name(code);
        write_track(code, &libs, (track, process), &mut text)?;
        out.write_all(&text)?;
        text.clear();
    }
    out.write_all(&text)?;
    out.write_all(b"]}\n")
}

/// The mean time between the samples of a track of the first event, in milliseconds: how wide the reader draws one.
fn interval(tracks: &[CodeTrack]) -> f64 {
    let first_event = tracks.iter().filter(|track| track.event == 0);
    let spans = first_event.filter_map(|track| {
        let (first, last) = (track.samples.first()?, track.samples.last()?);
        Some((
            last.since_start.saturating_sub(first.since_start),
            track.samples.len() as u64 - 1,
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

fn write_track(
    code: &CodeExport<'_>,
    libs: &Libs,
    (track, process): (&CodeTrack, &str),
    text: &mut Vec<u8>,
) -> io::Result<()> {
    let event = code.events.get(track.event).copied();
    let of_event = event.map_or("", |event| event.name.as_str());
    let mut name = track.name(code).to_owned();
    if track.event > 0 {
        name = format!("{name} ({of_event})");
    }
    let start = track.samples.first().map_or(0, |sample| sample.since_start);
    text.extend_from_slice(b"{\"name\":");
    string::write(&name, text);
    text.extend_from_slice(b",\"processName\":");
    string::write(process, text);
    let (pid, tid) = (track.thread.pid.0, track.thread.tid.0);
    let is_main = track.is_main() && track.event == 0;
    write!(text, ",\"isMainThread\":{is_main},\"pid\":\"{pid}\"")?;
    // Tracks of one thread differ in their ids.
    match track.event {
        0 => write!(text, ",\"tid\":{tid}")?,
        nth => write!(text, ",\"tid\":\"{tid}.{nth}\"")?,
    }
    text.extend_from_slice(b",\"eventName\":");
    string::write(of_event, text);
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
    let mut tables = Tables::new(libs);
    write_markers(track, tables.text("CPU"), text)?;
    let stacks: Vec<Option<u32>> = track
        .samples
        .iter()
        .map(|sample| tables.stack(code, sample.chain))
        .collect();
    if let Some(event) = event {
        write_samples(event, track, &stacks, text)?;
    }
    tables.write(code, text)?;
    text.push(b'}');
    Ok(())
}

/// A marker for each stretch of samples on one CPU.
fn write_markers(track: &CodeTrack, name: u32, text: &mut Vec<u8>) -> io::Result<()> {
    let runs = track.samples.chunk_by(|left, right| left.cpu == right.cpu);
    let runs: Vec<(u32, u64, u64)> = runs
        .filter_map(|run| {
            let (first, last) = (run.first()?, run.last()?);
            Some((first.cpu?, first.since_start, last.since_start))
        })
        .collect();
    write!(text, ",\"markers\":{{\"length\":{}", runs.len())?;
    column("category", &runs, text, |_, text| text.write_all(b"0"))?;
    column("data", &runs, text, |(cpu, ..), text| {
        write!(text, "{{\"type\":\"CPU\",\"cpu\":{cpu}}}")
    })?;
    column("startTime", &runs, text, |(_, start, _), text| {
        write!(text, "{}", millis(*start))
    })?;
    column("endTime", &runs, text, |(.., end), text| {
        write!(text, "{}", millis(*end))
    })?;
    column("name", &runs, text, |_, text| write!(text, "{name}"))?;
    // A stretch with a start and an end.
    column("phase", &runs, text, |_, text| text.write_all(b"1"))?;
    text.push(b'}');
    Ok(())
}

fn write_samples(
    event: &EventProfile,
    track: &CodeTrack,
    stacks: &[Option<u32>],
    text: &mut Vec<u8>,
) -> io::Result<()> {
    let is_time = WeightUnit::of_event(&event.name) == WeightUnit::Nanoseconds;
    let kind = if is_time { "tracing-ms" } else { "samples" };
    write!(
        text,
        ",\"samples\":{{\"length\":{},\"weightType\":\"{kind}\"",
        stacks.len()
    )?;
    column(
        "weight",
        &track.samples,
        text,
        |sample, text| match is_time {
            true => write!(text, "{}", millis(sample.period)),
            false => write!(text, "{}", sample.period),
        },
    )?;
    column("stack", stacks, text, |stack, text| {
        optional(*stack, "null", text)
    })?;
    if is_time {
        column("threadCPUDelta", &track.samples, text, |sample, text| {
            write!(text, "{}", sample.period)
        })?;
    }
    column("time", &track.samples, text, |sample, text| {
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

fn optional(
    value: Option<impl std::fmt::Display>,
    nothing: &str,
    text: &mut Vec<u8>,
) -> io::Result<()> {
    match value {
        Some(value) => write!(text, "{value}"),
        None => text.write_all(nothing.as_bytes()),
    }
}

fn separate(index: usize, text: &mut Vec<u8>) {
    if index > 0 {
        text.push(b',');
    }
}

fn millis(nanos: u64) -> f64 {
    nanos as f64 / NANOS_PER_MILLI
}
