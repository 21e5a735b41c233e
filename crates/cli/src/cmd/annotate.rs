//! `annotate`: what each instruction of a function cost.

mod arguments;
mod data;
mod functions;
mod listing;
mod load;
mod options;
mod statistics;

use oxperf_abi::SampleType;
use oxperf_data::{EventEntry, Reader};
use oxperf_disasm::Disassembler;
use oxperf_query::{Filter, require_cpus};

use super::dump::{self, DumpRequest};
use crate::cmd::Entry;
use crate::disasm_source::Sources;
use crate::failure::{Failure, code as exit};
use crate::input::Input;
use crate::losses::report_trouble;
use crate::output::print_error;
use crate::pager::{self, Habit};
use crate::symbol_source;
use listing::write_functions;
use load::AnnotatedRecording;
use options::AnnotateOptions;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "annotate",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration)?;
        let _pager = pager::start(invocation, "annotate", Habit::Paged);
        run(options)
    },
    shares_work: true,
};

/// Runs `annotate`.
fn run(mut options: AnnotateOptions) -> Result<i32, Failure> {
    let input = Input::new(&options.recording.input)?;
    let reader = input.reader()?;
    let mut output = crate::output::stdout();
    let quiet = options.recording.quiet;
    if let Some(order) = options.dump {
        let packets = !options.recording.trace.off;
        let request = DumpRequest { order, packets };
        dump::report(request, quiet, &input, &reader, output)?;
        return Ok(exit::SUCCESS);
    }
    let chosen = &options.recording.filter;
    let filter = Filter::of_cpus(chosen.cpus.as_deref())?;
    require_cpus(chosen, reader.events())?;
    let syntax = options.syntax;
    rayon::spawn(move || Disassembler::prepare(syntax));
    let AnnotatedRecording {
        names,
        mut loaded,
        has_samples,
    } = AnnotatedRecording::load(&options, &input, &reader, &filter)?;
    if !quiet {
        report_trouble(&loaded.diagnostics);
    }
    let report_nameless = || {
        if !quiet {
            symbol_source::report_nameless(names.otherwise());
        }
    };
    if !has_samples {
        report_nameless();
        print_error(&format!(
            "Error:\nThe {} data has no samples!",
            input.path().display()
        ));
        return Ok(exit::SUCCESS);
    }
    if has_branches(&reader) {
        // As in perf: code that branches are known of is shown in other colours there, which this has not.
        options.text.coloured_code = false;
    }
    let frequencies: Vec<u64> = reader
        .events()
        .iter()
        .map(|event| event.stored.attr.sample_period)
        .collect();
    if options.group {
        loaded.profile.join_events();
    }
    if options.data_type.is_some() {
        let (machine, store) = (&loaded.machine, names.otherwise());
        data::write(&mut output, &options, machine, store, &mut loaded.profile)?;
        output.finish()?;
        report_nameless();
        return Ok(exit::SUCCESS);
    }
    let (machine, store) = (&loaded.machine, names.otherwise());
    let mut sources = Sources::new(&options.recording.symbols, machine, store, &options.code);
    write_functions(
        &mut output,
        &options,
        &loaded.profile,
        &mut sources,
        &frequencies,
    )?;
    output.finish()?;
    report_nameless();
    if !quiet {
        sources.report_unreadable();
    }
    symbol_source::keep(&names);
    // The kernel takes all of it at once, sooner than it can be given back piece by piece.
    std::mem::forget(sources);
    std::mem::forget((loaded, names));
    Ok(exit::SUCCESS)
}

fn has_branches(reader: &Reader<'_>) -> bool {
    let carries = |event: &EventEntry| {
        event
            .stored
            .attr
            .sample_type
            .contains(SampleType::BRANCH_STACK)
    };
    reader.events().iter().any(carries)
}
