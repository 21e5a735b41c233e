//! Records of what existed before the recording began: the kernel, its modules, tasks and their mappings.
//!
//! Everything is read below a root that stands for `/`, so that a test can bring its own. Processes that vanish
//! while they are read leave what was read of them, and no error: the kernel's own records carry the rest.

mod cgroups;
mod guests;
mod kernel;
mod maps;
mod modules;
mod namespaces;
mod proc;
mod sink;
mod tasks;

use std::path::{Path, PathBuf};
use std::time::Duration;

use oxperf_abi::{BuildId, Pid, Tid};

use crate::options::GuestFiles;
use kernel::KernelSpace;

pub use guests::GuestProblem;
pub(crate) use kernel::running_build_id;
pub use kernel::{KernelMap, KernelMapError};
pub(crate) use modules::build_id as module_build_id;
pub use modules::{LoadedModule, loaded_modules};
pub use proc::{ProcDir, TaskStatus};
pub use sink::{RecordSink, Trailer};

/// Finds the build id of the ELF file at a path; `None` when it has none or cannot be read.
pub type BuildIdReader<'a> = &'a (dyn Fn(&Path) -> Option<BuildId> + Sync);

/// The parts of a task that are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TaskContent {
    /// Its mappings.
    pub mappings: bool,
    /// Its mappings of data, too.
    pub data_mappings: bool,
    /// Its namespaces.
    pub namespaces: bool,
    /// The number of threads that read; `None` for one a CPU.
    pub threads: Option<usize>,
    /// The time for the mappings of one process; `None` for as long as it takes.
    pub maps_time: Option<Duration>,
}

impl Default for TaskContent {
    fn default() -> TaskContent {
        TaskContent {
            mappings: true,
            data_mappings: false,
            namespaces: false,
            threads: None,
            maps_time: None,
        }
    }
}

/// Writes records about the running system.
pub struct Synthesizer<'a> {
    root: PathBuf,
    proc: ProcDir,
    trailer: Trailer,
    build_ids: Option<BuildIdReader<'a>>,
    content: TaskContent,
}

impl<'a> Synthesizer<'a> {
    /// Reads below `root`, which is `/` but in tests. With `build_ids`, mappings name their file by build id, as
    /// the kernel's records do when asked so; else by inode.
    pub fn new(
        root: &Path,
        trailer: Trailer,
        build_ids: Option<BuildIdReader<'a>>,
    ) -> Synthesizer<'a> {
        Synthesizer {
            root: root.to_owned(),
            proc: ProcDir::new(&root.join("proc")),
            trailer,
            build_ids,
            content: TaskContent::default(),
        }
    }

    /// Writes these parts of tasks.
    #[must_use]
    pub fn with(mut self, content: TaskContent) -> Synthesizer<'a> {
        self.content = content;
        self
    }

    /// The process directory.
    pub fn proc(&self) -> &ProcDir {
        &self.proc
    }

    /// The kernel's mapping and those of its modules.
    ///
    /// # Errors
    /// The kernel's addresses are hidden or cannot be read; no record is written then.
    pub fn kernel(&self, sink: &mut RecordSink) -> Result<(), KernelMapError> {
        self.kernel_alone(sink)?;
        modules::write(&self.root, self.build_ids.is_some(), sink);
        Ok(())
    }

    /// The kernel's mapping without those of its modules.
    ///
    /// # Errors
    /// As [`Synthesizer::kernel`].
    pub fn kernel_alone(&self, sink: &mut RecordSink) -> Result<(), KernelMapError> {
        let map = KernelMap::read(&self.proc)?;
        let space = KernelSpace::of_host(self.build_ids.is_some());
        let build_id = space.with_build_ids.then(|| running_build_id(&self.root));
        map.write("[kernel.kallsyms]", build_id.flatten(), space, sink);
        Ok(())
    }

    /// The kernels of guests and their modules; gives what is missing.
    pub fn guests(&self, files: &GuestFiles, sink: &mut RecordSink) -> Vec<GuestProblem> {
        guests::write(files, self.build_ids.is_some(), sink)
    }

    /// All tasks of the system, in order of their process ids, read in parallel.
    pub fn all_tasks(&self, sink: &mut RecordSink) {
        tasks::write_all(&self.task_reader(), sink);
    }

    /// The given threads: name, and mappings of their processes.
    pub fn threads(&self, threads: &[Tid], sink: &mut RecordSink) {
        tasks::write_threads(&self.task_reader(), threads, sink);
    }

    /// The given processes and those that they begot and that still have them for ancestors: names and mappings.
    pub fn families(&self, roots: &[Pid], sink: &mut RecordSink) {
        let processes = self.proc.families(roots).into_iter();
        let threads: Vec<Tid> = processes
            .flat_map(|process| self.proc.threads(process))
            .collect();
        self.threads(&threads, sink);
    }

    /// The name of one process before it executes what it was started for, and its namespaces where they are written.
    pub fn waiting_workload(&self, pid: Pid, sink: &mut RecordSink) {
        tasks::write_name(&self.task_reader(), pid, sink);
    }

    /// The control groups that events can be counted in.
    pub fn cgroups(&self, sink: &mut RecordSink) {
        cgroups::write(&self.proc, sink);
    }

    fn task_reader(&self) -> tasks::Reader<'_> {
        tasks::Reader::new(&self.proc, self.trailer, self.build_ids, self.content)
    }
}

#[cfg(test)]
mod tests;
