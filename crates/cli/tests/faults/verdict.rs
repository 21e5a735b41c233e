//! What has to hold of a run in which a call failed.

use std::path::Path;

use crate::cases::{Case, Role};
use crate::preload::Fault;
use crate::run::{Ended, Place, Stage};

/// Returns what the C library says of the error numbers that are injected.
fn reasons(errno: i32) -> &'static str {
    match errno {
        EINTR => "Interrupted system call",
        EIO => "Input/output error",
        EAGAIN => "Resource temporarily unavailable",
        ENOMEM => "Cannot allocate memory",
        EACCES => "Permission denied",
        EMFILE => "Too many open files",
        ENOSPC => "No space left on device",
        other => panic!("an error number without a text: {other}"),
    }
}

pub(crate) const EINTR: i32 = 4;
pub(crate) const EIO: i32 = 5;
pub(crate) const EAGAIN: i32 = 11;
pub(crate) const ENOMEM: i32 = 12;
pub(crate) const EACCES: i32 = 13;
pub(crate) const EMFILE: i32 = 24;
pub(crate) const ENOSPC: i32 = 28;

/// Returns the reason why a run is wrong, if it is. `whole` is the run of the same case in which no call failed.
pub(crate) fn judge(
    stage: &Stage,
    case: &Case,
    fault: Fault,
    place: &Place,
    ended: &Ended,
    whole: &Ended,
) -> Option<String> {
    if let Some(wrong) = harm(ended) {
        return Some(wrong);
    }
    let mut messages = ended.messages_beside(whole);
    let said = String::from_utf8_lossy(&ended.stdout);
    if case.role == Role::Examines {
        let known = String::from_utf8_lossy(&whole.stdout);
        messages.extend(
            said.lines()
                .filter(|line| !known.lines().any(|other| other == *line)),
        );
    }
    let recorded = matches!(case.role, Role::Records(_));
    if let Role::Records(into) = case.role
        && let Some(wrong) = recording(stage, into, place, ended, messages.is_empty())
    {
        return Some(wrong);
    }
    if ended.state.injected == 0 {
        return None;
    }
    if transparent(fault) {
        let other = (!recorded && differs(ended, whole)).then(|| "another result".to_owned());
        let noticed = || {
            messages
                .first()
                .map(|message| format!("it is noticed: {message}"))
        };
        return noticed().or(other);
    }
    if ended.status.code() != whole.status.code() {
        return match messages.is_empty() {
            true => Some(format!("{} without a message", ended.status)),
            false => unnamed(case, fault, ended, &messages),
        };
    }
    let silent = messages.is_empty() && !recorded && differs(ended, whole);
    silent.then(|| "another result without a message".to_owned())
}

/// The messages of libraries that end a process without memory and ask nobody: the C library where it cannot note down
/// thread-local values, the standard library where it has no memory for the handle of a new thread, which does not come
/// from the program's allocator.
const ENDS_BY_LIBRARIES: [&str; 2] = [
    "Fatal glibc error: failed to register TLS destructor",
    "memory allocation of 48 bytes failed",
];

fn is_of_a_library(said: &str) -> bool {
    ENDS_BY_LIBRARIES.iter().any(|text| said.contains(text))
}

/// Returns the faults that may not happen at all: no end, a crash, an input that changed, a file left behind without a word.
fn harm(ended: &Ended) -> Option<String> {
    if ended.hung {
        return Some("no end".to_owned());
    }
    if ended.crashed() && !is_of_a_library(&ended.stderr) {
        let line = ended
            .stderr
            .lines()
            .find(|line| !line.is_empty())
            .unwrap_or("no message");
        return Some(format!("{}: {line}", ended.status));
    }
    let changed = ended
        .changed
        .first()
        .map(|path| format!("{} changed", path.display()));
    // Without memory there is no removing either.
    let removes = ["cannot remove ", "out of memory"]
        .iter()
        .any(|said| ended.stderr.contains(said));
    let left = ended
        .files
        .keys()
        .find(|path| path.starts_with("tmp") && !removes);
    changed.or_else(|| left.map(|path| format!("{} is left", path.display())))
}

/// Returns true if the failure is one that nobody may notice: the call is to be made again.
pub(crate) fn transparent(fault: Fault) -> bool {
    matches!(fault.errno, 0 | EINTR)
}

fn differs(ended: &Ended, whole: &Ended) -> bool {
    ended.stdout != whole.stdout
        || ended.files != whole.files
        || ended.status.code() != whole.status.code()
}

/// A message says which file it is about, or why the call failed.
fn unnamed(case: &Case, fault: Fault, ended: &Ended, messages: &[&str]) -> Option<String> {
    let file = ended
        .state
        .what
        .split_once(' ')
        .map_or("", |(_, path)| path);
    let file = Path::new(file)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("\0");
    if fault.kind == "alloc"
        && messages
            .iter()
            .any(|message| message.contains("out of memory") || is_of_a_library(message))
    {
        return None;
    }
    let mut known: Vec<&str> = case
        .words
        .iter()
        .copied()
        .filter(|word| word.contains('.'))
        .collect();
    // The process that becomes the workload fails on its own, and what is known of it is that it ended.
    known.extend([reasons(fault.errno), file, "tiny' workload"]);
    let named = messages
        .iter()
        .any(|message| known.iter().any(|text| message.contains(text)));
    (!named).then(|| format!("the message says neither what nor why: {}", messages[0]))
}

/// A recording that was made without a message is whole, and whatever there is of one can be read.
fn recording(
    stage: &Stage,
    into: Option<&'static str>,
    place: &Place,
    ended: &Ended,
    silent: bool,
) -> Option<String> {
    let bytes = match into {
        Some(name) => ended.files.get(&Path::new("work").join(name)),
        None => Some(&ended.stdout),
    };
    let Some(bytes) = bytes.filter(|bytes| !bytes.is_empty()) else {
        return silent.then(|| "no recording, and no message".to_owned());
    };
    let read = stage.script(place, bytes);
    let text = String::from_utf8_lossy(&read.stdout);
    let whole = ["PERF_RECORD_COMM exec: tiny", "PERF_RECORD_EXIT", "/tiny"]
        .iter()
        .all(|part| text.contains(part));
    let said = String::from_utf8_lossy(&read.stderr);
    match read.status.code() {
        Some(0) if silent && !whole => Some(format!(
            "a recording without its parts, and no message: {text}"
        )),
        Some(0) => None,
        Some(255) if !silent && !said.is_empty() => None,
        _ => Some(format!(
            "what it left cannot be read: {}: {said}",
            read.status
        )),
    }
}
