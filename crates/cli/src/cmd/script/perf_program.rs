//! Programs that are made for the interpreters inside perf: they are recognized and refused, with what to use instead.
//!
//! perf calls functions of such a program by their names. Here a program is a process that reads the events from its
//! standard input; one that waits to be called would print nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use oxperf_present::text::sanitize;

use crate::failure::Failure;

/// How much of a program is looked at.
const MOST: u64 = 1 << 20;

/// The ways to the same facts.
const INSTEAD: &str = "Use one of these instead:
  script -g python                 writes a program to begin with, which -s runs: it reads an event a line from its input
  script --format jsonl | PROGRAM  the events as JSON, one a line (docs/jsonl.md)
  script --dlfilter FILE.so        a shared object of perf's dlfilter interface
  data convert --to-json FILE      the whole recording as JSON";

/// The functions that perf calls by their names, beside those of tracepoints.
const HANDLERS: [&str; 6] = [
    "trace_begin",
    "trace_end",
    "trace_unhandled",
    "process_event",
    "context_switch",
    "auxtrace_error",
];

/// The refusal of a program that is made for perf's interpreters; `None` for all others.
pub(super) fn refusal(named: &str) -> Option<Failure> {
    let path = match named.split_once(':') {
        Some((_, file)) if !Path::new(named).exists() => Path::new(file),
        _ => Path::new(named),
    };
    let file = path.is_file().then(|| File::open(path).ok()).flatten()?;
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text).ok()?;
    let handler = handler(&String::from_utf8_lossy(&text))?;
    Some(Failure::new(format!(
        "{} is made for perf's own interpreter, which calls its {handler}; oxperf does not have that yet.\n{INSTEAD}",
        sanitize(named)
    )))
}

/// The refusal of the name of one of the scripts that come with perf.
pub(super) fn named(name: &str) -> Failure {
    Failure::bad_option(format!(
        "Couldn't find script `{}': the scripts that come with perf need its own interpreter, which oxperf does not have \
         yet.\n{INSTEAD}",
        sanitize(name)
    ))
}

/// The function of a program that only perf's interpreter calls, if it has one and does not read its input itself.
fn handler(text: &str) -> Option<&'static str> {
    if text.contains("stdin") || text.contains("STDIN") {
        return None;
    }
    let defined = text.lines().filter_map(|line| {
        let name = line
            .strip_prefix("def ")
            .or_else(|| line.strip_prefix("sub "))?;
        let end = name.find(|letter: char| letter != '_' && !letter.is_ascii_alphanumeric());
        Some(&name[..end.unwrap_or(name.len())])
    });
    let mut known = defined.filter_map(|name| {
        let handler = HANDLERS.into_iter().find(|handler| *handler == name);
        // sched__sched_switch(event_name, context, ..)
        handler.or_else(|| name.contains("__").then_some("functions of tracepoints"))
    });
    let imports = ["perf_trace_context", "Perf::Trace"];
    let found = known.next();
    match found {
        Some("functions of tracepoints") => imports
            .iter()
            .any(|module| text.contains(module))
            .then_some("functions of tracepoints"),
        found => found,
    }
}

#[cfg(test)]
mod tests {
    use super::handler;

    #[test]
    fn programs_that_wait_to_be_called_are_known() {
        assert_eq!(
            handler("import sys\ndef process_event(d):\n  pass\n"),
            Some("process_event")
        );
        assert_eq!(handler("sub trace_begin\n{\n}\n"), Some("trace_begin"));
        let tracepoint = "from perf_trace_context import *\ndef sched__sched_switch(event_name, context):\n  pass\n";
        assert_eq!(handler(tracepoint), Some("functions of tracepoints"));
        for own in [
            "import sys\ndef process_event(d):\n  pass\nfor line in sys.stdin:\n  process_event(line)\n",
            "def __init__():\n  pass\nprint(1)\n",
            "while (<STDIN>) { }\nsub trace_begin { }\n",
            "",
        ] {
            assert_eq!(handler(own), None, "{own}");
        }
    }
}
