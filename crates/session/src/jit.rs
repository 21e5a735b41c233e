//! Logs of code that programs made at run time: found by their mappings, applied to the machine as their time comes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use oxperf_abi::{AttrFlags, EventAttr, PerfTime, Pid};
use oxperf_machine::{JitMapping, Machine};
use oxperf_objects::{Contents, SearchPaths};
use oxperf_wire::{JitClock, JitCode, JitDump};
use rustc_hash::FxHashSet;

/// `CLOCK_MONOTONIC`, which the logs' times are of.
const MONOTONIC: i32 = 1;

/// The logs of a recording.
#[derive(Debug, Default)]
pub(crate) struct JitLogs {
    /// Search paths of the files; `None` when nobody wants them.
    places: Option<SearchPaths>,
    /// The recording's times are of the clock that the logs use.
    same_clock: bool,
    logs: Vec<Log>,
    /// Paths that were read, or tried, each with `true` if for the process that its name has.
    known: FxHashSet<(String, bool)>,
    /// The logs with functions that wait, by the time of the first of these.
    waiting: BinaryHeap<Reverse<(u64, usize)>>,
    trouble: Vec<(Fault, JitTrouble)>,
}

/// A log whose functions wait for their time.
#[derive(Debug)]
struct Log {
    path: String,
    pid: Pid,
    /// In order of time.
    code: Vec<JitCode>,
    /// Number of those that have had their turn.
    applied: usize,
}

/// A log that cannot be read as it should be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JitTrouble {
    /// The file, as recorded; untrusted.
    pub path: String,
    /// The fault.
    pub what: String,
    /// Number of further files have trouble of the kind.
    pub more: u64,
}

/// Kinds of trouble, each of which is reported once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    /// It cannot be read, or is not believed.
    Unreadable,
    /// It ends in damage.
    Damaged,
    /// Its times mean nothing here.
    OtherClock,
}

impl JitLogs {
    /// Looks for logs in these places, for a recording with such events.
    pub(crate) fn new(places: SearchPaths, attrs: impl Iterator<Item = EventAttr>) -> JitLogs {
        let mut clocks = attrs.map(|attr| {
            attr.flags
                .contains(AttrFlags::USE_CLOCKID)
                .then_some(attr.clockid)
        });
        let same_clock = clocks.next().flatten() == Some(MONOTONIC);
        JitLogs {
            places: Some(places),
            same_clock,
            ..JitLogs::default()
        }
    }

    /// `true` if a function is to be applied at a time or before.
    #[inline]
    pub(crate) fn is_due(&self, time: PerfTime) -> bool {
        self.waiting
            .peek()
            .is_some_and(|Reverse((next, _))| *next <= time.0)
    }

    /// Reads the log that a process has mapped, if the file is one by its name.
    pub(crate) fn mapped(&mut self, pid: Pid, filename: &[u8]) {
        let (Some(places), Some(of)) = (self.places.as_ref(), number_of_log(filename)) else {
            return;
        };
        let path = String::from_utf8_lossy(filename).into_owned();
        // A log is of one process. Where the name has another, as in a container, it is the first that maps it.
        if !self
            .known
            .insert((path.clone(), of == pid.to_string().as_bytes()))
        {
            return;
        }
        let contents = places
            .recorded(filename)
            .and_then(|path| places.open_written_by_program(&path, Contents::open));
        let contents = contents.map_err(|why| why.to_string());
        let dump =
            contents.and_then(|bytes| JitDump::parse(&bytes).map_err(|error| error.to_string()));
        match dump {
            Ok(dump) => self.add(path, pid, dump),
            Err(what) => self.report(Fault::Unreadable, &path, what),
        }
    }

    fn add(&mut self, path: String, pid: Pid, dump: JitDump) {
        if let Some(at) = dump.damaged_at {
            self.report(
                Fault::Damaged,
                &path,
                format!("damaged at {at:#x}: code that it tells of behind that place has no name"),
            );
        }
        let mut code = dump.code;
        if self.same_clock && dump.clock == JitClock::Monotonic {
            code.sort_by_key(|code| code.time);
        } else {
            // The last function at a place names it from the beginning.
            code.iter_mut().for_each(|code| code.time = 0);
            let what = "its times are of another clock than the recording's: code that took the place of other code \
                        goes by the last name (record with -k mono)";
            self.report(Fault::OtherClock, &path, what.to_owned());
        }
        self.logs.push(Log {
            path,
            pid,
            code,
            applied: 0,
        });
        self.wait(self.logs.len() - 1);
    }

    /// Applies every function whose time has come.
    #[cold]
    pub(crate) fn advance(&mut self, time: PerfTime, machine: &mut Machine) {
        while self.is_due(time)
            && let Some(Reverse((_, nth))) = self.waiting.pop()
        {
            self.logs[nth].advance(time, machine);
            self.wait(nth);
        }
    }

    /// Lets a log wait for the time of its next function.
    fn wait(&mut self, nth: usize) {
        let log = &self.logs[nth];
        self.waiting.extend(
            log.code
                .get(log.applied)
                .map(|code| Reverse((code.time, nth))),
        );
    }

    fn report(&mut self, fault: Fault, path: &str, what: String) {
        match self.trouble.iter_mut().find(|(known, _)| *known == fault) {
            Some((_, known)) => known.more += 1,
            None => self.trouble.push((
                fault,
                JitTrouble {
                    path: path.to_owned(),
                    what,
                    more: 0,
                },
            )),
        }
    }

    /// Trouble with logs, each kind once.
    pub(crate) fn into_trouble(self) -> Vec<JitTrouble> {
        self.trouble
            .into_iter()
            .map(|(_, trouble)| trouble)
            .collect()
    }
}

impl Log {
    fn advance(&mut self, time: PerfTime, machine: &mut Machine) {
        let folder = Path::new(&self.path).parent().unwrap_or(Path::new(""));
        while let Some(code) = self
            .code
            .get(self.applied)
            .filter(|code| code.time <= time.0)
        {
            let file = folder.join(format!("jitted-{}-{}.so", self.pid, code.index));
            machine.apply_jit(&JitMapping {
                pid: self.pid,
                file: &file.to_string_lossy(),
                code,
            });
            self.applied += 1;
        }
    }
}

/// `true` if a mapped file has the name of a log of code made at run time: `jit-NUMBER.dump`.
pub fn is_jit_log(filename: &[u8]) -> bool {
    number_of_log(filename).is_some()
}

/// The number in the name of a log.
fn number_of_log(filename: &[u8]) -> Option<&[u8]> {
    let name = filename
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    let number = name
        .strip_prefix(b"jit-")
        .and_then(|rest| rest.strip_suffix(b".dump"));
    number.filter(|number| !number.is_empty() && number.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_known_by_their_names() {
        let names = [
            "/tmp/jit-12.dump",
            "jit-1.dump",
            "/tmp/jit-.dump",
            "/tmp/jit-1x.dump",
            "/jit-1.dump/x",
        ];
        assert_eq!(
            names.map(|name| is_jit_log(name.as_bytes())),
            [true, true, false, false, false]
        );
    }
}
