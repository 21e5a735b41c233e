//! `annotate`: what each instruction of a function cost.

mod arguments;
mod data;
mod functions;
mod options;
mod statistics;

use std::collections::HashSet;
use std::sync::Arc;

use oxperf_abi::SampleType;
use oxperf_collect::{BlockDetail, CollectOptions};
use oxperf_data::{Container, EventEntry, Reader};
use oxperf_disasm::Disassembler;
use oxperf_itrace::ItraceOptions;
use oxperf_machine::{Dso, DsoKind, Objects};
use oxperf_present::annotate::{Annotated, CompactTitle, SourceLines, annotate, compact};

use oxperf_query::{Filter, require_cpus};
use oxperf_resolve::SymbolSource;
use oxperf_symbols::{DebugInfo, SymbolTable};

use super::dump;
use crate::cmd::Entry;
use crate::disasm_source::{Code, Sources};
use crate::failure::{Failure, code as exit};
use crate::input::Input;
use crate::load::{LoadOptions, load};
use crate::losses::report_trouble;
use crate::output::{Output, print_error};
use crate::symbol_source;
use functions::{Function, functions, keep_asked};
use options::AnnotateOptions;
use statistics::Counted;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "annotate",
    command: arguments::command,
    run: |matches, _| run(arguments::options(matches)?),
    shares_work: true,
};

/// Runs `annotate`.
fn run(mut options: AnnotateOptions) -> Result<i32, Failure> {
    let input = Input::new(&options.recording.input)?;
    let reader = input.reader()?;
    let mut output = crate::output::stdout();
    let quiet = options.recording.quiet;
    if let Some(order) = options.dump {
        dump::report(order, quiet, &input, &reader, output)?;
        return Ok(exit::SUCCESS);
    }
    let chosen = &options.recording.filter;
    let filter = Filter::of_cpus(chosen.cpus.as_deref())?;
    require_cpus(chosen, reader.events())?;
    let symbols = options.recording.symbols.clone();
    let syntax = options.syntax;
    rayon::spawn(move || Disassembler::prepare(syntax));
    let of_data = options.data_type.is_some();
    let mut names = match &options.symbol {
        Some(function) if reads_again(&reader) && !of_data => {
            symbol_source::open_for_function(&symbols, &reader, function)?
        }
        _ => symbol_source::open(&symbols, &reader)?,
    };
    let trace = options.recording.trace.request(ItraceOptions::REPORT)?;
    let blocks = options.compact.then_some(BlockDetail {
        consecutive: true,
        lines: None,
    });
    let collected = CollectOptions {
        by_address: !of_data,
        addresses_apart: of_data,
        blocks,
        ..CollectOptions::default()
    };
    let load_with = |names: &dyn SymbolSource| {
        let options = LoadOptions {
            trace,
            ..LoadOptions::new(&symbols, &filter, collected)
        };
        load(&input, &reader, names, options)
    };
    // The kernel's code cannot be shown without an image, and to read its names takes longer than all others.
    let named_alone = options.symbol.is_some() && reads_again(&reader) && !of_data;
    let programs_first = named_alone && symbols.vmlinux.is_none();
    let mut loaded = if programs_first {
        load_with(&ProgramsOnly(&names))?
    } else {
        load_with(&names)?
    };
    let mut ran = keep_asked(&mut loaded.profile, &options);
    if named_alone && !ran {
        names = symbol_source::open(&symbols, &reader)?;
        loaded = load_with(&names)?;
        ran = keep_asked(&mut loaded.profile, &options);
    }
    if !quiet {
        report_trouble(&loaded.diagnostics);
    }
    let report_nameless = || {
        if !quiet {
            symbol_source::report_nameless(names.otherwise());
        }
    };
    if !ran {
        report_nameless();
        print_error(&format!(
            "Error:\nThe {} data has no samples!",
            input.path().display()
        ));
        return Ok(exit::SUCCESS);
    }
    if has_branches(&reader) {
        // As in perf: code that branches tell of is shown in other colours there, which this has not.
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
    if of_data {
        let (machine, store) = (&loaded.machine, names.otherwise());
        data::write(&mut output, &options, machine, store, &mut loaded.profile)?;
        output.finish()?;
        report_nameless();
        return Ok(exit::SUCCESS);
    }
    let (machine, store) = (&loaded.machine, names.otherwise());
    let mut sources = Sources::new(&symbols, machine, store, &options.code);
    let mut told = HashSet::new();
    for functions in functions(&loaded.profile, &options) {
        // Types that stand beside code are not counted.
        Counted::default().write(&mut output, options.statistics)?;
        for function in functions {
            match sources.code(&function.object.long, function.symbol, options.syntax) {
                Ok(code) => {
                    let shown = Shown {
                        options: &options,
                        function: &function,
                        code: &code,
                    };
                    shown.write(&mut output, &frequencies)?;
                }
                Err(why) => complain(&function, &why, &mut told, options.skip_missing),
            }
        }
    }
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

/// Whether the recording can be read once more, with the names of all.
fn reads_again(reader: &Reader<'_>) -> bool {
    reader.container() != Container::Stream
}

/// Names of everything but the kernel.
struct ProgramsOnly<'a>(&'a dyn SymbolSource);

impl SymbolSource for ProgramsOnly<'_> {
    fn table(&self, dso: &Dso, objects: &Objects) -> Option<Arc<SymbolTable>> {
        let is_kernel = matches!(dso.kind, DsoKind::Kernel | DsoKind::Module);
        if is_kernel {
            None
        } else {
            self.0.table(dso, objects)
        }
    }

    fn source(&self, dso: &Dso, objects: &Objects) -> Option<Arc<DebugInfo>> {
        self.0.source(dso, objects)
    }
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

/// A function with its code.
struct Shown<'a> {
    options: &'a AnnotateOptions,
    function: &'a Function<'a>,
    code: &'a Code,
}

impl Shown<'_> {
    fn write(&self, output: &mut Output, frequencies: &[u64]) -> Result<(), Failure> {
        let Shown {
            options,
            function,
            code,
        } = *self;
        let [long, short] = &code.object_names(function.object);
        let source_line = |address| {
            let known = code.source_line(address, options.full_paths);
            Some(known.unwrap_or_else(|| format!("{short}[{address:x}]")))
        };
        let shown = Annotated {
            object: if options.full_paths { long } else { short },
            source_lines: options.print_lines.then_some(SourceLines {
                object: long,
                of: &source_line,
            }),
            group: function.group,
            costs: function.costs(|address| code.virtual_address(address)),
            listing: &code.listing,
            callees: &|address| code.function_at(address),
            data: &code.data,
        };
        if !options.compact {
            return Ok(annotate(output, &shown, &options.text)?);
        }
        let counted = function.counted();
        let title = CompactTitle {
            function: &function.symbol.name,
            object: long,
            samples: counted.samples,
            period: counted.period,
            frequency: function
                .leader()
                .and_then(|event| frequencies.get(event))
                .copied()
                .unwrap_or(0),
            several: shown.costs.len() > 1,
        };
        let blocks = function.blocks();
        let pace = (!blocks.is_empty()).then(|| code.pace(blocks));
        Ok(compact(
            output,
            &shown,
            &title,
            pace.as_ref(),
            &options.text,
        )?)
    }
}

/// Says once for each object why its functions cannot be shown.
fn complain(function: &Function<'_>, why: &str, told: &mut HashSet<String>, quiet: bool) {
    if !quiet && told.insert(function.object.long.clone()) {
        print_error(&format!(
            "Error:\nCouldn't annotate {}:\n{why}\n",
            function.symbol.name
        ));
    }
}
