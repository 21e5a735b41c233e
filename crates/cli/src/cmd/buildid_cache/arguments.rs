//! The options of `buildid-cache`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::CacheOptions;
use crate::arguments::{build_id_cache, debuginfod, file, symbols, text};
use crate::configuration::Configuration;
use crate::environment;

/// The options.
pub(super) fn command() -> Command {
    let files = |name: &'static str, short, help| {
        Arg::new(name)
            .long(name)
            .short(short)
            .value_name("file list")
            .action(ArgAction::Append)
            .help(help)
    };
    let flag = |name: &'static str, short, help| {
        Arg::new(name)
            .long(name)
            .short(short)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("buildid-cache").about("Show and change the cache of binaries by build id").args([
        files("add", 'a', "Put these files in, comma separated"),
        files("remove", 'r', "Take these files out, in the version that they have now"),
        files("purge", 'p', "Take these files out in every version"),
        flag("purge-all", 'P', "Take everything out"),
        files("update", 'u', "Put these files in anew"),
        flag("list", 'l', "List what is in the cache"),
        Arg::new("missing")
            .long("missing")
            .short('M')
            .value_name("file")
            .help("List the binaries of a recording that are not in the cache"),
        Arg::new("kcore")
            .long("kcore")
            .short('k')
            .value_name("file")
            .help("Copy the running kernel's code (/proc/kcore), with its lists of symbols and modules"),
        Arg::new("target-ns")
            .long("target-ns")
            .value_name("n")
            .value_parser(clap::value_parser!(u32))
            .help("Take files from the root of this process"),
        flag("force", 'f', "Read a recording that belongs to somebody else; copy a kernel's memory again"),
        flag("verbose", 'v', "Tell what is done"),
        symbols::debuginfod_argument(),
    ])
}

/// The options as values.
pub(super) fn options(matches: &ArgMatches, configuration: &Configuration) -> CacheOptions {
    let actions = ["add", "remove", "purge", "update", "missing", "kcore"];
    let any_action = actions.iter().any(|name| matches.contains_id(name));
    CacheOptions {
        root: build_id_cache(matches, configuration),
        debuginfod: debuginfod(matches)
            .or_else(|| environment::debuginfod(configuration.text("buildid-cache.debuginfod")?)),
        process: matches.get_one::<u32>("target-ns").copied(),
        verbose: matches.get_flag("verbose"),
        force: matches.get_flag("force"),
        does_something: any_action || matches.get_flag("purge-all") || matches.get_flag("list"),
        add: listed(matches, "add"),
        remove: listed(matches, "remove"),
        purge: listed(matches, "purge"),
        purge_all: matches.get_flag("purge-all"),
        update: listed(matches, "update"),
        kcore: file(matches, "kcore"),
        missing: text(matches, "missing").map(str::to_owned),
        list: matches.get_flag("list"),
        symbols: symbols::options(matches, configuration),
    }
}

/// The files of all lists, which are comma separated.
fn listed(matches: &ArgMatches, name: &str) -> Vec<PathBuf> {
    let lists = matches.get_many::<String>(name).into_iter().flatten();
    lists
        .flat_map(|list| list.split(','))
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .collect()
}
