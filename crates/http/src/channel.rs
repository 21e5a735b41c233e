//! The channel that an answer comes through: a plain connection, or an encrypted one whose server has proved who it is.

use std::io::{self, Read, Write};

use crate::address::Address;
#[cfg(feature = "https")]
use crate::encrypted;
#[cfg(feature = "https")]
pub(crate) use crate::encrypted::Trust;
use crate::error::HttpError;
use crate::timed_stream::{Connection, TimedStream};

/// A connection to a server.
#[derive(Debug)]
pub(crate) enum Channel {
    Plain(TimedStream),
    #[cfg(feature = "https")]
    Encrypted(Box<encrypted::Stream>),
}

impl Connection for Channel {
    fn failure(&self, error: &io::Error) -> HttpError {
        match self {
            Channel::Plain(stream) => stream.failure(error),
            #[cfg(feature = "https")]
            Channel::Encrypted(stream) => encrypted::failure(stream, error),
        }
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Channel::Plain(stream) => stream.read(buffer),
            #[cfg(feature = "https")]
            Channel::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Channel::Plain(stream) => stream.write(bytes),
            #[cfg(feature = "https")]
            Channel::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Channel::Plain(stream) => stream.flush(),
            #[cfg(feature = "https")]
            Channel::Encrypted(stream) => stream.flush(),
        }
    }
}

impl Channel {
    /// An encrypted channel over a connection, once the server has proved its name with the first byte.
    #[cfg(feature = "https")]
    pub(crate) fn encrypted(
        trust: &Trust,
        stream: TimedStream,
        place: &Address,
    ) -> Result<Channel, HttpError> {
        let stream = trust.secure(stream, place.name())?;
        Ok(Channel::Encrypted(Box::new(stream)))
    }

    /// Refuses: encryption is not built in.
    #[cfg(not(feature = "https"))]
    pub(crate) fn encrypted(
        _: &Trust,
        _: TimedStream,
        place: &Address,
    ) -> Result<Channel, HttpError> {
        Err(HttpError::Address(format!("https://{}", place.name())))
    }
}

/// Nobody is trusted where encryption is not built in.
#[cfg(not(feature = "https"))]
#[derive(Debug, Default)]
pub(crate) struct Trust;

#[cfg(not(feature = "https"))]
impl Trust {
    pub(crate) fn new(_: Option<std::path::PathBuf>) -> Trust {
        Trust
    }
}
