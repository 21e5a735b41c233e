//! Hardware breakpoints.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use oxperf_abi::{EventAttr, EventType, RecordType, SampleType};
use oxperf_sys::{Kernel, OpenError, RealKernel};

use crate::events::{count, number_of, records, refused, user_only};
use crate::trial::ensure;
use crate::{Shortfall, Trial};

const READ: u32 = 1;
const WRITE: u32 = 2;
const EXECUTE: u32 = 4;

/// Accesses of each check.
const ACCESSES: u64 = 10;

fn breakpoint(access: u32, address: u64) -> EventAttr {
    let mut attr = user_only(EventType::BREAKPOINT, 0);
    attr.bp_type = access;
    attr.config1 = address;
    attr.config2 = 8;
    attr.sample_period = 1;
    attr
}

static WATCHED: AtomicU64 = AtomicU64::new(0);

fn watch(access: u32) -> EventAttr {
    breakpoint(access, (&raw const WATCHED).addr() as u64)
}

fn touch() {
    for _ in 0..ACCESSES {
        WATCHED.store(black_box(1), Relaxed);
    }
    for _ in 0..ACCESSES {
        black_box(WATCHED.load(Relaxed));
    }
}

fn watched(trial: &mut Trial<'_>, access: u32, expected: u64) -> Result<(), Shortfall> {
    let counted = count(&watch(access), touch)?;
    trial.note(format_args!(
        "{counted} accesses, of {ACCESSES} writes and {ACCESSES} reads"
    ));
    ensure(
        counted == expected,
        format!("{counted} accesses counted where {expected} happened"),
    )
}

/// Reads alone; x86 has no such watchpoint.
pub(crate) fn read_only(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
        return Err(Shortfall::skip("missing hardware support"));
    }
    watched(trial, READ, ACCESSES)
}

/// Writes alone.
pub(crate) fn write_only(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    watched(trial, WRITE, ACCESSES)
}

/// Reads and writes.
pub(crate) fn read_write(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    watched(trial, READ | WRITE, 2 * ACCESSES)
}

/// A function whose calls are sampled.
#[inline(never)]
fn called(nth: u64) -> u64 {
    black_box(nth) + 1
}

/// Each call of a function is a sample.
pub(crate) fn overflow_sampling(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let function: fn(u64) -> u64 = called;
    let mut attr = breakpoint(EXECUTE, function as usize as u64);
    attr.sample_type = SampleType::IP;
    let records = records(&attr, || {
        for nth in 0..ACCESSES {
            black_box(black_box(function)(nth));
        }
    })?;
    let samples = number_of(&records, RecordType::SAMPLE) as u64;
    trial.note(format_args!("{samples} samples of {ACCESSES} calls"));
    ensure(
        samples == ACCESSES,
        format!("{samples} samples of {ACCESSES} calls"),
    )
}

/// A thread can have as many breakpoints after it closed them as before.
pub(crate) fn accounting(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let first = places()?;
    let second = places()?;
    trial.note(format_args!("{first} breakpoints, then {second}"));
    ensure(first > 0, "no breakpoint can be had")?;
    ensure(
        first == second,
        format!("{first} breakpoints at first, {second} after they were closed"),
    )
}

/// The number of breakpoints that can be open at once.
fn places() -> Result<usize, Shortfall> {
    const MOST: usize = 64;
    let attr = watch(WRITE);
    let mut held = Vec::new();
    while held.len() < MOST {
        let request = oxperf_sys::OpenRequest::new(&attr, oxperf_sys::EventTask::Caller);
        match RealKernel.open(&request) {
            Ok(event) => held.push(event),
            Err(OpenError::NoSpace) => break,
            Err(error) if held.is_empty() => return Err(refused(error)),
            Err(error) => return Err(Shortfall::failure(error)),
        }
    }
    Ok(held.len())
}
