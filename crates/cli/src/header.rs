//! The header that `report` and `script` can show before anything else.

use std::io::{self, Write};

use oxperf_data::Reader;
use oxperf_present::event_names::RecordedNames;
use oxperf_present::header::{self, HeaderOptions};

use crate::input::Input;
use crate::output::Output;

/// Writes what the recording says about itself; `full` with topologies and caches.
pub(crate) fn write(out: &mut Output, input: &Input, reader: &Reader<'_>, full: bool) -> io::Result<()> {
    let mut text = String::new();
    let utc_offset = oxperf_sys::clock::utc_offset;
    let options = HeaderOptions { full, captured_on: Some(input.modified()), utc_offset: &utc_offset };
    header::write(&mut text, reader, &options, &RecordedNames::new(reader));
    out.write_all(text.as_bytes())
}
