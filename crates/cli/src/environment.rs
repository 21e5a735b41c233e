//! The environment, which nothing else asks.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use oxperf_objects::Debuginfod;
use oxperf_pmu::CpuModel;
use oxperf_sys::Sysfs;

use crate::configuration;
use crate::configuration::files::{self, ConfigurationFiles};

/// perf's build-id cache: the folder that is named, else `~/.debug`.
pub(crate) fn build_id_cache(named: Option<&str>) -> Option<PathBuf> {
    let named = named.map(|folder| match folder.strip_prefix("~/") {
        Some(below) => home().map_or_else(|| PathBuf::from(folder), |home| home.join(below)),
        None => PathBuf::from(folder),
    });
    named.or_else(|| Some(home()?.join(".debug")))
}

/// The user's folder.
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME")
        .filter(|home| !home.is_empty())
        .map(PathBuf::from)
}

/// perf's configuration files, as `PERF_CONFIG`, `PERF_CONFIG_NOSYSTEM` and `PERF_CONFIG_NOGLOBAL` choose them.
pub(crate) fn configuration_files() -> ConfigurationFiles {
    if let Some(named) = std::env::var_os("PERF_CONFIG") {
        return ConfigurationFiles::Only(PathBuf::from(named));
    }
    let is_true = |name| {
        let value = std::env::var(name).ok();
        value.and_then(|value| configuration::flag(&value)) == Some(true)
    };
    ConfigurationFiles::Usual {
        system: (!is_true("PERF_CONFIG_NOSYSTEM")).then(|| PathBuf::from(files::SYSTEM)),
        user: home()
            .filter(|_| !is_true("PERF_CONFIG_NOGLOBAL"))
            .map(|home| home.join(".perfconfig")),
    }
}

/// The description of this machine's PMUs, CPUs and nodes: below `SYSFS_PATH`, else `/sys`.
pub(crate) fn sysfs() -> Sysfs {
    std::env::var_os("SYSFS_PATH").map_or_else(Sysfs::default, Sysfs::at)
}

/// The columns of the terminal: what `COLUMNS` says, else what the terminal behind standard output says, else 80.
pub(crate) fn columns() -> usize {
    let named = std::env::var("COLUMNS").ok();
    let named = named
        .and_then(|text| text.parse().ok())
        .filter(|columns| *columns > 0);
    named
        .or_else(|| oxperf_sys::terminal::width(std::io::stdout()))
        .unwrap_or(80)
}

/// The model of this machine's CPU, by which tables of events are chosen: what `OXPERF_CPUID` or `PERF_CPUID` says, else
/// what the kernel says.
pub(crate) fn cpu_model() -> Option<CpuModel> {
    let named = |name| std::env::var(name).ok().filter(|text| !text.is_empty());
    let given = named("OXPERF_CPUID").or_else(|| named("PERF_CPUID"));
    given
        .map(CpuModel::named)
        .or_else(|| CpuModel::of_machine(Path::new("/proc"), sysfs().root()))
}

/// The folder where the events that are opened are described, for perf's own tests of attributes: `PERF_TEST_ATTR`.
pub(crate) fn open_log() -> Option<PathBuf> {
    std::env::var_os("PERF_TEST_ATTR")
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}

/// `true` if a variable is set, to whatever.
pub(crate) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some()
}

/// The command line of the pager: `PERF_PAGER`, else that of the configuration, else `PAGER`, else the system's. `None`
/// where text is not to be paged.
pub(crate) fn pager(configured: Option<&str>) -> Option<OsString> {
    let named = std::env::var_os("PERF_PAGER")
        .or_else(|| configured.map(OsString::from))
        .or_else(|| std::env::var_os("PAGER"));
    let usual = || {
        let programs = ["/usr/bin/pager", "/usr/bin/less"];
        let found = programs
            .into_iter()
            .find(|program| Path::new(program).exists());
        found.map(OsString::from)
    };
    named
        .or_else(usual)
        .filter(|program| !program.is_empty() && program != "cat")
}

/// The folder for facts that this program can find out again: `$XDG_CACHE_HOME/oxperf`, else `~/.cache/oxperf`.
pub(crate) fn cache() -> Option<PathBuf> {
    Some(caches()?.join("oxperf"))
}

/// The folder of all programs' caches.
fn caches() -> Option<PathBuf> {
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

/// The folder of the tables of events that the user has imported: `$XDG_DATA_HOME/oxperf/pmu-events`, else below
/// `~/.local/share`.
pub(crate) fn imported_tables() -> Option<PathBuf> {
    let data = || Some(absolute("HOME")?.join(".local/share"));
    let data = absolute("XDG_DATA_HOME").or_else(data)?;
    Some(data.join("oxperf/pmu-events"))
}

/// The absolute path that a variable holds.
fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name)
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
}

/// The debuginfod servers that may be asked: those that `--debuginfod=URLS` names, else those of `DEBUGINFOD_URLS`. Limits and the cache are set as for the standard client.
pub(crate) fn debuginfod(given: &str) -> Option<Debuginfod> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let urls = Some(given.to_owned())
        .filter(|urls| !urls.is_empty())
        .or_else(|| variable("DEBUGINFOD_URLS"))?;
    let number = |name, otherwise| {
        variable(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(otherwise)
    };
    let usual = || Some(caches()?.join("debuginfod_client"));
    let cache = variable("DEBUGINFOD_CACHE_PATH")
        .map(PathBuf::from)
        .or_else(usual)?;
    Some(Debuginfod {
        urls: urls.split_whitespace().map(str::to_owned).collect(),
        cache,
        patience: Duration::from_secs(number("DEBUGINFOD_TIMEOUT", 30).max(1)),
        time_limit: Duration::from_secs(number("DEBUGINFOD_MAXTIME", 300).max(1)),
        size_limit: number("DEBUGINFOD_MAXSIZE", 4 << 30),
        cache_limit: number("OXPERF_DEBUGINFOD_CACHE_SIZE", 16 << 30),
        authorities: authorities(),
    })
}

/// The certificates of those who say that servers are what they claim; `None` for those of the system.
pub(crate) fn authorities() -> Option<PathBuf> {
    let file = std::env::var_os("SSL_CERT_FILE").filter(|file| !file.is_empty());
    file.map(PathBuf::from)
}

/// The words of the command line, of which the first is the name of the program.
pub(crate) fn words() -> std::env::ArgsOs {
    std::env::args_os()
}

/// `true` if a user types and reads: standard input and output are a terminal.
pub(crate) fn is_interactive() -> bool {
    std::io::stdin().is_terminal() && output_is_terminal()
}

/// `true` if standard output goes to a terminal.
pub(crate) fn output_is_terminal() -> bool {
    std::io::stdout().is_terminal()
}

/// What the user says of everything that is sent to OpenTelemetry: `KEY=VALUE`, separated by commas.
pub(crate) fn resource_attributes() -> Option<String> {
    std::env::var("OTEL_RESOURCE_ATTRIBUTES").ok()
}

/// What receivers of OpenTelemetry want to see besides a message, such as who sends it: `NAME=VALUE`, separated by commas.
pub(crate) fn receiver_headers() -> Option<String> {
    std::env::var("OTEL_EXPORTER_OTLP_HEADERS").ok()
}

/// The service that samples are of, for OpenTelemetry.
pub(crate) fn service_name() -> Option<String> {
    let name = std::env::var("OTEL_SERVICE_NAME").ok();
    name.filter(|name| !name.is_empty())
}

/// All variables, for a program that is started.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// `true` if standard error goes to a terminal.
pub(crate) fn error_is_terminal() -> bool {
    std::io::stderr().is_terminal()
}

/// The size of the terminal behind standard error, if it has one.
pub(crate) fn error_terminal() -> Option<oxperf_sys::terminal::TerminalSize> {
    oxperf_sys::terminal::size(std::io::stderr())
}

/// The text between groups of digits, in the user's locale.
pub(crate) fn digit_separator() -> Option<String> {
    oxperf_sys::locale::digit_separator()
}

/// The search path of programs.
pub(crate) fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}

/// This program's file.
pub(crate) fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// This program's file and its arguments, as text.
pub(crate) fn command_line() -> Vec<String> {
    let program = program().map(|path| path.to_string_lossy().into_owned());
    let arguments = std::env::args_os()
        .skip(1)
        .map(|argument| match argument.into_string() {
            Ok(text) => text,
            Err(bytes) => bytes.to_string_lossy().into_owned(),
        });
    program.into_iter().chain(arguments).collect()
}

/// The user's choice of colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ColourChoice {
    /// Text has colours.
    Always,
    /// It has none.
    Never,
    /// It has colours where it goes to a terminal.
    OnTerminals,
}

/// `true` if text on standard output has colours.
pub(crate) fn colours(choice: ColourChoice) -> bool {
    match choice {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::OnTerminals => std::io::stdout().is_terminal() && wants_colour(),
    }
}

/// `true` if the user has not asked programs to leave colours out.
pub(crate) fn wants_colour() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && !is_dumb_terminal()
}

/// `true` if the terminal can do nothing but append.
pub(crate) fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
