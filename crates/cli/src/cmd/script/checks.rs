//! `--debug-mode`: no samples are shown, but what is wrong with the recording.

use std::ops::ControlFlow;

use oxperf_abi::PerfTime;
use oxperf_machine::Machine;
use oxperf_query::QueryRun;
use oxperf_session::{NoSink, SampleEvent, Sink};

use crate::failure::{Failure, code};
use crate::input::Input;
use crate::losses::report_trouble;
use crate::output::print_error;

/// Reads all samples and reports how many have a time before the one that they follow.
pub(super) fn run(input: &Input, walk: QueryRun<'_, '_>) -> Result<i32, Failure> {
    let mut checks = Checks::default();
    let finished = walk
        .run(&mut checks)
        .map_err(|error| input.refuse(&error))?;
    report_trouble(&finished.diagnostics);
    print_error(&format!("Misordered timestamps: {}", checks.misordered));
    Ok(code::SUCCESS)
}

#[derive(Default)]
struct Checks {
    last: Option<PerfTime>,
    misordered: u64,
}

impl Sink for Checks {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.misordered += u64::from(event.sample.time < self.last);
        self.last = event.sample.time;
        ControlFlow::Continue(())
    }
}
