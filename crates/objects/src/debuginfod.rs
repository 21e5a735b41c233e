//! Files by build id from debuginfod servers, kept where the standard client keeps them:
//! `CACHE/BUILDID/debuginfo` and `CACHE/BUILDID/executable`; an empty file says that no server had it.
//!
//! Only an ELF file of the build id that was asked for is kept: anything else that a server says, or that stands in the cache, is
//! as if it were not there. The cache is held below a size and an age ([`eviction`]).

mod eviction;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use oxperf_abi::BuildId;
use oxperf_sys::files::create_output;

use oxperf_http::{HttpClient, HttpError, Limits};

use crate::contents::Contents;
use crate::elf::Elf;
use crate::error::FetchError;

/// The time that the answer "no server has the file" holds, as with the standard client.
const MISSING_HOLDS: Duration = Duration::from_secs(600);

/// The servers that may be asked, and how much they may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Debuginfod {
    /// Addresses such as `https://debuginfod.debian.net` and `http://localhost:8002`, asked in this order.
    pub urls: Vec<String>,
    /// The folder of what was fetched.
    pub cache: PathBuf,
    /// Longest silence of a server.
    pub patience: Duration,
    /// Longest time for a file.
    pub time_limit: Duration,
    /// Bytes of a file.
    pub size_limit: u64,
    /// Bytes of all files in the cache, beyond which those go that were used least recently.
    pub cache_limit: u64,
    /// The certificates of those who say that servers are what they claim, as PEM; else those of the system.
    pub authorities: Option<PathBuf>,
}

/// The kind of file that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    /// The program or library itself.
    Executable,
    /// Its separate debug file.
    DebugInfo,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Executable => "executable",
            Part::DebugInfo => "debuginfo",
        }
    }
}

type Answer = Result<PathBuf, FetchError>;
/// Each is found once, by the first who asks.
type Answers = HashMap<(BuildId, Part), Arc<OnceLock<Answer>>>;

/// Asks servers; each file once, and no server again that could not be reached.
#[derive(Debug)]
pub(crate) struct Fetcher {
    servers: Debuginfod,
    client: HttpClient,
    answers: Mutex<Answers>,
    unreachable: Mutex<HashSet<usize>>,
    written: AtomicU32,
}

impl Fetcher {
    pub(crate) fn new(servers: Debuginfod) -> Fetcher {
        let (answers, unreachable) = (Mutex::default(), Mutex::default());
        let limits = Limits {
            patience: servers.patience,
            time: servers.time_limit,
            size: servers.size_limit,
        };
        let client = HttpClient::new(limits, servers.authorities.clone());
        Fetcher {
            servers,
            client,
            answers,
            unreachable,
            written: AtomicU32::new(0),
        }
    }

    /// The path at which a file is kept, or would be.
    pub(crate) fn place(&self, id: BuildId, part: Part) -> PathBuf {
        self.servers.cache.join(id.to_string()).join(part.name())
    }

    /// The path of a file in the cache, fetched if it is not there.
    pub(crate) fn fetch(&self, id: BuildId, part: Part) -> Answer {
        let slot = Arc::clone(lock(&self.answers).entry((id, part)).or_default());
        slot.get_or_init(|| self.cached_or_fetched(id, part))
            .clone()
    }

    fn cached_or_fetched(&self, id: BuildId, part: Part) -> Answer {
        let place = self.place(id, part);
        match fs::metadata(&place) {
            Ok(data) if data.len() > 0 && is_wanted(&place, id) => {
                eviction::note_use(&place);
                return Ok(place);
            }
            Ok(data) if data.len() == 0 && is_recent(&data) => return Err(FetchError::NotThere),
            _ => {}
        }
        let mut outcome = Err(FetchError::NotThere);
        for (server, url) in self.servers.urls.iter().enumerate() {
            if lock(&self.unreachable).contains(&server) {
                continue;
            }
            let address = format!("{}/buildid/{id}/{}", url.trim_end_matches('/'), part.name());
            match self.fetch_from(&address, &place, id) {
                Ok(()) => {
                    eviction::make_room(&self.servers.cache, self.servers.cache_limit, &place);
                    return Ok(place);
                }
                Err(FetchError::Server(HttpError::Status(404))) => {}
                Err(why) => {
                    if why.is_of_the_server() {
                        lock(&self.unreachable).insert(server);
                    }
                    outcome = Err(why);
                }
            }
        }
        if outcome == Err(FetchError::NotThere) && lock(&self.unreachable).is_empty() {
            // Without this note the servers are asked again: nothing depends on it.
            let _ = folder_of(&place).and_then(|()| create_output(&place));
        }
        outcome
    }

    /// Writes beside the place and moves there what was asked for, so that nobody reads half a file.
    fn fetch_from(&self, address: &str, place: &Path, id: BuildId) -> Result<(), FetchError> {
        let cache = |error: io::Error| FetchError::Cache(error.kind());
        folder_of(place).map_err(cache)?;
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let beside = place.with_extension(format!("{}.{number}.tmp", std::process::id()));
        let mut file = BufWriter::new(create_output(&beside).map_err(cache)?);
        let fetched = self
            .client
            .get(address, &mut file)
            .map_err(FetchError::from);
        let fetched = fetched
            .and_then(|()| file.flush().map_err(cache))
            .and_then(|()| {
                if is_wanted(&beside, id) {
                    Ok(())
                } else {
                    Err(FetchError::SomethingElse)
                }
            })
            .and_then(|()| fs::rename(&beside, place).map_err(cache));
        fetched.inspect_err(|_| {
            let _ = fs::remove_file(&beside);
        })
    }
}

fn folder_of(place: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(place.parent().unwrap_or(Path::new(".")))
}

/// Returns whether a file is an ELF file with this build id.
fn is_wanted(path: &Path, id: BuildId) -> bool {
    let Ok(contents) = Contents::open(path) else {
        return false;
    };
    let found = Elf::parse(&contents).ok().and_then(|file| file.build_id());
    found.is_some_and(|found| found.padded() == id.padded())
}

fn is_recent(data: &fs::Metadata) -> bool {
    data.modified()
        .ok()
        .and_then(|time| time.elapsed().ok())
        .is_some_and(|age| age < MISSING_HOLDS)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
