//! A plain connection to a server that is held to limits of time.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::FetchError;

/// The limits that a server is held to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Longest silence.
    pub(super) patience: Duration,
    /// Longest time for everything.
    pub(super) time: Duration,
    /// Bytes of the answer's body.
    pub(super) size: u64,
}

/// A connection that an answer is read from.
pub trait Connection: Read {
    /// The reason why it could not be read.
    fn failure(&self, error: &io::Error) -> FetchError;
}

/// A connection whose reads end in time.
#[derive(Debug)]
pub(super) struct TimedStream {
    stream: TcpStream,
    limits: Limits,
    start: Instant,
}

impl TimedStream {
    /// Connects to the first address of a host that answers.
    pub(super) fn connect(
        socket: impl ToSocketAddrs,
        limits: Limits,
        start: Instant,
    ) -> Result<TimedStream, FetchError> {
        let failed = |error: io::Error| FetchError::Connection(error.kind());
        let mut last = FetchError::Connection(io::ErrorKind::NotFound);
        for address in socket.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&address, limits.patience) {
                Ok(stream) => {
                    stream
                        .set_write_timeout(Some(limits.patience))
                        .map_err(failed)?;
                    return Ok(TimedStream {
                        stream,
                        limits,
                        start,
                    });
                }
                Err(error) => last = failed(error),
            }
        }
        Err(last)
    }

    /// The reason why a read or a write failed.
    pub(super) fn failure(&self, error: &io::Error) -> FetchError {
        let waited = matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        );
        match (waited, self.start.elapsed() >= self.limits.time) {
            (true, true) => FetchError::TooSlow(self.limits.time),
            (true, false) => FetchError::Silent(self.limits.patience),
            (false, _) => FetchError::Connection(error.kind()),
        }
    }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self
            .limits
            .time
            .saturating_sub(self.start.elapsed())
            .min(self.limits.patience);
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.read(buffer)
    }
}

impl Write for TimedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
