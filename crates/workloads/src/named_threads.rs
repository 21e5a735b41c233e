//! `named_threads`: threads each with a name and a function of its own.

use std::hint::black_box;

use crate::spin::loops;
use crate::{TestWorkload, WorkloadError};

/// The workload.
pub(crate) const WORKLOAD: TestWorkload = TestWorkload {
    name: "named_threads",
    arguments: "[THREADS [LOOPS]]",
    symbols: SYMBOLS,
    run,
};

/// Iterations of a thread in one loop.
const ITERATIONS: u64 = 1000;

fn run(arguments: &[String]) -> Result<(), WorkloadError> {
    let threads = match arguments.first() {
        None => 1,
        Some(given) => given
            .parse()
            .ok()
            .filter(|count| (1..=FUNCTIONS.len()).contains(count))
            .ok_or(WorkloadError::Threads(FUNCTIONS.len()))?,
    };
    let loops = loops(arguments.get(1), 1)?;
    std::thread::scope(|scope| {
        for (nth, function) in FUNCTIONS[..threads].iter().enumerate() {
            std::thread::Builder::new()
                .name(format!("thread{}", nth + 1))
                .spawn_scoped(scope, move || function(loops))
                .map_err(WorkloadError::system("start a thread"))?;
        }
        Ok(())
    })
}

/// Functions of these names, each different from the others, so that no two become one.
macro_rules! functions {
    ($($name:ident = $number:literal),+ $(,)?) => {
        $(
            #[unsafe(no_mangle)]
            #[inline(never)]
            fn $name(loops: u64) {
                let mut left = loops.saturating_mul(ITERATIONS);
                while left > 0 {
                    black_box($number);
                    left = black_box(left) - 1;
                }
            }
        )+
        const FUNCTIONS: &[fn(u64)] = &[$($name),+];
        const SYMBOLS: &[&str] = &[$(stringify!($name)),+];
    };
}

functions! {
    named_threads_thread1 = 1,
    named_threads_thread2 = 2,
    named_threads_thread3 = 3,
    named_threads_thread4 = 4,
    named_threads_thread5 = 5,
    named_threads_thread6 = 6,
    named_threads_thread7 = 7,
    named_threads_thread8 = 8,
    named_threads_thread9 = 9,
    named_threads_thread10 = 10,
    named_threads_thread11 = 11,
    named_threads_thread12 = 12,
    named_threads_thread13 = 13,
    named_threads_thread14 = 14,
    named_threads_thread15 = 15,
    named_threads_thread16 = 16,
    named_threads_thread17 = 17,
    named_threads_thread18 = 18,
    named_threads_thread19 = 19,
    named_threads_thread20 = 20,
    named_threads_thread21 = 21,
    named_threads_thread22 = 22,
    named_threads_thread23 = 23,
    named_threads_thread24 = 24,
    named_threads_thread25 = 25,
}
