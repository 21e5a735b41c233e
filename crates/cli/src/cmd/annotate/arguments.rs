//! The options of `annotate`.

use clap::{Arg, ArgMatches, Command, value_parser};
use oxperf_disasm::Syntax;
use oxperf_itrace::ItraceOptions;
use oxperf_present::annotate::{AnnotateText, Column, Labelled, Labels, Share};
use oxperf_symbols::Demangling;

use super::options::{AnnotateOptions, StatisticsOptions};
use crate::arguments::kinds::switch;
use crate::arguments::{self, input, itrace, symbols};
use crate::cmd::dump::arguments as dump;
use crate::configuration::Configuration;
use crate::disasm_source::CodeOptions;
use crate::failure::Failure;
use crate::recording_options::RecordingOptions;

fn text(name: &'static str) -> Arg {
    Arg::new(name).long(name)
}

pub(super) fn command() -> Command {
    Command::new("annotate")
        .about("Show what each instruction of a function cost")
        .arg(
            Arg::new("function")
                .value_name("symbol")
                .help("Show this function alone"),
        )
        .args(input::arguments())
        .next_help_heading("What to show")
        .args(choice())
        .next_help_heading("How to show it")
        .args(style())
        .args(dump::arguments())
        .next_help_heading("Hardware trace")
        .args(itrace::arguments(ItraceOptions::ALL_LETTERS))
        .next_help_heading("Names")
        .args(symbols::arguments())
}

fn choice() -> [Arg; 9] {
    [
        text("symbol").short('s').value_name("symbol").help("Show this function alone"),
        text("dsos").short('d').value_name("dso[,dso...]").help("Show functions of these objects, comma separated"),
        text("percent-limit")
            .value_name("percent")
            .value_parser(value_parser!(f64))
            .help("Leave out functions below this percentage"),
        text("data-type")
            .value_name("name")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("")
            .help("Show the fields of this type of data, or of all, in the place of functions"),
        switch("type-stat")
            .help("Show of how many places of the code the types of data are known, and why not of others"),
        switch("insn-stat").help("Show the same of each sort of instruction"),
        text("cpu").short('C').value_name("cpu").help("Take samples of these CPUs only, such as 0,2-4"),
        switch("group").help("Show all events side by side, though they were not recorded as a group"),
        switch("skip-missing").help("Do not complain of functions whose code is not to be found"),
    ]
}

fn style() -> [Arg; 23] {
    [
        switch("stdio").help("Write text; the only interface so far"),
        switch("stdio2").help("Write short lines: names for addresses, arrows for jumps, and paces where branches tell them"),
        switch("tui").hide(true),
        text("stdio-color")
            .value_name("mode")
            .value_parser(["always", "never", "auto"])
            .default_value("auto")
            .help("Show costs in colours"),
        switch("full-paths").short('P').help("Name objects by their whole paths"),
        switch("show-nr-samples").short('n').help("Show numbers of samples"),
        switch("show-total-period").conflicts_with("show-nr-samples").help("Show sums of periods"),
        text("percent-type")
            .value_name("local-period")
            .default_value("local-period")
            .help("What percentages are of: local-period, local-hits (the function's), global-period, global-hits (the event's)"),
        text("disassembler-style")
            .short('M')
            .value_name("disassembler style")
            .default_value("att")
            .help("att or intel"),
        switch("asm-raw").overrides_with("no-asm-raw").help("Show the bytes of instructions"),
        switch("no-asm-raw").help("Do not show the bytes of instructions [default]"),
        switch("source").overrides_with("no-source").help("Show source text between instructions [default]"),
        switch("no-source").help("Leave source text and debug files alone"),
        switch("print-line").short('l').help("Name source lines beside instructions, and sum them up"),
        text("prefix").value_name("prefix").help("Look for source files below PATH"),
        text("prefix-strip")
            .value_name("N")
            .value_parser(value_parser!(usize))
            .requires("prefix")
            .help("Leave out the first N folders of their paths before"),
        switch("code-with-type").help("Show beside instructions what data they work on"),
        switch("quiet").short('q').help("Tell of nothing that was lost or broken"),
        text("objdump").value_name("path").help("Accepted for perf's sake: no other program is run"),
        switch("modules").short('m').help("Accepted for perf's sake"),
        switch("verbose").short('v').hide(true),
        switch("no-skip-empty").hide(true),
        switch("skip-empty").help("Accepted for perf's sake: events without samples have no column"),
    ]
}

/// The recording; `annotate.demangle*` chooses the form of names where no option does.
fn recording(matches: &ArgMatches, configuration: &Configuration) -> RecordingOptions {
    let mut recording = arguments::recording(matches, configuration);
    let symbols = &mut recording.symbols;
    let is_left = configuration.flag("annotate.demangle") == Some(false);
    if is_left && !matches.get_flag("demangle") {
        symbols.demangling = Demangling::Off;
    }
    symbols.demangle_kernel |= configuration.flag("annotate.demangle_kernel") == Some(true);
    recording
}

/// `-M`, else `annotate.disassembler_style`.
fn chosen_style<'o>(matches: &'o ArgMatches, configuration: &'o Configuration) -> Option<&'o str> {
    let named = arguments::text(matches, "disassembler-style");
    let configured = configuration
        .text("annotate.disassembler_style")
        .filter(|_| !arguments::is_given(matches, "disassembler-style"))
        // Other styles of objdump count for nothing.
        .filter(|style| style.starts_with("att") || style.starts_with("intel"));
    configured.or(named)
}

/// `annotate.hide_src_code` holds for the short form, as in perf.
fn shows_source(matches: &ArgMatches, configuration: &Configuration) -> bool {
    let hidden = configuration.flag("annotate.hide_src_code") == Some(true);
    !(matches.get_flag("no-source") || hidden && matches.get_flag("stdio2"))
}

/// The addresses in the short form: only the configuration has a say.
fn labels(configuration: &Configuration) -> Labels {
    Labels {
        whole: configuration.flag("annotate.use_offset") == Some(false),
        level: match configuration.number("annotate.offset_level") {
            None | Some(0 | 1) => Labelled::Targets,
            Some(2) => Labelled::TargetsAndCalls,
            Some(_) => Labelled::All,
        },
        jumps_counted: configuration.flag("annotate.show_nr_jumps") == Some(true),
    }
}

/// The options as values.
pub(super) fn options(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Result<AnnotateOptions, Failure> {
    let word = |name| matches.get_one::<String>(name).map(String::as_str);
    let share = word("percent-type").unwrap_or_default();
    let share = Share::parse(share)
        .ok_or_else(|| Failure::bad_option(format!("Error:\nUnknown --percent-type: `{share}'")))?;
    let syntax = match chosen_style(matches, configuration) {
        Some("intel" | "intel-mnemonic") => Syntax::Intel,
        Some("att" | "att-mnemonic") | None => Syntax::Att,
        Some(other) => {
            return Err(Failure::bad_option(format!(
                "Error:\nUnknown style of -M: `{other}' (att, intel)"
            )));
        }
    };
    let column = match (
        matches.get_flag("show-nr-samples")
            || configuration.flag("annotate.show_nr_samples") == Some(true),
        matches.get_flag("show-total-period")
            || configuration.flag("annotate.show_total_period") == Some(true),
    ) {
        (true, _) => Column::Samples,
        (_, true) => Column::Period,
        _ => Column::Percent,
    };
    let objects = word("dsos").into_iter().flat_map(|list| list.split(','));
    Ok(AnnotateOptions {
        recording: recording(matches, configuration),
        dump: dump::is_asked(matches).then(|| dump::order(matches)),
        symbol: word("symbol").or(word("function")).map(str::to_owned),
        objects: objects
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect(),
        full_paths: matches.get_flag("full-paths"),
        group: matches.get_flag("group"),
        min_percent: matches.get_one("percent-limit").copied().unwrap_or(0.0),
        skip_missing: matches.get_flag("skip-missing"),
        print_lines: matches.get_flag("print-line"),
        code: CodeOptions {
            with_source: shows_source(matches, configuration),
            moved_sources: word("prefix").map(|prefix| {
                (
                    matches.get_one("prefix-strip").copied().unwrap_or(0),
                    prefix.to_owned(),
                )
            }),
            with_types: matches.get_flag("code-with-type"),
            with_callees: matches.get_flag("stdio2"),
        },
        syntax,
        text: AnnotateText {
            column,
            share,
            raw: matches.get_flag("asm-raw"),
            coloured: arguments::colours(matches),
            coloured_code: arguments::colours(matches),
            labels: labels(configuration),
        },
        compact: matches.get_flag("stdio2"),
        data_type: word("data-type").map(str::to_owned),
        statistics: StatisticsOptions {
            by_reason: matches.get_flag("type-stat"),
            by_instruction: matches.get_flag("insn-stat"),
        },
    })
}
