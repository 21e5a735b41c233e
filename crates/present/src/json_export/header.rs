//! The head of the object: what the recording says of itself.

use std::fmt::Display;

use oxperf_data::features::{
    Arch, ClockData, CmdLine, CpuDesc, CpuId, Hostname, NrCpus, OsRelease, Version,
};
use oxperf_data::{Feature, Reader};

use super::{key, line, string};
use crate::text::calendar::CivilTime;

/// Writes everything before the first sample; `captured_on` is the file's last change in seconds since 1970.
///
/// A value that was not recorded is an empty text or zero.
pub fn begin(out: &mut Vec<u8>, reader: &Reader<'_>, captured_on: i64) {
    out.push(b'{');
    number(out, 1, "linux-perf-json-version", 1);
    out.push(b',');
    key(out, 1, "headers");
    out.push(b'{');
    file(out, reader, captured_on);
    host(out, reader);
    command_line(out, &get::<CmdLine>(reader));
    line(out, 1);
    out.extend_from_slice(b"},");
    key(out, 1, "samples");
    out.push(b'[');
}

fn file(out: &mut Vec<u8>, reader: &Reader<'_>, captured_on: i64) {
    let header = reader.header();
    number(out, 2, "header-version", u8::from(!header.first_version));
    text(
        out,
        "captured-on",
        &CivilTime::new(captured_on, 0).iso_utc(),
    );
    for (name, value) in [
        ("data-offset", header.data.offset),
        ("data-size", header.data.size),
        ("feat-offset", header.feature_table_offset()),
    ] {
        out.push(b',');
        number(out, 2, name, value);
    }
}

fn host(out: &mut Vec<u8>, reader: &Reader<'_>) {
    text(out, "hostname", &get::<Hostname>(reader).0);
    text(out, "os-release", &get::<OsRelease>(reader).0);
    text(out, "arch", &get::<Arch>(reader).0);
    if let Ok(Some(CpuDesc(name))) = reader.features().get() {
        text(out, "cpu-desc", &name);
    }
    text(out, "cpuid", &get::<CpuId>(reader).0);
    let cpus = get::<NrCpus>(reader);
    for (name, count) in [
        ("nrcpus-online", cpus.online),
        ("nrcpus-avail", cpus.available),
    ] {
        out.push(b',');
        number(out, 2, name, count);
    }
    clock(out, reader);
    text(out, "perf-version", &get::<Version>(reader).0);
}

/// One moment by the recording's clock and by the wall clock, where that was recorded.
fn clock(out: &mut Vec<u8>, reader: &Reader<'_>) {
    let Ok(Some(clock)) = reader.features().get::<ClockData>() else {
        return;
    };
    for (name, value) in [
        ("clockid", u64::from(clock.clock)),
        ("clock-time", clock.clock_nanoseconds),
        ("real-time", clock.wall_nanoseconds),
    ] {
        out.push(b',');
        number(out, 2, name, value);
    }
}

fn command_line(out: &mut Vec<u8>, arguments: &CmdLine) {
    out.push(b',');
    key(out, 2, "cmdline");
    out.push(b'[');
    for (place, argument) in arguments.0.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        line(out, 3);
        string::write(argument, out);
    }
    line(out, 2);
    out.push(b']');
}

/// A feature's value; what is absent or broken counts as empty.
fn get<F: Feature + Default>(reader: &Reader<'_>) -> F {
    reader.features().get().ok().flatten().unwrap_or_default()
}

fn text(out: &mut Vec<u8>, name: &str, value: &str) {
    out.push(b',');
    key(out, 2, name);
    string::write(value, out);
}

fn number(out: &mut Vec<u8>, depth: usize, name: &str, value: impl Display) {
    key(out, depth, name);
    out.extend_from_slice(value.to_string().as_bytes());
}
