//! `test`: checks of this machine and this build, and small programs to record.

mod arguments;
mod workload;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use workload::WorkloadRun;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "test",
    command: arguments::command,
    run: |matches, _| run(&arguments::options(matches)?),
    shares_work: false,
};

/// The tasks of `test`.
enum TestTask {
    /// The names of the workloads.
    ListWorkloads,
    /// One workload.
    Workload(WorkloadRun),
}

/// Runs `test`.
fn run(task: &TestTask) -> Result<i32, Failure> {
    match task {
        TestTask::ListWorkloads => workload::list()?,
        TestTask::Workload(run) => run.run()?,
    }
    Ok(code::SUCCESS)
}
