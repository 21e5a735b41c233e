//! `report`: a recording as a table of functions and their callers.

mod arguments;
mod call_graph;

use std::io::Write;

use clap::{ArgMatches, Command};
use oxperf_analysis::hist::histograms;
use oxperf_present::report::{prologue, table, tip};

use crate::failure::{Failure, code};
use crate::input::{Input, report_trouble};
use crate::output::Output;
use crate::{collect, header, naming};
use arguments::{HeaderRequest, Resolved};

/// What perf's users may not know; one a run.
const TIPS: [&str; 6] = [
    "Show every sample with its call chain: oxperf script",
    "Record call chains to see callers: oxperf record -g",
    "See what runs in functions themselves, without their callees: oxperf report --no-children",
    "Sort by thread: oxperf report -s pid,sym",
    "Hide small rows: oxperf report --percent-limit 1",
    "Draw a flame graph while recording: oxperf profile -- COMMAND",
];

/// The options.
pub(crate) fn command() -> Command {
    arguments::command()
}

/// Runs `report`.
pub(crate) fn run(matches: &ArgMatches, _program: &str) -> Result<i32, Failure> {
    let options = arguments::resolve(matches)?;
    let input = Input::from_matches(matches)?;
    let reader = input.reader()?;
    let mut output = Output::stdout();
    match options.header {
        HeaderRequest::Only => {
            header::write(&mut output, &input, &reader, options.full_header)?;
            output.finish()?;
            return Ok(code::SUCCESS);
        }
        HeaderRequest::First => header::write(&mut output, &input, &reader, options.full_header)?,
        HeaderRequest::Hint => {
            output.write_all(
                b"# To display the perf.data header info, please use --header/--header-only options.\n#\n",
            )?;
        }
    }
    let store = naming::store(matches)?;
    let options = options.for_events(reader.events());
    let formatters = options.wants_traces().then(|| collect::formatters(&reader));
    let (profile, diagnostics) =
        collect::load(&input, &reader, &store, options.collect, formatters.as_ref())?;
    report_trouble(&diagnostics);
    if profile.events.iter().all(|event| event.sample_count == 0) {
        crate::output::print_error(&format!("Error:\nThe {} data has no samples!", input.path().display()));
        output.finish()?;
        return Ok(code::SUCCESS);
    }
    write_tables(&options, &profile, &mut output)?;
    tip(&mut output, TIPS[profile.frames.len() % TIPS.len()])?;
    output.finish()?;
    Ok(code::SUCCESS)
}

fn write_tables(
    options: &Resolved,
    profile: &oxperf_analysis::profile::Profile,
    output: &mut Output,
) -> Result<(), Failure> {
    prologue(output, profile)?;
    let (hist, text) = options.for_profile(profile);
    for drawn in histograms(profile, &hist) {
        table(output, profile, &drawn, &text)?;
    }
    Ok(())
}
