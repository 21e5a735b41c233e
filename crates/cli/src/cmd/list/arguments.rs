//! The options of `list`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_present::list::ListTextOptions;

use super::{Form, ListCommand};
use crate::arguments::{build_id_cache, file, flag, text};
use crate::configuration::Configuration;
use crate::environment;
use crate::event_tables;

/// The options.
pub(super) fn command() -> Command {
    let switch = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    let value = |name: &'static str, value: &'static str, help| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    Command::new("list")
        .about("List the events and metrics of this machine by name")
        .arg(
            Arg::new("what")
                .num_args(0..)
                .value_name("event_glob")
                .help("A category, or a pattern that a part of a name or a topic matches; with a colon, of tracepoints"),
        )
        .arg(switch("desc", "Show descriptions [default]").short('d').overrides_with("no-desc"))
        .arg(switch("no-desc", "Show no descriptions").overrides_with("desc"))
        .arg(switch(
            "long-desc",
            "Show long descriptions, and each PMU of several alike",
        ).short('v'))
        .arg(switch(
            "details",
            "Show what events are in terms of their PMUs, and the expressions and thresholds of metrics",
        ))
        .arg(switch(
            "deprecated",
            "Show old names, too, and generic events that this machine does not count",
        ))
        .arg(switch("debug", "Tell which model of CPU the tables are for"))
        .arg(switch("json", "Show all as JSON").short('j'))
        .arg(event_tables::arguments::option())
        .arg(value("import", "dir or archive", "Import tables of events of a folder, or of a zip or tar archive, into the user's data folder, and list nothing"))
        .arg(value("output", "file", "Write the list to a file").short('o'))
        .arg(value("unit", "PMU name", "Show events of this PMU only; a pattern means several"))
        .arg(value("why", "event", "Tell what an event is on this machine, whether it can be counted here, and if not why"))
        .arg(value("cputype", "core or atom", "Show events of this type of cores only").hide(true))
        .arg(switch("raw-dump", "Show names alone, on one line").hide(true))
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> ListCommand {
    let form = match flag(matches, "json") {
        true => Form::Json,
        false => Form::Text(text_options(matches)),
    };
    let words = matches.get_many::<String>("what").unwrap_or_default();
    ListCommand {
        words: words.cloned().collect(),
        form,
        output: file(matches, "output"),
        unit: text(matches, "unit").map(str::to_owned),
        core_type: text(matches, "cputype").map(str::to_owned),
        deprecated: flag(matches, "deprecated"),
        tables: event_tables::arguments::options(matches, configuration),
        build_id_cache: build_id_cache(matches, configuration),
        import: file(matches, "import"),
        debug: flag(matches, "debug"),
        why: text(matches, "why").map(str::to_owned),
    }
}

fn text_options(matches: &ArgMatches) -> ListTextOptions {
    ListTextOptions {
        descriptions: !flag(matches, "no-desc"),
        long: flag(matches, "long-desc"),
        details: flag(matches, "details"),
        names_only: flag(matches, "raw-dump"),
        columns: environment::columns().saturating_sub(2),
    }
}
