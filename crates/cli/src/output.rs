//! The only place that prints.

use std::io::{self, Write};

pub(crate) use oxperf_ordered::BackgroundWriter as Output;
use oxperf_present::text::sanitize;

/// Writes a line to standard output.
pub(crate) fn print_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Writes text to standard output before anything else is; who asked for less notices what is missing.
pub(crate) fn print_text(text: &[u8]) {
    let _ = io::stdout().lock().write_all(text);
}

/// Writes lines to standard error, harmless whatever names stand in them; nothing can be done when that fails.
pub(crate) fn print_error(text: &str) {
    let shown = |line: &str| {
        line.split('\t')
            .map(sanitize)
            .collect::<Vec<_>>()
            .join("\t")
    };
    let text: String = text.split('\n').map(|line| shown(line) + "\n").collect();
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// A writer to standard output with a large buffer.
pub(crate) fn stdout() -> Output {
    Output::new(io::stdout())
}

/// Writes bytes to standard error as they are; nothing can be done when that fails.
pub(crate) fn print_to_error(bytes: &[u8]) {
    let _ = io::stderr().lock().write_all(bytes);
}
