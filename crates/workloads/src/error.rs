//! The reasons why a workload does not run to its end.

/// A workload cannot run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WorkloadError {
    /// An argument is not a number.
    #[error("{argument} ({given}): {expected} is expected")]
    NotANumber {
        /// The argument's meaning.
        argument: &'static str,
        /// Its text.
        given: String,
        /// The kind of number.
        expected: &'static str,
    },
    /// A number is below one.
    #[error("{argument} ({given}) must be >= 1")]
    TooSmall {
        /// The argument's meaning.
        argument: &'static str,
        /// Its text.
        given: String,
    },
    /// There are no functions for so many threads.
    #[error("num threads must be 1 - {0}")]
    Threads(usize),
    /// The system refused something.
    #[error("cannot {action}: {reason}")]
    System {
        /// The step that was refused.
        action: &'static str,
        /// The system's words.
        reason: String,
    },
    /// There is no code for this kind of processor.
    #[error("workload '{0}' is for x86-64 and 64-bit Arm")]
    Processor(&'static str),
}

impl WorkloadError {
    /// A refusal of the system.
    pub(crate) fn system(action: &'static str) -> impl Fn(std::io::Error) -> WorkloadError {
        move |reason| WorkloadError::System {
            action,
            reason: reason.to_string(),
        }
    }
}
