//! The header that `report` and `script` can show before anything else.

use std::io::{self, Write};
use std::path::Path;

use clap::{Arg, ArgAction};
use oxperf_data::Reader;
use oxperf_data::features::{Arch, CmdLine, Hostname, OsRelease};
use oxperf_present::recording::event_names::RecordedNames;
use oxperf_present::recording::header::{self, HeaderOptions};

use crate::input::Input;
use crate::output::Output;

/// The options.
pub(crate) fn arguments() -> [Arg; 3] {
    let flag = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    [
        flag("header", "Show the recording's header first"),
        flag(
            "header-only",
            "Show the recording's header and nothing else",
        ),
        flag("show-info", "Show topologies and caches in the header, too").short('I'),
    ]
}

/// Writes what the recording says about itself; `full` with topologies and caches.
pub(crate) fn write(
    out: &mut Output,
    input: &Input,
    reader: &Reader<'_>,
    full: bool,
) -> io::Result<()> {
    out.write_all(text(input, reader, full).as_bytes())
}

/// The recording's description of itself, as text.
pub(crate) fn text(input: &Input, reader: &Reader<'_>, full: bool) -> String {
    let mut text = String::new();
    let utc_offset = oxperf_sys::clock::utc_offset;
    let options = HeaderOptions {
        full,
        captured_on: Some(input.modified()),
        utc_offset: &utc_offset,
    };
    header::write(&mut text, reader, &options, &RecordedNames::new(reader));
    text
}

/// The recorded command line, or the name of the file.
pub(crate) fn command_or_file(reader: &Reader<'_>, path: &Path) -> String {
    let words = reader
        .features()
        .get::<CmdLine>()
        .ok()
        .flatten()
        .map(|line| line.0.join(" "));
    words
        .filter(|words| !words.is_empty())
        .unwrap_or_else(|| path.display().to_string())
}

/// The machine that it was recorded on, in a few words.
pub(crate) fn host(reader: &Reader<'_>) -> String {
    let features = reader.features();
    let name = features.get::<Hostname>().ok().flatten().map(|name| name.0);
    let kernel = features
        .get::<OsRelease>()
        .ok()
        .flatten()
        .map(|release| format!("Linux {}", release.0));
    let arch = features.get::<Arch>().ok().flatten().map(|arch| arch.0);
    [name, kernel, arch]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}
