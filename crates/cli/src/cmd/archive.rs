//! `archive`: the cached binaries of a recording as one file, to be put into the cache of another machine.

mod arguments;
mod unpack;

use std::path::{Path, PathBuf};

use oxperf_objects::{BuildIdCache, CacheFile, Cached};
use oxperf_query::SymbolOptions;
use oxperf_tar::TarError;

use super::buildid_list;
use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::Input;
use crate::output::print_line;
use crate::packing::Packing;

/// The name of the recording in an archive.
const RECORDING: &str = "perf.data";

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "archive",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration);
        run(&options, &invocation.program)
    },
    shares_work: true,
};

/// The options of `archive`.
struct ArchiveOptions {
    /// The cache of binaries by build id.
    cache: Option<PathBuf>,
    /// The recording, or the archive to unpack.
    file: Option<String>,
    /// An archive is unpacked.
    unpack: bool,
    /// The recording is packed, too.
    with_recording: bool,
    /// Recordings of other users are read.
    force: bool,
    symbols: SymbolOptions,
}

/// Runs `archive`.
fn run(options: &ArchiveOptions, program: &str) -> Result<i32, Failure> {
    let root = options.cache.clone();
    let root = root
        .ok_or_else(|| Failure::new("there is no home folder: name a cache with --buildid-dir"))?;
    let cache = BuildIdCache::new(root);
    if options.unpack {
        unpack::run(&cache, options.file.as_deref().map(Path::new))?;
    } else {
        pack(&cache, options, program)?;
    }
    Ok(code::SUCCESS)
}

fn pack(cache: &BuildIdCache, options: &ArchiveOptions, program: &str) -> Result<(), Failure> {
    let file = options.file.as_deref().unwrap_or(RECORDING);
    let input = Input::open(file, options.force)?;
    let reader = input.reader()?;
    let named = buildid_list::binaries(&options.symbols, &input, &reader, false)?;
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
    let recording = options.with_recording.then_some(Path::new(file));
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
