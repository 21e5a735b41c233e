//! `context_switch_loop`: two processes that take turns on a pair of pipes.

use std::hint::black_box;
use std::io::{PipeReader, PipeWriter, Read, Write};

use crate::spin::loops;
use crate::{TestWorkload, WorkloadError, os};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "context_switch_loop",
    arguments: "[LOOPS]",
    symbols: &["context_switch_loop_proc1", "context_switch_loop_proc2"],
    run,
};

/// Turns of each process.
const DEFAULT_LOOPS: u64 = 100;

/// Iterations of a turn.
const ITERATIONS: u64 = 1000;

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let loops = loops(arguments.first(), DEFAULT_LOOPS)?;
    let pipe = || std::io::pipe().map_err(WorkloadError::system("make a pipe"));
    let ((to_first_end, to_first), (to_second_end, to_second)) = (pipe()?, pipe()?);
    let mut first = Turns {
        own: to_first_end,
        other: to_second,
    };
    let mut second = Turns {
        own: to_second_end,
        other: to_first,
    };
    let child = os::fork(|| {
        // A turn that cannot be taken shows in the parent, which waits for it.
        let _ = os::name_thread("proc1");
        let _ = first.take(loops, Side::Second, context_switch_loop_proc1);
    })?;
    os::name_thread("proc2")?;
    let taken = second.take(loops, Side::First, context_switch_loop_proc2);
    drop((first, second));
    taken.and(child.wait())
}

/// The side of a process: one begins.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    First,
    Second,
}

/// The pipes of a process.
struct Turns {
    own: PipeReader,
    other: PipeWriter,
}

impl Turns {
    fn take(&mut self, loops: u64, side: Side, work: fn()) -> Result<(), WorkloadError> {
        for _ in 0..loops {
            if side == Side::First {
                work();
                self.pass_on()?;
                self.wait()?;
            } else {
                self.wait()?;
                work();
                self.pass_on()?;
            }
        }
        Ok(())
    }

    fn pass_on(&mut self) -> Result<(), WorkloadError> {
        self.other
            .write_all(&[0])
            .map_err(WorkloadError::system("pass the turn on"))
    }

    fn wait(&mut self) -> Result<(), WorkloadError> {
        self.own
            .read_exact(&mut [0])
            .map_err(WorkloadError::system("wait for the turn"))
    }
}

/// The turn of the first process.
#[unsafe(no_mangle)]
#[inline(never)]
fn context_switch_loop_proc1() {
    let mut left = ITERATIONS;
    while left > 0 {
        black_box(1);
        left = black_box(left) - 1;
    }
}

/// The turn of the second process.
#[unsafe(no_mangle)]
#[inline(never)]
fn context_switch_loop_proc2() {
    let mut left = ITERATIONS;
    while left > 0 {
        black_box(2);
        left = black_box(left) - 1;
    }
}
