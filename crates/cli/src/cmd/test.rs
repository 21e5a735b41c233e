//! `test`: checks of this machine and this build, and small programs to record.

mod arguments;
mod case;
mod junit;
mod report;
mod run;
mod selection;
mod workload;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use case::OneCase;
use run::TestRun;
use selection::Selection;
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
    /// The names of checks.
    List(Selection),
    /// Checks.
    Run(TestRun),
    /// One check, in a process that was started for it.
    Case(OneCase),
}

/// Runs `test`. As in perf, the exit code does not say whether checks failed.
fn run(task: &TestTask) -> Result<i32, Failure> {
    match task {
        TestTask::ListWorkloads => workload::list()?,
        TestTask::Workload(run) => run.run()?,
        TestTask::List(selection) => report::list(selection)?,
        TestTask::Run(run) => run.run()?,
        TestTask::Case(case) => case.run()?,
    }
    Ok(code::SUCCESS)
}
