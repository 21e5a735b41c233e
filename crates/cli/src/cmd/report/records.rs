//! What `report` shows of a recording without looking at its samples.

use std::ops::ControlFlow;

use oxperf_abi::RecordType;
use oxperf_analysis::tasks;
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_present::{stats, tasks as tasks_text};
use oxperf_session::{Diagnostics, RecordStats, SampleEvent, Session, Sink};

use crate::failure::{Failure, code};
use crate::input::{Input, report_trouble};
use crate::output::Output;

/// Counts the records of each kind.
pub(super) fn stats(input: &Input, reader: &Reader<'_>) -> Result<i32, Failure> {
    let counted = RecordStats::count(reader).map_err(|error| input.refuse(&error))?;
    let mut output = Output::stdout();
    stats::write(&mut output, &counted)?;
    output.finish()?;
    report_trouble(&Diagnostics {
        damage: counted.damage.clone(),
        unknown_records: counted.unknown(),
        ..Diagnostics::default()
    });
    Ok(code::SUCCESS)
}

const TASK_KINDS: [RecordType; 3] = [RecordType::COMM, RecordType::FORK, RecordType::EXIT];
const MAPPING_KINDS: [RecordType; 5] =
    [RecordType::COMM, RecordType::FORK, RecordType::EXIT, RecordType::MMAP, RecordType::MMAP2];

/// Shows the threads as a tree, with their mappings if asked for.
pub(super) fn tasks(input: &Input, reader: &Reader<'_>, with_maps: bool) -> Result<i32, Failure> {
    let kinds: &[RecordType] = if with_maps { &MAPPING_KINDS } else { &TASK_KINDS };
    let passage = input.passage(false);
    let session = Session::new(reader).keeping_exited_threads().only(kinds).watched_by(&passage);
    let finished = session.run(&mut NoSamples).map_err(|error| input.refuse(&error))?;
    let machine = &finished.machine;
    let mut output = Output::stdout();
    tasks_text::write(&mut output, machine, &tasks::tasks(machine), with_maps)?;
    output.finish()?;
    report_trouble(&finished.diagnostics);
    Ok(code::SUCCESS)
}

/// For sessions without samples.
struct NoSamples;

impl Sink for NoSamples {
    fn sample(&mut self, _: &mut Machine, _: &SampleEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
