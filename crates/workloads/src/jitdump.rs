//! `jitdump`: code made at run time, logged in `jit-PID.dump` in the working directory as compilers log it for perf.

use std::fs::File;
use std::hint::black_box;
use std::io::Write;

use crate::os::{CodePage, LogMark};
use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "jitdump",
    arguments: "",
    symbols: &[],
    run,
};

/// The name that the log gives the function.
const NAME: &[u8] = b"jit_workload\0";

/// Calls of the function that was made.
const CALLS: u32 = 10_000;

/// The times are of the CPU's counter.
const ARCHITECTURE_TIMES: u64 = 1;

fn run(_: &[String]) -> Result<(), WorkloadError> {
    let processor = os::MADE_FUNCTION.ok_or(WorkloadError::Processor(WORKLOAD.name))?;
    let page = CodePage::new(processor.code)?;
    let path = format!("jit-{}.dump", std::process::id());
    let mut log = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(WorkloadError::system("create the log of the code"))?;
    log.write_all(&header(processor.machine))
        .map_err(WorkloadError::system("write the log of the code"))?;
    // A mapping of the log as code is how readers of a recording find it.
    let mark = LogMark::new(&log)?;
    log.write_all(&load(page.address(), processor.code))
        .map_err(WorkloadError::system("write the log of the code"))?;
    for _ in 0..CALLS {
        black_box(page.call());
    }
    drop(mark);
    Ok(())
}

/// The head of the file.
fn header(machine: u32) -> Vec<u8> {
    let words = [0x4a69_5444, 1, 40, machine, 0, std::process::id()];
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(os::counter().to_le_bytes());
    bytes.extend(ARCHITECTURE_TIMES.to_le_bytes());
    bytes
}

/// The record of the one function.
fn load(address: u64, code: &[u8]) -> Vec<u8> {
    let size = 16 + 8 + 4 * 8 + NAME.len() + code.len();
    let mut bytes: Vec<u8> = [0, size as u32]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    bytes.extend(os::counter().to_le_bytes());
    let process = std::process::id().to_le_bytes();
    bytes.extend([process, process].concat());
    for word in [address, address, code.len() as u64, 1] {
        bytes.extend(word.to_le_bytes());
    }
    bytes.extend_from_slice(NAME);
    bytes.extend_from_slice(code);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_has_the_lengths_that_it_names() {
        assert_eq!(header(62).len(), 40);
        let record = load(0x1000, &[0xc3]);
        assert_eq!(record[4..8], (record.len() as u32).to_le_bytes());
    }
}
