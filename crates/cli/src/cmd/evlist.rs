//! `evlist`: the events of a recording.

mod arguments;

use std::io::Write;

use oxperf_abi::{EventAttr, EventType};
use oxperf_data::Container;
use oxperf_data::features::GroupDesc;
use oxperf_present::recording::event_names::RecordedNames;
use oxperf_present::recording::evlist::{self, EventListing, EvlistDetail, ListedEvent};
use oxperf_session::EventTable;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::{Input, InputOptions};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "evlist",
    command: arguments::command,
    run: |matches, _| run(&arguments::options(matches)?),
    shares_work: true,
};

/// The options of `evlist`.
struct EvlistOptions {
    input: InputOptions,
    /// The facts that are shown of an event.
    detail: EvlistDetail,
    /// The fields of tracepoints' records are shown.
    trace_fields: bool,
}

/// Runs `evlist`.
fn run(options: &EvlistOptions) -> Result<i32, Failure> {
    let input = Input::new(&options.input)?;
    let reader = input.reader()?;
    let table = EventTable::new(&reader);
    // As perf, which lists the events of a stream before it has read their names and groups.
    let is_stream = reader.container() == Container::Stream;
    let names: Vec<String> = table
        .events()
        .iter()
        .map(|event| match is_stream {
            true => name_by_attribute(&event.attr),
            false => event.name.clone(),
        })
        .collect();
    let events: Vec<ListedEvent<'_>> = names
        .iter()
        .zip(reader.events())
        .map(|(name, entry)| ListedEvent { name, entry })
        .collect();
    let groups = reader.features().get::<GroupDesc>().ok().flatten();
    let groups = groups.filter(|_| !is_stream).unwrap_or_default();
    let mut text = String::new();
    let formats = options
        .trace_fields
        .then(|| oxperf_query::formatters(&reader));
    let listing = EventListing {
        detail: options.detail,
        groups: &groups.0,
        formats: formats.as_ref(),
    };
    evlist::write(&mut text, &events, &listing, &RecordedNames::new(&reader));
    let mut output = crate::output::stdout();
    output.write_all(text.as_bytes())?;
    output.finish()?;
    Ok(code::SUCCESS)
}

/// The name that the attribute of an event amounts to.
fn name_by_attribute(attr: &EventAttr) -> String {
    if attr.kind.0 <= EventType::BREAKPOINT.0 {
        return attr.generic_name();
    }
    let (kind, config) = (attr.kind.0, attr.config);
    format!("unknown event PMU={kind} config={config:#x}")
}
