//! The reason why the kernel refused an event or a ring, in words: which setting or limit forbids what, and the command that
//! allows it.
//!
//! [`Reason::of`] finds the reason, a pure function of what was asked ([`OpenAttempt`]), the kernel's answer and the state of
//! the machine ([`OpenFacts`]). The words stand in one file, for every command.
//!
//! ```
//! use oxperf_abi::{AttrFlags, EventAttr};
//! use oxperf_capture::explain::{AttemptTask, Explanation, OpenAttempt, OpenFacts, Permissions};
//! use oxperf_sys::OpenError;
//!
//! let attr = EventAttr { flags: AttrFlags::EXCLUDE_KERNEL, ..EventAttr::default() };
//! let attempt = OpenAttempt {
//!     event: "cycles:u",
//!     pmu: "cpu",
//!     attr: &attr,
//!     task: AttemptTask::Everybody,
//!     cpu: Some(oxperf_abi::Cpu(0)),
//!     group: None,
//! };
//! let permissions = Permissions { paranoid: Some(2), ..Permissions::default() };
//! let facts = OpenFacts { permissions, ..OpenFacts::default() };
//! let text = Explanation::new(&attempt, OpenError::AccessDenied, &facts).to_string();
//! assert!(text.contains("forbids counting and recording everybody"));
//! assert!(text.contains("sudo sysctl kernel.perf_event_paranoid=0"));
//! ```

mod attempt;
mod facts;
mod missing_trace;
mod reason;
mod words;

use oxperf_sys::{OpenError, RingError};

use crate::open::RingSizes;

pub use attempt::{AttemptTask, OpenAttempt};
pub use facts::{OpenFacts, Permissions};
pub use missing_trace::{MissingTrace, Processor, TraceFacts, TraceKind};
pub use reason::Reason;

/// A refused event and the reason for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The event's name.
    pub event: String,
    /// The kernel's answer.
    pub error: OpenError,
    /// The setting or limit that forbids it.
    pub reason: Reason,
}

impl Explanation {
    /// Explains why an opening was refused with `error`.
    pub fn new(attempt: &OpenAttempt<'_>, error: OpenError, facts: &OpenFacts) -> Explanation {
        Explanation {
            event: attempt.event.to_owned(),
            error,
            reason: Reason::of(attempt, error, facts),
        }
    }
}

/// A ring that could not be mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RingExplanation {
    /// The answer.
    pub error: RingError,
    /// What was to be mapped.
    pub sizes: RingSizes,
    /// `kernel.perf_event_mlock_kb`.
    pub limit_kb: Option<u64>,
}

#[cfg(test)]
mod tests;
