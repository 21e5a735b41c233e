//! Tasks: FORK and COMM of each thread, MMAP2 of each executable mapping.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use oxperf_abi::{BuildId, Misc, PerfTime, Pid, RecordType, Tid};
use oxperf_wire::kernel::{Comm, TaskEvent};

use super::maps::MapLine;
use super::{BuildIdReader, ProcDir, RecordSink, TaskContent, TaskStatus, Trailer, namespaces};
use crate::parallel;

/// The identity of a file whatever its path: device and inode.
type FileKey = ((u32, u32), u64);

/// Reads tasks; shared by the threads that read in parallel.
pub(super) struct Reader<'a> {
    proc: &'a ProcDir,
    trailer: Trailer,
    build_ids: Option<BuildIdReader<'a>>,
    known: Mutex<HashMap<FileKey, Option<BuildId>>>,
    content: TaskContent,
}

/// The treatment of a task's birth.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Birth {
    Included,
    Unknown,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        proc: &'a ProcDir,
        trailer: Trailer,
        build_ids: Option<BuildIdReader<'a>>,
        content: TaskContent,
    ) -> Reader<'a> {
        Reader {
            proc,
            trailer,
            build_ids,
            known: Mutex::default(),
            content,
        }
    }

    fn write_thread(&self, tid: Tid, birth: Birth, sink: &mut RecordSink) {
        let Some(status) = self.proc.status(tid) else {
            return;
        };
        if birth == Birth::Included {
            write_fork(tid, &status, sink);
        }
        self.write_namespaces(tid, &status, sink);
        write_comm(tid, &status, sink);
        if status.process.0 == tid.0 && self.content.mappings {
            self.write_maps(status.process, sink);
        }
    }

    fn write_namespaces(&self, tid: Tid, status: &TaskStatus, sink: &mut RecordSink) {
        if self.content.namespaces {
            namespaces::write(self.proc, status.process, tid, sink);
        }
    }

    fn write_maps(&self, process: Pid, sink: &mut RecordSink) {
        let Some(text) = self.proc.maps(process, self.content.maps_time) else {
            return;
        };
        let with_data = self.content.data_mappings;
        for line in text.split(|byte| *byte == b'\n') {
            let map = MapLine::parse(line);
            let map = map.filter(|map| map.is_executable() || with_data && map.is_data());
            if let Some(map) = map {
                map.write(process, self.build_id(process, &map), sink);
            }
        }
    }

    fn build_id(&self, process: Pid, map: &MapLine<'_>) -> Option<BuildId> {
        let (read, path) = (self.build_ids?, map.file()?);
        let key = (map.device, map.inode);
        if let Some(id) = self
            .known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
        {
            return *id;
        }
        let id = read(&self.proc.mapped_file(process, map.range()))
            .or_else(|| self.read_build_id(read, process, path));
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(key, id);
        id
    }

    /// The process may live in another mount namespace; its root shows the file as it sees it.
    fn read_build_id(&self, read: BuildIdReader<'_>, process: Pid, path: &Path) -> Option<BuildId> {
        read(&self.proc.inside_root(process, path)).or_else(|| read(path))
    }
}

/// All tasks, process by process.
pub(super) fn write_all(reader: &Reader<'_>, sink: &mut RecordSink) {
    let threads = reader.content.threads;
    let buffers = parallel::map(threads, &reader.proc.processes(), |&process| {
        let mut own = RecordSink::new(reader.trailer);
        for tid in reader.proc.threads(process) {
            reader.write_thread(tid, Birth::Included, &mut own);
        }
        own.into_bytes()
    });
    buffers.iter().for_each(|records| sink.append(records));
}

/// The given threads. The leader of a process is written even when it is not among them, for its mappings.
pub(super) fn write_threads(reader: &Reader<'_>, threads: &[Tid], sink: &mut RecordSink) {
    let mut written = Vec::new();
    for &tid in threads {
        let leader = reader
            .proc
            .status(tid)
            .map_or(tid, |status| Tid(status.process.0));
        for tid in [leader, tid] {
            if !written.contains(&tid) {
                reader.write_thread(tid, Birth::Unknown, sink);
                written.push(tid);
            }
        }
    }
}

/// The name, with namespaces where they are wanted.
pub(super) fn write_name(reader: &Reader<'_>, pid: Pid, sink: &mut RecordSink) {
    let tid = Tid(pid.0);
    if let Some(status) = reader.proc.status(tid) {
        reader.write_namespaces(tid, &status, sink);
        write_comm(tid, &status, sink);
    }
}

/// A process was forked by its parent; a thread by its process. The mark says that the parent's mappings are not
/// to be copied, for they are written out.
fn write_fork(tid: Tid, status: &TaskStatus, sink: &mut RecordSink) {
    let parent = if status.process.0 == tid.0 {
        status.parent
    } else {
        status.process
    };
    let fork = TaskEvent {
        pid: status.process,
        ppid: parent,
        tid,
        ptid: Tid(parent.0),
        time: PerfTime(0),
    };
    sink.kernel_record(RecordType::FORK, Misc(Misc::FORK_EXEC), |body| {
        fork.encode(body)
    });
}

fn write_comm(tid: Tid, status: &TaskStatus, sink: &mut RecordSink) {
    let name = &status.name[..status.name.len().min(15)];
    let comm = Comm {
        pid: status.process,
        tid,
        comm: name,
    };
    sink.kernel_record(RecordType::COMM, Misc(0), |body| comm.encode(body));
}
