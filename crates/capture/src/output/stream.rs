//! Standard output, or a named pipe, as the destination of a recording: a reader that takes nothing does not keep the
//! recorder from ending.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use oxperf_sys::files::is_trusted_owner;
use oxperf_sys::{Errno, PollSet, PollSlot};

use crate::interrupts::{GRACE, Interrupts};

/// Bytes that a pipe or socket takes at once where it says that it takes any.
const ALWAYS_TAKEN: usize = 4096;

/// The kernel's answer to the opening of a pipe without a reader: `ENXIO`.
const NO_READER: Errno = Errno(6);
/// The time after which a reader is looked for again.
const READER_LOOK: Duration = Duration::from_millis(20);

/// Writes to a file as files are written, to anything else as its reader takes it. Once a signal has asked the recorder
/// to end, a reader that takes nothing for the grace period is given up; a second signal gives it up at once.
#[derive(Debug)]
pub(crate) struct StreamOutput {
    output: File,
    /// Most bytes of one write.
    at_once: usize,
    interrupts: Rc<Interrupts>,
    poll: PollSet,
    output_slot: PollSlot,
    signal_slot: PollSlot,
}

impl StreamOutput {
    /// Takes standard output, for bytes and not for text.
    ///
    /// # Errors
    /// It is closed, or a terminal.
    pub(crate) fn standard(interrupts: Rc<Interrupts>) -> io::Result<StreamOutput> {
        let output = io::stdout();
        if output.is_terminal() {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                "a terminal takes no recording",
            ));
        }
        StreamOutput::new(
            output.as_fd().try_clone_to_owned().map(File::from)?,
            interrupts,
        )
    }

    /// Opens a named pipe of the user's or of root, when it has a reader.
    ///
    /// # Errors
    /// The kernel's answer; `Interrupted` where a signal asked the recorder to end before a reader came.
    pub(crate) fn named(path: &Path, interrupts: Rc<Interrupts>) -> io::Result<StreamOutput> {
        let owner = std::fs::metadata(path)?.uid();
        if !is_trusted_owner(owner) {
            let text =
                format!("this pipe belongs to user {owner}: remove it, or name another place");
            return Err(io::Error::new(ErrorKind::PermissionDenied, text));
        }
        let mut poll = PollSet::new();
        poll.add(&*interrupts);
        loop {
            let mut opening = OpenOptions::new();
            let opening = opening.write(true).custom_flags(oxperf_sys::NON_BLOCKING);
            match opening.open(path) {
                Err(error) if Errno::of(&error) == NO_READER => {}
                opened => return StreamOutput::new(opened?, interrupts),
            }
            poll.wait(Some(READER_LOOK))?;
            interrupts.take();
            if interrupts.signal().is_some() {
                return Err(io::Error::new(
                    ErrorKind::Interrupted,
                    "nobody reads this pipe",
                ));
            }
        }
    }

    fn new(given: File, interrupts: Rc<Interrupts>) -> io::Result<StreamOutput> {
        let kind = given.metadata()?.file_type();
        let (output, at_once) = if kind.is_fifo() || kind.is_socket() {
            own_description(given)
        } else {
            (given, usize::MAX)
        };
        let mut poll = PollSet::new();
        let (output_slot, signal_slot) = (poll.add_writer(&output), poll.add(&*interrupts));
        Ok(StreamOutput {
            output,
            at_once,
            interrupts,
            poll,
            output_slot,
            signal_slot,
        })
    }

    /// Waits until the output takes something, or has failed.
    fn wait(&mut self, since: Instant) -> io::Result<()> {
        loop {
            let patience = self.interrupts.patience(since);
            self.poll.wait(patience)?;
            if self.poll.readiness(self.signal_slot).readable {
                self.interrupts.take();
            }
            let output = self.poll.readiness(self.output_slot);
            if output.writable || output.hung_up || output.failed || output.closed {
                return Ok(());
            }
            if patience.is_some_and(|left| left.is_zero()) {
                return Err(io::Error::new(ErrorKind::TimedOut, given_up()));
            }
        }
    }
}

impl Write for StreamOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let since = Instant::now();
        loop {
            self.wait(since)?;
            match self
                .output
                .write(bytes.get(..self.at_once).unwrap_or(bytes))
            {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                written => return written,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The pipe opened anew, so that its writes need not wait: the description that we were given is shared with others, who
/// may rely on waiting. What cannot be opened anew, as a socket, takes small pieces.
fn own_description(given: File) -> (File, usize) {
    let path = format!("/proc/self/fd/{}", given.as_raw_fd());
    let non_blocking = oxperf_sys::NON_BLOCKING;
    match OpenOptions::new()
        .write(true)
        .custom_flags(non_blocking)
        .open(path)
    {
        Ok(own) => (own, usize::MAX),
        Err(_) => (given, ALWAYS_TAKEN),
    }
}

fn given_up() -> String {
    format!(
        "its reader took nothing for {} s, or until a second signal",
        GRACE.as_secs()
    )
}
