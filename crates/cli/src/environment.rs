//! What the environment says: the only place that asks it.

use std::ffi::OsString;
use std::path::PathBuf;

/// perf's build-id cache, `~/.debug`.
pub(crate) fn build_id_cache() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty())?;
    Some(PathBuf::from(home).join(".debug"))
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
