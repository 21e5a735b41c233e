//! The option groups that several commands share, and the typed options that are made of them. `ArgMatches` ends here
//! and in the commands' own `arguments.rs`.

pub(crate) mod behind;
pub(crate) mod filter;
pub(crate) mod guests;
pub(crate) mod input;
pub(crate) mod itrace;
pub(crate) mod kinds;
pub(crate) mod stitch;
pub(crate) mod switching;
pub(crate) mod symbols;

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use oxperf_objects::Debuginfod;

use crate::cmd::kvm::GuestRecording;
use crate::configuration::Configuration;
use crate::environment::{self, ColourChoice};
use crate::failure::Failure;
use crate::globals::GlobalOptions;
use crate::recording_options::RecordingOptions;
use crate::sql::SqlEngine;

/// A command of the program, or of a command.
pub(crate) struct Entry {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// Its options.
    pub(crate) command: fn() -> Command,
    /// Runs it with its options; gives the exit code.
    pub(crate) run: fn(&ArgMatches, &Invocation) -> Result<i32, Failure>,
    /// It has work for several threads.
    pub(crate) shares_work: bool,
}

/// The surroundings of a command: what a run of the program has beside the command's own options.
pub(crate) struct Invocation {
    /// The name that the program was called by, without its folder.
    pub(crate) program: String,
    /// The options before the command.
    pub(crate) globals: GlobalOptions,
    /// The values of the configuration files.
    pub(crate) configuration: Configuration,
    /// The guests that a recording is about, where `kvm` runs the command.
    pub(crate) guests: Option<GuestRecording>,
    /// The SQL engine of this program, if it has one.
    pub(crate) engine: Option<&'static dyn SqlEngine>,
}

/// The option that names the build-id cache; every command has it.
pub(crate) const BUILD_ID_DIR: &str = "buildid-dir";

/// The option that lets servers be asked.
const DEBUGINFOD: &str = "debuginfod";

/// The option that every command takes.
pub(crate) fn build_id_argument() -> Arg {
    Arg::new(BUILD_ID_DIR)
        .long(BUILD_ID_DIR)
        .value_name("dir")
        .global(true)
        .help("The cache of binaries by build id [default: ~/.debug]")
}

/// All groups that the command has.
pub(crate) fn recording(matches: &ArgMatches, configuration: &Configuration) -> RecordingOptions {
    RecordingOptions {
        input: input::options(matches),
        filter: filter::options(matches),
        switching: switching::options(matches),
        symbols: symbols::options(matches, configuration),
        trace: itrace::options(matches, configuration),
        stitch_lbr: stitch::is_given(matches),
        quiet: flag(matches, "quiet"),
    }
}

/// perf's build-id cache: the folder that was given, else the usual one.
pub(crate) fn build_id_cache(
    matches: &ArgMatches,
    configuration: &Configuration,
) -> Option<PathBuf> {
    let given = text(matches, BUILD_ID_DIR).filter(|folder| !folder.is_empty());
    environment::build_id_cache(given.or_else(|| configuration.text("buildid.dir")))
}

/// The debuginfod servers that may be asked.
pub(crate) fn debuginfod(matches: &ArgMatches) -> Option<Debuginfod> {
    environment::debuginfod(text(matches, DEBUGINFOD)?)
}

/// `--stdio-color`: `true` if text on standard output has colours.
pub(crate) fn colours(matches: &ArgMatches) -> bool {
    environment::colours(match text(matches, "stdio-color") {
        Some("always") => ColourChoice::Always,
        Some("never") => ColourChoice::Never,
        _ => ColourChoice::OnTerminals,
    })
}

/// `--percentage`, else `hist.percentage`: `true` if shares are of what is shown, and not of all samples.
pub(crate) fn shares_are_relative(matches: &ArgMatches, configuration: &Configuration) -> bool {
    let asked = text(matches, "percentage").or_else(|| configuration.text("hist.percentage"));
    asked == Some("relative")
}

/// `true` if the user gave an option: its value is not the default.
pub(crate) fn is_given(matches: &ArgMatches, name: &str) -> bool {
    matches.value_source(name) == Some(ValueSource::CommandLine)
}

/// `-t`: the text between columns, if one was asked for.
pub(crate) fn separator(matches: &ArgMatches) -> Option<String> {
    let given = text(matches, "field-separator").filter(|text| !text.is_empty());
    given.map(str::to_owned)
}

/// The text of an option that the command may not have.
pub(crate) fn text<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m str> {
    let given = matches.try_get_one::<String>(name).ok().flatten();
    given.map(String::as_str)
}

/// The file of an option that the command may not have.
pub(crate) fn file(matches: &ArgMatches, name: &str) -> Option<PathBuf> {
    text(matches, name).map(PathBuf::from)
}

/// `true` if a switch is given that the command may not have.
pub(crate) fn flag(matches: &ArgMatches, name: &str) -> bool {
    let given = matches.try_get_one::<bool>(name).ok().flatten();
    given.copied().unwrap_or(false)
}
