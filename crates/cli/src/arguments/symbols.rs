//! The options that say where names come from, shared by all commands that show names.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_objects::SearchPaths;
use oxperf_query::SymbolOptions;
use oxperf_symbols::Demangling;

use crate::configuration::Configuration;

use super::{DEBUGINFOD, build_id_cache, debuginfod, file, flag, guests, text};

/// Options of perf that choose what there is no choice of: no other program is run for source lines, one unwinder reads
/// all stacks, and a kernel image names nothing unless it is given.
const ACCEPTED: [&str; 3] = ["addr2line", "addr2line-style", "unwind-style"];

/// The options.
pub(crate) fn arguments() -> Vec<Arg> {
    let accepted = |name: &'static str| Arg::new(name).long(name).value_name("what").hide(true);
    let mut all = chosen();
    all.extend(ACCEPTED.map(accepted));
    all.extend(guests::arguments());
    all.push(
        Arg::new("ignore-vmlinux")
            .long("ignore-vmlinux")
            .action(ArgAction::SetTrue)
            .hide(true),
    );
    all
}

fn chosen() -> Vec<Arg> {
    vec![
        Arg::new("symfs")
            .long("symfs")
            .value_name("directory[,layout]")
            .help("Look for the recorded files below DIR"),
        Arg::new("kallsyms")
            .long("kallsyms")
            .value_name("file")
            .help("Kernel symbols from this copy of /proc/kallsyms"),
        Arg::new("vmlinux")
            .long("vmlinux")
            .short('k')
            .value_name("file")
            .help("Kernel symbols from this kernel image"),
        debuginfod_argument(),
        Arg::new("demangle")
            .long("demangle")
            .action(ArgAction::SetTrue)
            .overrides_with("no-demangle")
            .help("Show C++ and Rust names as written in the source (default)"),
        Arg::new("no-demangle")
            .long("no-demangle")
            .action(ArgAction::SetTrue)
            .help("Show names as the linker knows them"),
        Arg::new("demangle-kernel")
            .long("demangle-kernel")
            .action(ArgAction::SetTrue)
            .help("Show the kernel's names as written in the source, too"),
        Arg::new("inline")
            .long("inline")
            .action(ArgAction::SetTrue)
            .overrides_with("no-inline")
            .help("Show inlined functions in call chains (default)"),
        Arg::new("no-inline")
            .long("no-inline")
            .action(ArgAction::SetTrue)
            .help("Do not show inlined functions: debug information is not read for them"),
        Arg::new("full-source-path")
            .long("full-source-path")
            .action(ArgAction::SetTrue)
            .help("Show source files with their whole paths"),
    ]
}

/// The option that lets servers be asked.
pub(crate) fn debuginfod_argument() -> Arg {
    Arg::new(DEBUGINFOD)
        .long("debuginfod")
        .value_name("debuginfod urls")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help("Fetch missing programs and debug files from these servers, or from those of DEBUGINFOD_URLS")
}

/// The sources and the form of names; the usual ones of a command without these options.
pub(crate) fn options(matches: &ArgMatches, configuration: &Configuration) -> SymbolOptions {
    let demangling = if flag(matches, "no-demangle") {
        Demangling::Off
    } else {
        Demangling::default()
    };
    SymbolOptions {
        search_paths: search_paths(matches, configuration),
        demangling,
        demangle_kernel: flag(matches, "demangle-kernel"),
        inlines: !flag(matches, "no-inline"),
        whole_source_paths: flag(matches, "full-source-path"),
        kallsyms: file(matches, "kallsyms"),
        vmlinux: file(matches, "vmlinux"),
        guests: guests::options(matches),
    }
}

fn search_paths(matches: &ArgMatches, configuration: &Configuration) -> SearchPaths {
    let symfs = text(matches, "symfs").filter(|dir| !dir.is_empty());
    let (root, flat) = match symfs {
        Some(dir) => match dir.strip_suffix(",flat") {
            Some(dir) => (Some(PathBuf::from(dir)), true),
            None => (Some(PathBuf::from(dir)), false),
        },
        None => (None, false),
    };
    SearchPaths {
        root,
        flat,
        build_id_cache: build_id_cache(matches, configuration),
        debuginfod: debuginfod(matches),
        any_owner: flag(matches, "force"),
        ..SearchPaths::default()
    }
}
