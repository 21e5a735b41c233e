//! The header that `report` and `script` can show before anything else.

use std::io::{self, Write};

use clap::{Arg, ArgAction};
use oxperf_data::Reader;
use oxperf_present::event_names::RecordedNames;
use oxperf_present::header::{self, HeaderOptions};

use crate::input::Input;
use crate::output::Output;

/// The options.
pub(crate) fn arguments() -> [Arg; 3] {
    let flag = |name: &'static str, help| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    [
        flag("header", "Show the recording's header first"),
        flag("header-only", "Show the recording's header and nothing else"),
        flag("show-info", "Show topologies and caches in the header, too").short('I'),
    ]
}

/// Writes what the recording says about itself; `full` with topologies and caches.
pub(crate) fn write(out: &mut Output, input: &Input, reader: &Reader<'_>, full: bool) -> io::Result<()> {
    let mut text = String::new();
    let utc_offset = oxperf_sys::clock::utc_offset;
    let options = HeaderOptions { full, captured_on: Some(input.modified()), utc_offset: &utc_offset };
    header::write(&mut text, reader, &options, &RecordedNames::new(reader));
    out.write_all(text.as_bytes())
}
