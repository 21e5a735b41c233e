//! speedscope's file format: one list of frames, and a profile of samples for each thread.

use std::io::{self, Write};

use super::Exported;
use super::threads::{Lane, lanes};
use crate::json::string;
use crate::text::unit::WeightUnit;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

pub(super) fn write(exported: &Exported<'_>, out: &mut impl Write) -> io::Result<()> {
    let lanes = lanes(exported);
    let weights: Vec<u64> = lanes.iter().map(weight).collect();
    let heaviest = (0..lanes.len())
        .rev()
        .max_by_key(|&lane| weights[lane])
        .unwrap_or(0);
    write!(
        out,
        "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"oxperf\",\"name\":{}",
        quoted(exported.title)
    )?;
    write!(
        out,
        ",\"activeProfileIndex\":{heaviest},\"shared\":{{\"frames\":["
    )?;
    for frame in 0..exported.tree.frames.len() as u32 {
        let comma = if frame > 0 { "," } else { "" };
        write!(out, "{comma}{{\"name\":{}", quoted(&exported.label(frame)))?;
        if let Some(object) = exported.object(frame) {
            write!(out, ",\"file\":{}", quoted(object))?;
        }
        out.write_all(b"}")?;
    }
    out.write_all(b"]},\"profiles\":[")?;
    for (place, (lane, weight)) in lanes.iter().zip(&weights).enumerate() {
        if place > 0 {
            out.write_all(b",")?;
        }
        write_lane(exported, lane, *weight, out)?;
    }
    out.write_all(b"]}\n")
}

fn weight(lane: &Lane) -> u64 {
    lane.samples
        .iter()
        .fold(0, |sum, sample| sum.saturating_add(sample.period))
}

fn write_lane(
    exported: &Exported<'_>,
    lane: &Lane,
    weight: u64,
    out: &mut impl Write,
) -> io::Result<()> {
    let unit = match exported.unit() {
        WeightUnit::Nanoseconds => "nanoseconds",
        WeightUnit::Count(_) => "none",
    };
    let name = format!(
        "{} ({}/{})",
        lane.name(exported),
        lane.thread.pid.0,
        lane.thread.tid.0
    );
    write!(
        out,
        "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{unit}\"",
        quoted(&name)
    )?;
    write!(out, ",\"startValue\":0,\"endValue\":{weight},\"samples\":[")?;
    let runs: Vec<(u32, u64)> = runs(lane).collect();
    for (place, (node, _)) in runs.iter().enumerate() {
        let mut stack: Vec<u32> = exported.functions(*node).collect();
        stack.reverse();
        out.write_all(if place > 0 { b",[" } else { b"[" })?;
        write_numbers(stack, out)?;
        out.write_all(b"]")?;
    }
    out.write_all(b"],\"weights\":[")?;
    write_numbers(runs.iter().map(|(_, weight)| weight), out)?;
    out.write_all(b"]}")
}

/// Stacks with their weights; equal ones that follow each other are one.
fn runs(lane: &Lane) -> impl Iterator<Item = (u32, u64)> + '_ {
    let same = lane.samples.chunk_by(|left, right| left.node == right.node);
    same.map(|run| {
        (
            run[0].node,
            run.iter()
                .fold(0, |sum, sample| sample.period.saturating_add(sum)),
        )
    })
}

fn write_numbers(
    numbers: impl IntoIterator<Item = impl std::fmt::Display>,
    out: &mut impl Write,
) -> io::Result<()> {
    for (place, number) in numbers.into_iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        write!(out, "{comma}{number}")?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    let mut quoted = Vec::new();
    string::write(text, &mut quoted);
    String::from_utf8_lossy(&quoted).into_owned()
}
