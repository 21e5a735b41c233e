//! The channel that an answer comes through: a plain connection, or an encrypted one whose server has proved who it is.

use std::io::{self, Read, Write};

#[cfg(feature = "https")]
use super::encrypted;
#[cfg(feature = "https")]
pub(super) use super::encrypted::Trust;
use super::timed_stream::{Connection, TimedStream};
use crate::error::FetchError;

/// A connection to a server.
#[derive(Debug)]
pub(super) enum Channel {
    Plain(TimedStream),
    #[cfg(feature = "https")]
    Encrypted(Box<encrypted::Stream>),
}

impl Connection for Channel {
    fn failure(&self, error: &io::Error) -> FetchError {
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
    pub(super) fn encrypted(
        trust: &Trust,
        stream: TimedStream,
        address: &str,
        name: &str,
    ) -> Result<Channel, FetchError> {
        let stream = trust.secure(stream, address, name)?;
        Ok(Channel::Encrypted(Box::new(stream)))
    }

    /// Refuses: encryption is not built in.
    #[cfg(not(feature = "https"))]
    pub(super) fn encrypted(
        _: &Trust,
        _: TimedStream,
        address: &str,
        _: &str,
    ) -> Result<Channel, FetchError> {
        Err(FetchError::Address(address.to_owned()))
    }
}

/// Nobody is trusted where encryption is not built in.
#[cfg(not(feature = "https"))]
#[derive(Debug, Default)]
pub(super) struct Trust;

#[cfg(not(feature = "https"))]
impl Trust {
    pub(super) fn new(_: Option<std::path::PathBuf>) -> Trust {
        Trust
    }
}
