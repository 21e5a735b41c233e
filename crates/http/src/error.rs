//! Reasons why a server did not answer as it should.

use std::io;
use std::time::Duration;

/// The schemes that can be asked.
const SCHEMES: &str = match cfg!(feature = "https") {
    true => "https:// and http:// are",
    false => "http:// is, https:// is not built in",
};

/// The reason why a server did not answer as it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// An address that cannot be asked.
    #[error("{0:?} is no address that can be asked: {schemes}", schemes = SCHEMES)]
    Address(String),
    /// A header that no request can hold.
    #[error("the header {0:?} has a name or a value that a request cannot hold")]
    Header(String),
    /// The system knows no such host.
    #[error("the host's name has no address")]
    Nameless,
    /// The server could not be reached, or the connection broke.
    #[error("the server cannot be reached: {0}")]
    Connection(io::ErrorKind),
    /// The server did not prove that it is what it claims, or who may vouch for it is not known.
    #[error("the server is not to be trusted: {0}")]
    Untrusted(String),
    /// Nothing came for too long.
    #[error("the server was silent for {} s", .0.as_secs_f32())]
    Silent(Duration),
    /// The answer takes longer than allowed.
    #[error("not there after {} s", .0.as_secs_f32())]
    TooSlow(Duration),
    /// The answer is larger than allowed.
    #[error("larger than {0} bytes")]
    TooLarge(u64),
    /// The server refused, with this status.
    #[error("the server answered with status {0}")]
    Status(u16),
    /// An answer that is not HTTP, or that ends before its end.
    #[error("the server's answer is broken: {0}")]
    Answer(&'static str),
    /// What the server sent could not be written.
    #[error("cannot write what the server sent: {0}")]
    Output(io::ErrorKind),
}

impl HttpError {
    /// Returns whether other requests to this server have no better prospect.
    pub fn is_of_the_server(&self) -> bool {
        matches!(
            self,
            HttpError::Nameless
                | HttpError::Connection(_)
                | HttpError::Silent(_)
                | HttpError::Untrusted(_)
        )
    }
}
