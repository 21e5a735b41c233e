//! `archive`: the cached binaries of a recording as one file, to be put into the cache of another machine.

mod unpack;

use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use oxperf_objects::{BuildIdCache, CacheFile, Cached};
use oxperf_tar::TarError;

use super::buildid_list;
use crate::environment;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::output::print_line;
use crate::packing::Packing;

/// The name of the recording in an archive.
const RECORDING: &str = "perf.data";

/// The options.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help| {
        Arg::new(name)
            .long(name)
            .action(ArgAction::SetTrue)
            .help(help)
    };
    Command::new("archive")
        .about("Pack the cached binaries of a recording for another machine, and unpack them there")
        .args([
            Arg::new("file")
                .value_name("FILE")
                .help("The recording [default: perf.data], or what to unpack"),
            flag("all", "Pack the recording, too"),
            flag(
                "unpack",
                "Put the binaries into the cache here, and the recording into this folder",
            ),
            flag("force", "Read a recording that belongs to somebody else").short('f'),
        ])
}

/// Runs `archive`.
pub(crate) fn run(matches: &ArgMatches, program: &str) -> Result<i32, Failure> {
    let root = environment::build_id_cache(matches);
    let root = root
        .ok_or_else(|| Failure::new("there is no home folder: name a cache with --buildid-dir"))?;
    let cache = BuildIdCache::new(root);
    let file = matches.get_one::<String>("file").map(String::as_str);
    match matches.get_flag("unpack") {
        true => unpack::run(&cache, file.map(Path::new))?,
        false => pack(&cache, file.unwrap_or(RECORDING), matches, program)?,
    }
    Ok(code::SUCCESS)
}

fn pack(
    cache: &BuildIdCache,
    file: &str,
    matches: &ArgMatches,
    program: &str,
) -> Result<(), Failure> {
    let input = Input::open(file, matches.get_flag("force"))?;
    let reader = input.reader()?;
    let named = buildid_list::binaries(
        &crate::arguments::symbols::options(matches),
        &input,
        &reader,
        false,
    )?;
    let cached: Vec<Cached> = named
        .into_iter()
        .filter_map(|(id, _)| cache.find(id?))
        .collect();
    if cached.is_empty() {
        return Err(Failure::new(format!(
            "{program} archive: no build-ids found"
        )));
    }
    let target = PathBuf::from(format!("{file}.tar.zst"));
    let recording = matches.get_flag("all").then_some(Path::new(file));
    write(&target, &cached, recording).map_err(|error| unusable(&target, &error))?;
    print_line(&format!(
        "Now please run:\n\n$ tar xvf {} -C ~/.debug\n\nwherever you need to run '{program} report' on.",
        target.display()
    ))?;
    Ok(())
}

fn write(target: &Path, cached: &[Cached], recording: Option<&Path>) -> Result<(), TarError> {
    let mut packing = Packing::create(target)?;
    for entry in cached {
        let id = entry.build_id.to_string();
        let folder = format!("{}/{id}", entry.name.trim_start_matches('/'));
        let (head, rest) = id.split_at_checked(2).unwrap_or((&id, ""));
        packing.add_link(
            &format!(".build-id/{head}/{rest}"),
            &format!("../../{folder}"),
        )?;
        for kind in CacheFile::ALL {
            let path = entry.folder.join(kind.name());
            if std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
                packing.add(&format!("{folder}/{}", kind.name()), &path)?;
            }
        }
    }
    if let Some(recording) = recording {
        packing.add(RECORDING, recording)?;
    }
    packing.finish().map(drop)
}

fn unusable(path: &Path, error: &TarError) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
