//! Names of threads, each text once: a name stands under several numbers in a machine.

use oxperf_machine::{CommId as MachineComm, Machine, ThreadId};
use rustc_hash::FxHashMap;

use oxperf_profile::CommId;

/// The first number of each name so far.
#[derive(Debug, Default)]
pub(super) struct Comms {
    firsts: FxHashMap<String, MachineComm>,
    /// By number.
    known: Vec<Option<MachineComm>>,
}

impl Comms {
    /// The number of a thread's name now: the same for all threads of that name, as far as their names are known. One that
    /// comes later counts for what was seen before.
    #[inline]
    pub(super) fn of(&mut self, machine: &Machine, thread: ThreadId) -> MachineComm {
        let info = machine.thread_info(thread);
        let index = info.comm.0 as usize;
        match self.known.get(index) {
            Some(Some(first)) => *first,
            _ if info.named => self.learn(machine, info.comm),
            _ => info.comm,
        }
    }

    fn learn(&mut self, machine: &Machine, comm: MachineComm) -> MachineComm {
        let index = comm.0 as usize;
        self.known.resize(self.known.len().max(index + 1), None);
        let name = machine.comm(comm);
        let first = match self.firsts.get(name) {
            Some(first) => *first,
            None => *self.firsts.entry(name.to_owned()).or_insert(comm),
        };
        *self.known[index].insert(first)
    }
}

/// The names of a machine's threads for a profile.
pub(super) struct CommNames {
    /// Each distinct name.
    pub(super) names: Vec<String>,
    /// The name of each of the machine's numbers.
    pub(super) ids: Vec<CommId>,
}

/// All names of a machine, each once.
pub(super) fn names(machine: &Machine) -> CommNames {
    let mut known: FxHashMap<&str, CommId> = FxHashMap::default();
    let mut names: Vec<String> = Vec::new();
    let id_of = |name| {
        *known.entry(name).or_insert_with(|| {
            names.push(String::from(name));
            CommId(names.len() as u32 - 1)
        })
    };
    let comms = machine.comms().iter().map(String::as_str);
    let ids = comms.map(id_of).collect();
    CommNames { names, ids }
}
