//! `annotate`: what each instruction of a function cost.

mod arguments;
mod functions;

use std::collections::HashSet;

use clap::{ArgMatches, Command};
use oxperf_analysis::collect::CollectOptions;
use oxperf_itrace::ItraceOptions;
use oxperf_present::annotate::{Annotated, SourceLines, annotate};

use super::dump;
use crate::code::Sources;
use crate::failure::{Failure, code as exit};
use crate::filter::{self, Filter};
use crate::input::{Input, report_trouble};
use crate::output::{Output, print_error};
use crate::{collect, itrace, naming};
use arguments::Options;
use functions::{Function, functions};

/// The options.
pub(crate) fn command() -> Command {
    arguments::command()
}

/// Runs `annotate`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let options = Options::new(matches)?;
    let input = Input::from_matches(matches)?;
    let reader = input.reader()?;
    let mut output = Output::stdout();
    if matches.get_flag("dump-raw-trace") {
        dump::report(matches, &input, &reader, output)?;
        return Ok(exit::SUCCESS);
    }
    let filter = Filter::of_cpus(matches)?;
    if let Err(failure) = filter::require_cpus(matches, reader.events()) {
        print_error(&format!("{failure}\nError:\nfailed to set cpu bitmap"));
        return Ok(exit::SUCCESS);
    }
    let names = naming::source(matches, &reader)?;
    let traced = (matches, itrace::options(matches, ItraceOptions::REPORT)?);
    let collected = CollectOptions { by_address: true, ..CollectOptions::default() };
    let details = Default::default();
    let mut loaded = collect::load(&input, &reader, &names, collected, details, traced, &filter)?;
    report_trouble(&loaded.diagnostics);
    naming::report_replaced(&names);
    if loaded.profile.events.iter().all(|event| event.sample_count == 0) {
        print_error(&format!("Error:\nThe {} data has no samples!", input.path().display()));
        return Ok(exit::SUCCESS);
    }
    let nameless = options.group && functions::join_events(&mut loaded.profile);
    let mut sources = Sources::new(matches, &loaded.machine, &options.code)?;
    let mut told = HashSet::new();
    for function in functions(&loaded.profile, &options) {
        match sources.code(&function.object.long, function.symbol, options.syntax) {
            Ok(code) => {
                let source_line = |address| {
                    let known = code.source_line(address, options.full_paths);
                    Some(known.unwrap_or_else(|| format!("{}[{address:x}]", function.object.short)))
                };
                let shown = Annotated {
                    object: if options.full_paths { &function.object.long } else { &function.object.short },
                    source_lines: options
                        .print_lines
                        .then_some(SourceLines { object: &function.object.long, of: &source_line }),
                    group: function.group.filter(|_| !nameless),
                    costs: function.costs(|address| code.virtual_address(address)),
                    listing: &code.listing,
                };
                annotate(&mut output, &shown, &options.text)?;
            }
            Err(why) => complain(&function, &why, &mut told, options.skip_missing),
        }
    }
    output.finish()?;
    Ok(exit::SUCCESS)
}

/// Says once for each object why its functions cannot be shown.
fn complain(function: &Function<'_>, why: &str, told: &mut HashSet<String>, quiet: bool) {
    if !quiet && told.insert(function.object.long.clone()) {
        print_error(&format!("Error:\nCouldn't annotate {}:\n{why}\n", function.symbol.name));
    }
}
