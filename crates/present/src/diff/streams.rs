//! The text of hot streams: those of both recordings beside each other, then those that only one of them has.

use std::io::{self, Write};

use oxperf_analysis::streams::{HotStreams, Stream, StreamPlace, are_alike, line_of};
use oxperf_profile::Profile;

use crate::text::sanitize;

/// Width of the half for each recording.
const WIDTH: usize = 35;

/// The hot streams of an event in one recording.
#[derive(Clone, Copy, Debug)]
pub struct StreamSide<'a> {
    /// The recording.
    pub profile: &'a Profile,
    /// Its streams.
    pub hot: &'a HotStreams,
}

impl StreamSide<'_> {
    fn title(&self, stream: &Stream) -> String {
        format!(
            "cycles: {}, hits: {:.2}%",
            stream.cycles,
            self.hot.percent(stream)
        )
    }

    fn place(&self, place: &StreamPlace) -> String {
        let Some(frame) = self.profile.frames.get(place.frame.index()) else {
            return String::new();
        };
        let symbol = frame.symbol.filter(|_| place.named);
        let Some(symbol) = symbol.and_then(|symbol| self.profile.symbols.get(symbol.index()))
        else {
            return match frame.address {
                0 => "0".to_owned(),
                address => format!("{address:#x}"),
            };
        };
        let line = line_of(self.profile, place)
            .map_or(String::new(), |line| format!(" {}", sanitize(line)));
        let inlined = if symbol.inlined { " (inlined)" } else { "" };
        format!("{}{line}{inlined}", sanitize(&symbol.name))
    }

    fn places<'a>(&'a self, stream: &'a Stream) -> impl Iterator<Item = String> + 'a {
        stream.places.iter().map(|place| self.place(place))
    }

    /// The first stream that is like one of another recording.
    fn like(&self, other: StreamSide<'_>, stream: &Stream) -> Option<usize> {
        let alike = |own: &Stream| are_alike((other.profile, stream), (self.profile, own));
        self.hot.streams.iter().position(alike)
    }
}

/// Writes the hot streams of an event in two recordings.
pub fn streams(out: &mut dyn Write, old: StreamSide<'_>, new: StreamSide<'_>) -> io::Result<()> {
    let found: Vec<Option<usize>> = old
        .hot
        .streams
        .iter()
        .map(|stream| new.like(old, stream))
        .collect();
    let matched = old.hot.streams.iter().zip(&found);
    let pairs = matched
        .clone()
        .filter_map(|(stream, at)| Some((stream, new.hot.streams.get((*at)?)?)));
    writeln!(out, "[ Matched hot streams ]")?;
    for (nth, (stream, other)) in (1..).zip(pairs) {
        writeln!(out, "\nhot chain pair {nth}:")?;
        let titles = (old.title(stream), new.title(other));
        let lines = ("-".repeat(27), "-".repeat(26));
        let places = old.places(stream).zip(new.places(other));
        for (left, right) in [titles, lines].into_iter().chain(places) {
            writeln!(out, "{left:>WIDTH$}\t{right:>WIDTH$}")?;
        }
    }
    writeln!(out, "\n[ Hot streams in old perf data only ]")?;
    let alone = matched
        .filter(|(_, at)| at.is_none())
        .map(|(stream, _)| stream);
    alone_in(out, old, alone, "")?;
    writeln!(out, "\n[ Hot streams in new perf data only ]")?;
    let is_alone = |at: &usize| !found.contains(&Some(*at));
    let alone = (0..)
        .zip(&new.hot.streams)
        .filter(|(at, _)| is_alone(at))
        .map(|(_, stream)| stream);
    alone_in(out, new, alone, &format!("{:WIDTH$}\t", ""))
}

/// Writes streams that only one recording has, each line after `margin`.
fn alone_in<'a>(
    out: &mut dyn Write,
    side: StreamSide<'_>,
    streams: impl Iterator<Item = &'a Stream>,
    margin: &str,
) -> io::Result<()> {
    for (nth, stream) in (1..).zip(streams) {
        writeln!(out, "\nhot chain {nth}:")?;
        let head = [side.title(stream), "-".repeat(26)];
        for line in head.into_iter().chain(side.places(stream)) {
            writeln!(out, "{margin}{line:>WIDTH$}")?;
        }
    }
    Ok(())
}
