//! What the environment says: the only place that asks it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgMatches;

/// The option that names the build-id cache; every command has it.
pub(crate) const BUILD_ID_DIR: &str = "buildid-dir";

/// perf's build-id cache: what `--buildid-dir` names, else `~/.debug`.
pub(crate) fn build_id_cache(matches: &ArgMatches) -> Option<PathBuf> {
    if let Some(folder) = matches.get_one::<String>(BUILD_ID_DIR).filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(PathBuf::from(home).join(".debug"))
}

/// Where this program may keep what it can find out again: `$XDG_CACHE_HOME/oxperf`, else `~/.cache/oxperf`.
pub(crate) fn cache() -> Option<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(base.join("oxperf"))
}

/// All variables, for a program that is started.
pub(crate) fn variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().collect()
}

/// Where programs are looked for.
pub(crate) fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}

/// This program's file and its arguments, as text.
pub(crate) fn command_line() -> Vec<String> {
    let program = std::env::current_exe().ok().map(|path| path.to_string_lossy().into_owned());
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    program.into_iter().chain(arguments).collect()
}

/// Whether the user has not asked programs to leave colours out.
pub(crate) fn wants_colour() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !set("NO_COLOR") && !is_dumb_terminal()
}

/// Whether the terminal can do nothing but append.
pub(crate) fn is_dumb_terminal() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}
