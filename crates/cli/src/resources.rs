//! What the program needs of the machine, and what it says when that cannot be had: memory, threads, files that stay
//! as they are. Also what it says when it fails by a mistake of its own.

use std::io::{self, Write};
use std::panic::{self, PanicHookInfo};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use oxperf_sys::TruncatedFile;
use oxperf_sys::heap::Heap;
use rayon::{ThreadBuilder, ThreadPoolBuilder};

use crate::failure::{Failure, code};
use crate::output::print_error;

/// The allocator of all memory.
#[global_allocator]
static HEAP: Heap = Heap::new(end_without_memory);

/// The beginning of the standard library's message when a new thread has no memory for its signal stack.
const NO_SIGNAL_STACK: &str = "failed to allocate an alternative stack";

/// Says that there is no memory left and ends the program. Asks for none.
#[cold]
fn end_without_memory(size: usize) -> ! {
    let mut errors = io::stderr();
    // Nothing can be done where this cannot be written.
    let _ = writeln!(
        errors,
        "oxperf: out of memory: {size} bytes more cannot be had\n\
         Allow more memory (ulimit -v), or read less of the recording (--time, --cpu, --comm)."
    );
    oxperf_sys::process::exit_at_once(code::OUT_OF_MEMORY)
}

/// Has a panic say in short what failed, and where to report it.
pub fn explain_panics() {
    panic::set_hook(Box::new(|what| {
        if message_of(what).starts_with(NO_SIGNAL_STACK) {
            end_without_memory(0);
        }
        let place = what
            .location()
            .map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
        print_error(&format!(
            "oxperf: internal error: panicked at {place}: {}\n\
             This is a mistake in oxperf {}. Please report it with the command line, and the recording if you can:\n{}/issues",
            message_of(what),
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_REPOSITORY"),
        ));
    }));
}

fn message_of<'a>(what: &'a PanicHookInfo<'_>) -> &'a str {
    let payload = what.payload();
    let formatted = || payload.downcast_ref::<String>().map(String::as_str);
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(formatted)
        .unwrap_or("without a message")
}

/// Starts the threads that share the work: one for each core, or as many as can be had. Without any, the calling thread
/// does all of it when it waits. Those of an earlier command line of this process go on.
pub(crate) fn start_threads() -> Result<(), Failure> {
    static STARTED: AtomicBool = AtomicBool::new(false);
    if STARTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    if oxperf_sys::limits::is_address_space_limited() {
        oxperf_sys::heap::share_between_threads();
    }
    let (jobs, queue) = channel::<ThreadBuilder>();
    let queue = Arc::new(Mutex::new(queue));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let started = (0..cores)
        .take_while(|_| start_thread(&queue).is_ok())
        .count();
    // The pool cannot be built twice: its threads have to be there before.
    let pool = match started {
        0 => ThreadPoolBuilder::new()
            .num_threads(1)
            .use_current_thread()
            .build_global(),
        started => {
            let begin = |job| jobs.send(job).map_err(|_| io::ErrorKind::BrokenPipe.into());
            ThreadPoolBuilder::new()
                .num_threads(started)
                .spawn_handler(begin)
                .build_global()
        }
    };
    pool.map_err(|error| {
        Failure::with_code(format!("cannot start threads: {error}"), code::NO_THREAD)
    })
}

/// Starts a thread that waits for its part in the pool.
fn start_thread(queue: &Arc<Mutex<Receiver<ThreadBuilder>>>) -> io::Result<()> {
    let queue = Arc::clone(queue);
    let work = move || {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        if let Ok(job) = job {
            job.run();
        }
    };
    thread::Builder::new().spawn(work).map(drop)
}

/// Reports files that somebody cut short while they were read; gives the exit code, which is no success where the
/// recording is one of them.
pub(crate) fn report_truncated(outcome: i32) -> i32 {
    let truncated = oxperf_sys::truncated_files();
    for TruncatedFile { path, essential } in &truncated {
        print_error(&truncation(path, *essential));
    }
    match truncated.iter().any(|file| file.essential) && outcome == code::SUCCESS {
        true => code::FAILED,
        false => outcome,
    }
}

fn truncation(path: &Path, essential: bool) -> String {
    let path = path.display();
    if essential {
        return format!(
            "{path}: truncated while it was read: what was cut off is missing from the result, or reads as zeros\n\
             Read it again when nobody writes to it."
        );
    }
    format!("Warning: {path} was truncated while it was read: names from it may be missing")
}
