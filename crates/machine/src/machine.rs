//! The machine: its tables, and threads found or made.

use oxperf_abi::{BuildId, CpuMode, Pid, Tid};
use rustc_hash::FxHashMap;

use crate::comm::Comms;
use crate::dso::DsoNames;
use crate::guests::Guests;
use crate::map::MapTable;
use crate::thread::SpaceId;
use crate::{CommId, Dso, DsoId, DsoKind, Map, MapId, Objects, Thread, ThreadId};

/// A kernel symbol and where it was while recording, to place a symbol list that was loaded elsewhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelReference {
    /// The symbol, usually `_text`.
    pub symbol: String,
    /// Its address.
    pub address: u64,
}

/// Threads, names, mappings and dsos at one moment of a recording.
#[derive(Debug)]
pub struct Machine {
    pub(crate) objects: Objects,
    pub(crate) names: DsoNames,
    pub(crate) comms: Comms,
    pub(crate) maps: Vec<Map>,
    pub(crate) spaces: Vec<MapTable>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) alive: FxHashMap<Tid, ThreadId>,
    pub(crate) guests: Guests,
    pub(crate) keep_exited: bool,
    /// Number of changes of a table of mappings.
    pub(crate) map_changes: u32,
}

impl Default for Machine {
    /// A machine where only the idle thread runs.
    fn default() -> Machine {
        let mut machine = Machine {
            objects: Objects::default(),
            names: DsoNames::default(),
            comms: Comms::default(),
            maps: Vec::new(),
            spaces: Vec::new(),
            threads: Vec::new(),
            alive: FxHashMap::default(),
            guests: Guests::default(),
            keep_exited: false,
            map_changes: 0,
        };
        let idle = machine.thread(Pid(0), Tid(0));
        machine.set_comm(idle, "swapper");
        machine
    }
}

impl Machine {
    /// Notes the build id that the recording gives for a dso, in its table before any record or in a record of a
    /// stream; `mode` is the world that the dso belongs to.
    pub fn note_build_id(&mut self, mode: CpuMode, name: &str, build_id: BuildId) {
        self.names
            .note_build_id(&mut self.objects.dsos, mode, name, build_id);
    }

    /// Lets threads be known after they ended: what is recorded of them late still has their name. Without, a thread
    /// id means nobody until somebody new takes it.
    pub fn keep_exited_threads(&mut self) {
        self.keep_exited = true;
    }

    /// The thread that has this id now, made if no record has told of it.
    pub fn thread(&mut self, pid: Pid, tid: Tid) -> ThreadId {
        let known_pid = (pid.0 != -1).then_some(pid);
        if let Some(id) = self.alive.get(&tid).copied() {
            self.learn_process(id, known_pid);
            return id;
        }
        let space = self.space_of(known_pid, tid);
        let comm = self.comms.placeholder(tid.0);
        self.add_thread(Thread {
            pid: known_pid,
            tid,
            parent: None,
            comm,
            named: false,
            space,
        })
    }

    /// The thread that has this id now, if a record has told of it.
    pub fn find_thread(&self, tid: Tid) -> Option<ThreadId> {
        self.alive.get(&tid).copied()
    }

    fn learn_process(&mut self, id: ThreadId, pid: Option<Pid>) {
        let thread = self.threads[id.0 as usize];
        if thread.pid.is_some() || pid.is_none() {
            return;
        }
        let space = self.space_of(pid, thread.tid);
        let thread = &mut self.threads[id.0 as usize];
        thread.pid = pid;
        thread.space = space;
    }

    /// Threads of a process share the address space of its leader.
    fn space_of(&mut self, pid: Option<Pid>, tid: Tid) -> SpaceId {
        match pid {
            Some(pid) if pid.0 != tid.0 => {
                let leader = self.thread(pid, Tid(pid.0));
                self.threads[leader.0 as usize].space
            }
            _ => self.add_space(),
        }
    }

    fn add_space(&mut self) -> SpaceId {
        self.spaces.push(MapTable::default());
        SpaceId(self.spaces.len() as u32 - 1)
    }

    fn add_thread(&mut self, thread: Thread) -> ThreadId {
        let id = ThreadId(self.threads.len() as u32);
        self.threads.push(thread);
        self.alive.insert(thread.tid, id);
        id
    }

    pub(crate) fn set_comm(&mut self, id: ThreadId, name: &str) {
        let thread = &mut self.threads[id.0 as usize];
        if thread.named {
            thread.comm = self.comms.intern(name);
        } else {
            thread.named = true;
            self.comms.rename(thread.comm, name);
        }
    }

    /// A version for a table of mappings that was changed.
    pub(crate) fn next_version(&mut self) -> u32 {
        self.map_changes = self.map_changes.wrapping_add(1);
        self.map_changes
    }

    pub(crate) fn insert_kernel(&mut self, start: u64, end: u64, map: MapId) {
        let version = self.next_version();
        let kernel = self.objects.kernel_table_mut();
        kernel.insert(start, end, self.maps[map.0 as usize].shown(map));
        kernel.stamp(version);
    }

    pub(crate) fn insert_user(&mut self, space: SpaceId, start: u64, end: u64, map: MapId) {
        let version = self.next_version();
        let table = &mut self.spaces[space.0 as usize];
        table.insert(start, end, self.maps[map.0 as usize].shown(map));
        table.stamp(version);
    }

    pub(crate) fn add_map(&mut self, map: Map) -> MapId {
        if map.is_executable() == Some(true) {
            self.objects.dsos.note_code(&map);
        }
        self.maps.push(map);
        MapId(self.maps.len() as u32 - 1)
    }

    /// The facts about a thread.
    #[inline]
    pub fn thread_info(&self, id: ThreadId) -> &Thread {
        &self.threads[id.0 as usize]
    }

    /// All threads that were ever seen, by number.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The threads that have their ids now, ordered by id.
    pub fn present_threads(&self) -> Vec<ThreadId> {
        let mut present: Vec<ThreadId> = self.alive.values().copied().collect();
        present.sort_unstable_by_key(|id| self.threads[id.0 as usize].tid.0);
        present
    }

    /// The mappings of a thread's address space now, by address: first address, address behind the last, mapping.
    pub fn mappings_of(&self, id: ThreadId) -> impl Iterator<Item = (u64, u64, &Map)> + '_ {
        let space = &self.spaces[self.threads[id.0 as usize].space.0 as usize];
        space
            .stretches()
            .map(|(range, shown)| (range.start, range.end, self.map(shown.map)))
    }

    /// The program of a thread's process: the file with code that stands lowest in its memory, where programs lie and
    /// libraries do not.
    pub fn program_of(&self, id: ThreadId) -> Option<&Dso> {
        self.mappings_of(id).find_map(|(.., map)| {
            let dso = self.dso(map.dso);
            (dso.kind == DsoKind::File && map.may_be_run()).then_some(dso)
        })
    }

    /// A thread's name now.
    pub fn comm_of(&self, id: ThreadId) -> &str {
        &self.comms.names()[self.threads[id.0 as usize].comm.0 as usize]
    }

    /// All names, by number. A name may stand under several numbers: compare the text.
    pub fn comms(&self) -> &[String] {
        self.comms.names()
    }

    /// The name with this number.
    pub fn comm(&self, id: CommId) -> &str {
        &self.comms.names()[id.0 as usize]
    }

    /// A dso.
    #[inline]
    pub fn dso(&self, id: DsoId) -> &Dso {
        self.objects.dso(id)
    }

    /// All dsos, by number, with what it takes to find their symbols.
    #[inline]
    pub fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The names in the recording's table of build ids, in its order.
    pub fn recorded_names(&self) -> &[String] {
        self.names.recorded()
    }

    /// All mappings that were ever made, in their order.
    pub fn maps(&self) -> &[Map] {
        &self.maps
    }

    /// A mapping.
    #[inline]
    pub fn map(&self, id: MapId) -> &Map {
        &self.maps[id.0 as usize]
    }
}
