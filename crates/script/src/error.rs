//! Reasons for which samples cannot be shown to the end.

use std::fmt;
use std::io;

use oxperf_dlfilter::DlfilterError;
use oxperf_present::text::sanitize;

/// A failure of showing samples.
#[derive(Debug)]
pub enum ScriptError {
    /// The output cannot be written.
    Output(io::Error),
    /// A filter of the user's failed: its name, and the reason.
    Dlfilter(String, String),
}

impl ScriptError {
    /// The filter of this name failed.
    pub fn dlfilter(name: &str, error: &DlfilterError) -> ScriptError {
        let reason = sanitize(&error.to_string()).into_owned();
        ScriptError::Dlfilter(sanitize(name).into_owned(), reason)
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScriptError::Output(error) => write!(f, "cannot write the output: {error}"),
            ScriptError::Dlfilter(name, reason) => write!(f, "dlfilter {name}: {reason}"),
        }
    }
}

impl std::error::Error for ScriptError {}

impl From<io::Error> for ScriptError {
    fn from(error: io::Error) -> ScriptError {
        ScriptError::Output(error)
    }
}
