//! Reports about a recording that need none of its samples.

use std::ops::ControlFlow;

use oxperf_abi::{ReadFormat, RecordType};
use oxperf_analysis::counters::ThreadCounters;
use oxperf_analysis::tasks;
use oxperf_data::Reader;
use oxperf_machine::Machine;
use oxperf_present::recording::thread_counters::{self as counters_text, CounterLayout};
use oxperf_present::recording::{stats, tasks as tasks_text};
use oxperf_query::Query;
use oxperf_session::{Diagnostics, NoSink, RecordStats, SampleEvent, SidebandEvent, Sink};
use oxperf_wire::kernel::ReadRecord;
use oxperf_wire::{Cursor, Endian};

use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::report_trouble;
use crate::output::Output;

/// Counts the records of each kind.
pub(super) fn stats(
    input: &Input,
    reader: &Reader<'_>,
    mut output: Output,
) -> Result<i32, Failure> {
    let counted = RecordStats::count(reader).map_err(|error| input.refuse(&error))?;
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
const MAPPING_KINDS: [RecordType; 5] = [
    RecordType::COMM,
    RecordType::FORK,
    RecordType::EXIT,
    RecordType::MMAP,
    RecordType::MMAP2,
];

/// Shows the threads as a tree, with their mappings if asked for.
pub(super) fn tasks(
    input: &Input,
    reader: &Reader<'_>,
    with_maps: bool,
    mut output: Output,
) -> Result<i32, Failure> {
    let kinds: &'static [RecordType] = if with_maps {
        &MAPPING_KINDS
    } else {
        &TASK_KINDS
    };
    let progress = input.progress(false);
    let query = Query {
        only: Some(kinds),
        keeps_exited_threads: true,
        progress: Some(&progress),
        ..Query::default()
    };
    let finished = query
        .start(reader)
        .run(&mut NoSamples)
        .map_err(|error| input.refuse(&error))?;
    let machine = &finished.machine;
    tasks_text::write(&mut output, machine, &tasks::tasks(machine), with_maps)?;
    output.finish()?;
    report_trouble(&finished.diagnostics);
    Ok(code::SUCCESS)
}

/// Shows what was counted of threads until they ended.
pub(super) fn thread_counters(
    layout: CounterLayout,
    input: &Input,
    reader: &Reader<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let query = Query {
        only: Some(&[RecordType::READ]),
        keeps_exited_threads: true,
        ..Query::default()
    };
    let walk = query.start(reader);
    let formats = walk
        .events()
        .events()
        .iter()
        .map(|event| event.attr.read_format)
        .collect();
    let names: Vec<String> = walk
        .events()
        .events()
        .iter()
        .map(|event| event.name.clone())
        .collect();
    let mut sink = Counters {
        formats,
        endian: reader.endian(),
        counters: ThreadCounters::default(),
    };
    walk.run(&mut sink).map_err(|error| input.refuse(&error))?;
    let name = |event: usize| names.get(event).cloned().unwrap_or_default();
    Ok(counters_text::write(output, &sink.counters, name, layout)?)
}

/// Collects the records that threads leave when they end.
struct Counters {
    formats: Vec<ReadFormat>,
    endian: Endian,
    counters: ThreadCounters,
}

impl Sink for Counters {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, _: &mut Machine, _: &SampleEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn sideband(&mut self, _: &mut Machine, event: &SidebandEvent<'_>) -> ControlFlow<()> {
        let Some(&format) = self.formats.get(event.event.0) else {
            return ControlFlow::Continue(());
        };
        let read = ReadRecord::decode(format, &mut Cursor::new(event.record.body, self.endian));
        if let Ok(ReadRecord { pid, tid, values }) = read {
            let value = values.values().next().map_or(0, |value| value.value);
            self.counters.add(pid, tid, event.event.0, value);
        }
        ControlFlow::Continue(())
    }
}

/// For sessions without samples.
struct NoSamples;

impl Sink for NoSamples {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, _: &mut Machine, _: &SampleEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}
