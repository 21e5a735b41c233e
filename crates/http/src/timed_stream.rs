//! A plain connection to a server that is held to limits of time.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::error::HttpError;

/// The limits that a server is held to.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest silence.
    pub patience: Duration,
    /// Longest time for everything.
    pub time: Duration,
    /// Bytes of the answer's body.
    pub size: u64,
}

/// A connection that an answer is read from.
pub trait Connection: Read {
    /// The reason why it could not be read.
    fn failure(&self, error: &io::Error) -> HttpError;
}

/// A connection whose reads end in time.
#[derive(Debug)]
pub(crate) struct TimedStream {
    stream: TcpStream,
    limits: Limits,
    start: Instant,
}

impl TimedStream {
    /// Connects to the first address of a host that answers.
    pub(crate) fn connect(
        socket: impl ToSocketAddrs,
        limits: Limits,
        start: Instant,
    ) -> Result<TimedStream, HttpError> {
        let mut last = HttpError::Nameless;
        for address in socket.to_socket_addrs().map_err(|_| HttpError::Nameless)? {
            match TcpStream::connect_timeout(&address, limits.patience) {
                Ok(stream) => {
                    return Ok(TimedStream {
                        stream,
                        limits,
                        start,
                    });
                }
                Err(error) => last = HttpError::Connection(error.kind()),
            }
        }
        Err(last)
    }

    /// The longest time that the next step may take.
    fn left(&self) -> io::Result<Duration> {
        let left = self.limits.time.saturating_sub(self.start.elapsed());
        let left = left.min(self.limits.patience);
        match left.is_zero() {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(left),
        }
    }

    /// The reason why a read or a write failed.
    pub(crate) fn failure(&self, error: &io::Error) -> HttpError {
        let waited = matches!(
            error.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
        );
        match (waited, self.start.elapsed() >= self.limits.time) {
            (true, true) => HttpError::TooSlow(self.limits.time),
            (true, false) => HttpError::Silent(self.limits.patience),
            (false, _) => HttpError::Connection(error.kind()),
        }
    }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        self.stream.read(buffer)
    }
}

impl Write for TimedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
