//! The reason why a command ends without its result, and the exit code for it.

use std::fmt;

use oxperf_query::QueryError;
use oxperf_script::error::ScriptError;

/// Exit codes as perf gives them.
pub(crate) mod code {
    /// Done.
    pub(crate) const SUCCESS: i32 = 0;
    /// No command, or one that does not exist.
    pub(crate) const USAGE_OF_PROGRAM: i32 = 1;
    /// An option that does not exist or has a bad value.
    pub(crate) const BAD_OPTION: i32 = 129;
    /// The options or the commands below a command are listed.
    pub(crate) const LISTED: i32 = 130;
    /// An option's value makes no sense for the recording.
    pub(crate) const INVALID: i32 = 234;
    /// There is no memory left.
    pub(crate) const OUT_OF_MEMORY: i32 = 244;
    /// No thread can be started.
    pub(crate) const NO_THREAD: i32 = 245;
    /// An option names something that is not in the recording.
    pub(crate) const NOT_FOUND: i32 = 254;
    /// The command failed.
    pub(crate) const FAILED: i32 = 255;
}

/// A message for the user and an exit code.
#[derive(Debug)]
pub struct Failure {
    message: String,
    code: i32,
    closed_pipe: bool,
}

impl Failure {
    /// The command failed.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: code::FAILED,
            closed_pipe: false,
        }
    }

    /// The command failed for a reason with an exit code of its own.
    pub(crate) fn with_code(message: impl Into<String>, code: i32) -> Failure {
        Failure {
            message: message.into(),
            code,
            closed_pipe: false,
        }
    }

    /// An option has a bad value.
    pub(crate) fn bad_option(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: code::BAD_OPTION,
            closed_pipe: false,
        }
    }

    /// An option's value makes no sense for the recording.
    pub(crate) fn invalid(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: code::INVALID,
            closed_pipe: false,
        }
    }

    /// An option names something that is not in the recording.
    pub(crate) fn not_found(message: impl Into<String>) -> Failure {
        Failure {
            message: message.into(),
            code: code::NOT_FOUND,
            closed_pipe: false,
        }
    }

    pub(crate) fn code(&self) -> i32 {
        self.code
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// Writing a result failed.
impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        let closed_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Failure {
            message: format!("cannot write the output: {error}"),
            code: code::FAILED,
            closed_pipe,
        }
    }
}

/// An option cannot be followed.
impl From<ScriptError> for Failure {
    fn from(error: ScriptError) -> Failure {
        match error {
            ScriptError::Output(error) => error.into(),
            ScriptError::Dlfilter(..) => Failure::new(error.to_string()),
        }
    }
}

impl From<QueryError> for Failure {
    fn from(error: QueryError) -> Failure {
        let message = error.to_string();
        match error {
            QueryError::InvalidPart(_) => Failure::bad_option(message),
            QueryError::InvalidTime
            | QueryError::PartOfStream
            | QueryError::NoSampleTimes
            | QueryError::UnreadableKernelSymbols { .. } => Failure::invalid(message),
            QueryError::NoSuchSwitch { .. } => Failure::not_found(message),
            QueryError::InvalidCpus(_)
            | QueryError::NoCpus
            | QueryError::UnreadableRecords(_)
            | QueryError::InvalidIds { .. }
            | QueryError::UnreadableNames { .. } => Failure::new(message),
        }
    }
}
