//! Shared objects that filter samples: perf's `--dlfilter` interface, in a process of its own.
//!
//! A filter is code that somebody else built. It runs in a helper process that [`serve`] is the whole of; the program asks
//! it through a [`Client`] over a socket, a sample at a time, and answers the filter's questions about the sample by a
//! [`Resolver`]. A filter that crashes ends the helper and not the program.
//!
//! The helper gives up all capabilities before it loads anything: a filter can do what the user can, and no more.
//!
//! Loading a shared object, calling it and being called by it takes `unsafe`: this crate and `oxperf-sys` are the only ones
//! with any. All of it is in [`serve`]'s modules; the client and the messages are safe.
//!
//! ```
//! use oxperf_dlfilter::{Client, ResolvedAddress, Resolver, FilterSample};
//! struct Nothing;
//! impl Resolver for Nothing {}
//! # fn with(socket: std::os::unix::net::UnixStream) -> Result<(), oxperf_dlfilter::DlfilterError> {
//! let mut filter = Client::start(socket, &["an argument".to_owned()])?;
//! let decision = filter.ask(true, &FilterSample::default(), &mut Nothing)?;
//! assert!(decision.keeps);
//! # Ok(())
//! # }
//! ```

mod client;
mod interface;
mod loaded;
mod message;
mod privileges;
mod serve;

pub use client::{Client, Decision, Resolver};
pub use message::{FilterBranch, FilterSample, ResolvedAddress, Which};
pub use serve::{describe, serve};

use std::io;

/// The reason why a filter cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DlfilterError {
    /// The shared object cannot be loaded.
    #[error("cannot load the filter: {0}")]
    Load(String),
    /// A function of the filter refused.
    #[error("the filter's {function} failed with {code}")]
    Refused {
        /// Its name.
        function: &'static str,
        /// The value that it returned.
        code: i32,
    },
    /// The helper process ended: the filter has crashed or left.
    #[error("the filter's process ended: the filter crashed or called exit")]
    Ended,
    /// A message that makes no sense.
    #[error("the filter's process sent a message that makes no sense ({0})")]
    Message(&'static str),
    /// The socket failed.
    #[error("the filter's process cannot be reached: {0}")]
    Io(#[source] io::Error),
}

impl From<io::Error> for DlfilterError {
    fn from(error: io::Error) -> DlfilterError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset => DlfilterError::Ended,
            _ => DlfilterError::Io(error),
        }
    }
}
