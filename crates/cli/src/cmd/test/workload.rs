//! Workloads of `test`, and the switch of a recorder that is turned on for the time that they take.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use oxperf_workloads::TestWorkload;

use crate::failure::Failure;

/// Prints the names of the workloads.
pub(super) fn list() -> Result<(), Failure> {
    for workload in oxperf_workloads::ALL {
        crate::output::print_line(workload.name)?;
    }
    Ok(())
}

/// A workload that is to run.
pub(super) struct WorkloadRun {
    pub(super) workload: &'static TestWorkload,
    pub(super) arguments: Vec<String>,
    /// The recorder that records it alone.
    pub(super) recorder: Option<RecorderFifos>,
}

impl WorkloadRun {
    /// Runs it.
    pub(super) fn run(&self) -> Result<(), Failure> {
        let mut switch = self
            .recorder
            .as_ref()
            .map(RecorderFifos::open)
            .transpose()?;
        if let Some(switch) = &mut switch {
            switch.order("enable\n")?;
        }
        let outcome = self.workload.run(&self.arguments);
        if let Some(switch) = &mut switch {
            switch.order("disable\n")?;
        }
        outcome.map_err(|error| Failure::with_code(format!("Error: {error}"), 1))
    }
}

/// The pipes of `record --control=fifo:ORDERS[,ANSWERS]`.
pub(super) struct RecorderFifos {
    orders: PathBuf,
    answers: Option<PathBuf>,
}

impl RecorderFifos {
    /// The pipes that `fifo:ORDERS[,ANSWERS]` names.
    pub(super) fn parse(text: &str) -> Result<RecorderFifos, Failure> {
        let paths = text.strip_prefix("fifo:").filter(|paths| !paths.is_empty());
        let paths = paths.ok_or_else(|| {
            Failure::invalid(format!(
                "Unsupported workload control spec '{text}', expected fifo:ctl-fifo[,ack-fifo]"
            ))
        })?;
        let (orders, answers) = match paths.split_once(',') {
            Some((orders, answers)) => (orders, Some(PathBuf::from(answers))),
            None => (paths, None),
        };
        Ok(RecorderFifos {
            orders: PathBuf::from(orders),
            answers,
        })
    }

    fn open(&self) -> Result<RecorderSwitch, Failure> {
        let orders = File::options()
            .write(true)
            .open(&self.orders)
            .map_err(|error| cannot_open(&self.orders, &error))?;
        let answers = self
            .answers
            .as_deref()
            .map(|path| File::open(path).map_err(|error| cannot_open(path, &error)));
        Ok(RecorderSwitch {
            orders,
            answers: answers.transpose()?,
        })
    }
}

fn cannot_open(path: &Path, error: &std::io::Error) -> Failure {
    Failure::not_found(format!(
        "Failed to open workload control FIFO '{}': {error}",
        path.display()
    ))
}

/// The open pipes of a recorder.
struct RecorderSwitch {
    orders: File,
    answers: Option<File>,
}

impl RecorderSwitch {
    /// Sends an order and waits for the answer, where answers are given.
    fn order(&mut self, order: &str) -> Result<(), Failure> {
        self.orders
            .write_all(order.as_bytes())
            .map_err(|error| failed(order, &error.to_string()))?;
        let Some(answers) = &mut self.answers else {
            return Ok(());
        };
        let mut answer = [0; 64];
        let length = answers
            .read(&mut answer)
            .map_err(|error| failed(order, &error.to_string()))?;
        if answer[..length].starts_with(b"ack\n") {
            Ok(())
        } else {
            Err(failed(order, "the recorder does not answer with 'ack'"))
        }
    }
}

fn failed(order: &str, reason: &str) -> Failure {
    Failure::new(format!(
        "the recorder cannot be ordered to {}: {reason}",
        order.trim_end()
    ))
}
