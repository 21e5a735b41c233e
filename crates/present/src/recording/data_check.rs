//! The text of `data check`: what a recording is, what of it is damaged, and what can be done, in plain words.

mod json;

use std::fmt::{self, Write};

use oxperf_data::Container;
use oxperf_session::{RecorderInfo, RecordingCheck, Tool};
use oxperf_wire::Endian;

pub use json::{write as write_json, write_unreadable as write_unreadable_json};

use crate::text::sanitize;

/// Writes the findings about the recording that is called `name`; `convert` is the command that mends it.
pub fn write(out: &mut String, name: &str, found: &RecordingCheck, convert: &str) -> fmt::Result {
    let verdict = if found.is_whole() {
        "whole"
    } else {
        "damaged, but readable"
    };
    writeln!(out, "{}: {verdict}", sanitize(name))?;
    line(out, "form", &form(found))?;
    line(out, "recorder", &recorder(&found.recorder))?;
    line(out, "events", &events(found))?;
    line(out, "records", &records(found))?;
    line(out, "span", &span(found))?;
    line(out, "lost", &lost(found))?;
    damage(out, found)?;
    if !found.is_whole() {
        line(
            out,
            "recovery",
            &format!("'{convert}' writes all that can be read as one whole file"),
        )?;
    }
    Ok(())
}

fn line(out: &mut String, title: &str, text: &str) -> fmt::Result {
    writeln!(out, "  {title:<10} {text}")
}

fn form(found: &RecordingCheck) -> String {
    let form = &found.form;
    let container = match form.container {
        Container::File => "one file".to_owned(),
        Container::Directory => format!("a directory with {} further files", form.further_files),
        Container::Stream => "a stream".to_owned(),
    };
    let endian = match form.endian {
        Endian::Little => "little-endian",
        Endian::Big => "big-endian",
    };
    let mut text = format!("{container}, version {}, {endian}", form.version);
    if let Some(bits) = found.recorder.word_bits {
        text.push_str(&format!(", {bits}-bit"));
    }
    if let Some(compression) = form.compression {
        text.push_str(&format!(
            ", compressed with zstd (level {})",
            compression.level
        ));
    }
    text
}

fn recorder(recorder: &RecorderInfo) -> String {
    let mut text = match (recorder.tool, &recorder.version) {
        (Some(tool), Some(version)) => format!("{} {}", tool_name(tool), sanitize(version)),
        (Some(tool), None) => tool_name(tool).to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    let machine = [
        ("on ", &recorder.host),
        ("", &recorder.arch),
        ("Linux ", &recorder.os_release),
    ];
    let parts = machine
        .iter()
        .filter_map(|(word, name)| Some(format!("{word}{}", sanitize(name.as_ref()?))));
    let parts: Vec<String> = parts.collect();
    if !parts.is_empty() {
        text.push_str(&format!(" {}", parts.join(", ")));
    }
    if !recorder.command.is_empty() {
        text.push_str(&format!(": {}", sanitize(&recorder.command.join(" "))));
    }
    text
}

fn tool_name(tool: Tool) -> &'static str {
    match tool {
        Tool::Perf => "perf",
        Tool::Simpleperf => "simpleperf",
    }
}

fn events(found: &RecordingCheck) -> String {
    const SHOWN: usize = 8;
    let names: Vec<_> = found
        .events
        .iter()
        .take(SHOWN)
        .map(|event| sanitize(&event.name))
        .collect();
    let mut text = match names.is_empty() {
        true => "none".to_owned(),
        false => format!("{}: {}", found.events.len(), names.join(", ")),
    };
    if found.events.len() > SHOWN {
        text.push_str(", ...");
    }
    let newer = found.events.iter().filter(|event| event.newer).count();
    if newer > 0 {
        text.push_str(&format!(
            "; {newer} with settings newer than this program, which perf refuses"
        ));
    }
    text
}

fn records(found: &RecordingCheck) -> String {
    let counts = &found.records;
    let mut text = format!("{}, {} of them samples", counts.total, counts.samples);
    if counts.unknown > 0 {
        text.push_str(&format!(", {} of unknown kinds", counts.unknown));
    }
    text
}

fn span(found: &RecordingCheck) -> String {
    match found.span {
        Some((first, last)) => {
            let seconds =
                |time: u64| format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
            let length = seconds(last.0.saturating_sub(first.0));
            format!(
                "{} s to {} s, {length} s",
                seconds(first.0),
                seconds(last.0)
            )
        }
        None => "no sample tells its time".to_owned(),
    }
}

fn lost(found: &RecordingCheck) -> String {
    let lost = &found.lost;
    let times = format!("records in {} full rings", lost.chunks);
    let counts = [
        (lost.records, times.as_str()),
        (lost.samples, "samples"),
        (lost.filtered, "samples dropped by a BPF filter"),
        (lost.throttled, "times an event was throttled"),
        (lost.aux_truncated, "stretches of AUX data cut short"),
    ];
    let parts = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        "nothing".to_owned()
    } else {
        parts.join(", ")
    }
}

fn damage(out: &mut String, found: &RecordingCheck) -> fmt::Result {
    if found.is_whole() {
        return line(out, "damage", "none");
    }
    let counts = [
        (
            found.records.undecodable,
            "records do not hold what their kind needs",
        ),
        (
            found.records.unlisted,
            "samples are of events that the recording does not list",
        ),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let findings =
        found.damage.count() as usize + found.broken_features.len() + counts.clone().count();
    let bytes = found.damage.lost_bytes();
    line(
        out,
        "damage",
        &format!("{findings} findings, {bytes} bytes of data lost"),
    )?;
    found
        .damage
        .to_string()
        .lines()
        .try_for_each(|damage| writeln!(out, "    {damage}"))?;
    for (_, error) in &found.broken_features {
        writeln!(out, "    {}", sanitize(&with_cause(error)))?;
    }
    for (count, what) in counts {
        writeln!(out, "    {count} {what}")?;
    }
    Ok(())
}

/// An error and why it came to be.
fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
