//! What an answer comes through: a plain connection, or an encrypted one whose server has proved who it is.

use std::io::{self, Read, Write};

use super::FetchError;
#[cfg(feature = "https")]
use super::encrypted;
#[cfg(feature = "https")]
pub(super) use super::encrypted::Trust;
use super::http::{Connection, Guarded};

/// A connection to a server.
#[derive(Debug)]
pub(super) enum Channel {
    Plain(Guarded),
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

/// Nobody is trusted where encryption is not built in.
#[cfg(not(feature = "https"))]
#[derive(Debug, Default)]
pub(super) struct Trust;

#[cfg(not(feature = "https"))]
impl Trust {
    pub(super) fn new(_: Option<std::path::PathBuf>) -> Trust {
        Trust
    }

    pub(super) fn secure(&self, _: Guarded, address: &str, _: &str) -> Result<Channel, FetchError> {
        Err(FetchError::Address(address.to_owned()))
    }
}
