//! `evlist`: the events of a recording.

use std::io::Write;

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_data::features::GroupDesc;
use oxperf_present::recording::event_names::RecordedNames;
use oxperf_present::recording::evlist::{self, Detail, ListedEvent, Listing};
use oxperf_session::EventTable;

use crate::failure::{Failure, code};
use crate::input::{self, Input};

/// The options.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, short, help| {
        Arg::new(name)
            .short(short)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("evlist")
        .about("List the events of a recording")
        .args(input::arguments())
        .arg(flag("freq", 'F', "Show periods and frequencies").long("freq"))
        .arg(flag("verbose", 'v', "Show the whole attribute of each event").long("verbose"))
        .arg(
            Arg::new("trace-fields")
                .long("trace-fields")
                .action(ArgAction::SetTrue)
                .help("Show the fields of tracepoints' records"),
        )
        .arg(flag("group", 'g', "Show the events of a group on one line").long("group"))
}

/// Runs `evlist`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    if matches.get_flag("group") && (matches.get_flag("verbose") || matches.get_flag("freq")) {
        return Err(Failure::bad_option(
            "Error: --group option is not compatible with other options",
        ));
    }
    let input = Input::from_matches(matches)?;
    let reader = input.reader()?;
    let table = EventTable::new(&reader);
    let listed = |(event, entry)| named(event, entry);
    let events: Vec<ListedEvent<'_>> = table
        .events()
        .iter()
        .zip(reader.events())
        .map(listed)
        .collect();
    let groups = reader
        .features()
        .get::<GroupDesc>()
        .ok()
        .flatten()
        .unwrap_or_default();
    let mut text = String::new();
    let formats = matches
        .get_flag("trace-fields")
        .then(|| oxperf_query::formatters(&reader));
    let listing = Listing {
        detail: detail(matches),
        groups: &groups.0,
        formats: formats.as_ref(),
    };
    evlist::write(&mut text, &events, &listing, &RecordedNames::new(&reader));
    let mut output = crate::output::stdout();
    output.write_all(text.as_bytes())?;
    output.finish()?;
    Ok(code::SUCCESS)
}

fn named<'a>(
    event: &'a oxperf_session::SessionEvent,
    entry: &'a oxperf_data::EventEntry,
) -> ListedEvent<'a> {
    ListedEvent {
        name: &event.name,
        entry,
    }
}

fn detail(matches: &ArgMatches) -> Detail {
    match (
        matches.get_flag("verbose"),
        matches.get_flag("group"),
        matches.get_flag("freq"),
    ) {
        (true, ..) => Detail::Attribute,
        (_, true, _) => Detail::Group,
        (.., true) => Detail::Frequency,
        _ => Detail::Name,
    }
}
