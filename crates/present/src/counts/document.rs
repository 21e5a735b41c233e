//! Whole runs as one JSON document, written and read: what `docs/stat-json.md` calls `oxperf-stat`.

use std::fmt;
use std::time::Duration;

use oxperf_analysis::counts::{
    MeasuredEvent, MeasuredRun, MeasuredRuns, RunCount, RunOrigin, Statistics,
};
use serde_json::Value;

use crate::json::object::{Object, array, null, number, object, text};

/// The name of the form.
const FORMAT: &str = "oxperf-stat";
/// The version of the form: it changes when a key changes its meaning or goes.
const VERSION: u64 = 1;

/// Appends the document.
pub fn write_runs(out: &mut Vec<u8>, runs: &MeasuredRuns) {
    object(out, |document| {
        document.text("format", FORMAT);
        document.number("version", VERSION);
        origin(document, &runs.origin);
    });
    // The object stays open for runs and events, a line each.
    out.pop();
    lines(out, "runs", &runs.runs, run);
    lines(out, "events", &runs.events, event);
    out.extend_from_slice(b"}\n");
}

fn lines<T>(out: &mut Vec<u8>, name: &str, items: &[T], item: impl Fn(&mut Vec<u8>, &T)) {
    out.extend_from_slice(b",\n");
    text(out, name);
    out.push(b':');
    array(out, items, |out, one| {
        out.push(b'\n');
        item(out, one);
    });
}

fn origin(document: &mut Object<'_>, origin: &RunOrigin) {
    document.text("program_version", &origin.program_version);
    document.key("command_line", |out| {
        array(out, &origin.command_line, |out, word| text(out, word));
    });
    document.text("subject", &origin.subject);
    document.number("started", origin.started);
    document.key("host", |out| {
        object(out, |host| {
            host.optional("name", origin.host.as_deref());
            host.optional("kernel", origin.kernel.as_deref());
            host.optional("architecture", origin.architecture.as_deref());
            host.optional("processor", origin.processor.as_deref());
            host.count("cpus", origin.cpus);
        });
    });
}

fn run(out: &mut Vec<u8>, run: &MeasuredRun) {
    let optional = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
    object(out, |object| {
        object.number("elapsed", run.elapsed.as_secs_f64());
        put_float(object, "user", optional(run.user));
        put_float(object, "sys", optional(run.system));
        put(object, "exit_code", run.exit_code);
        put(object, "signal", run.signal);
    });
}

fn event(out: &mut Vec<u8>, event: &MeasuredEvent) {
    let statistics = event.statistics();
    let (mean, error) = shown(&statistics);
    object(out, |object| {
        object.text("event", &event.name);
        object.text("pmu", &event.pmu);
        object.optional("cgroup", event.cgroup.as_deref());
        object.text("unit", &event.unit);
        put_float(object, "scale", Some(event.scale));
        object.key("supported", |out| number(out, event.is_supported));
        object.optional("reason", event.reason.as_deref());
        put_float(object, "mean", mean);
        put_float(object, "standard_error", error);
        object.key("runs", |out| array(out, &event.counts, count));
    });
}

/// Mean and standard error, where there are enough values for them.
pub(super) fn shown(statistics: &Statistics) -> (Option<f64>, Option<f64>) {
    let counted = statistics.number();
    (
        (counted > 0).then(|| statistics.mean()),
        (counted > 1).then(|| statistics.standard_error()),
    )
}

fn count(out: &mut Vec<u8>, count: &RunCount) {
    object(out, |object| {
        put_float(object, "value", count.value);
        object.number("counted", count.counted);
        object.number("enabled", count.enabled);
        object.number("running", count.running);
    });
}

/// Adds a number; `null` where there is none, or none that JSON can hold.
pub(super) fn put_float(object: &mut Object<'_>, name: &str, value: Option<f64>) {
    put(object, name, value.filter(|value| value.is_finite()));
}

/// Adds a number, or `null`.
pub(super) fn put(object: &mut Object<'_>, name: &str, value: Option<impl ToString>) {
    object.key(name, |out| match value {
        Some(value) => number(out, value),
        None => null(out),
    });
}

/// The reason why a text is no document of runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DocumentError {
    /// It is no JSON: the parser's words.
    NoJson(String),
    /// It is JSON of another form.
    OtherFormat,
    /// A later version, which has to be read by other rules.
    OtherVersion(u64),
    /// A key is missing, or its value is of another kind.
    BadKey(&'static str),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentError::NoJson(words) => write!(f, "it is no JSON document: {words}"),
            DocumentError::OtherFormat => write!(f, "its format is not {FORMAT}"),
            DocumentError::OtherVersion(version) => {
                write!(f, "its version is {version}; version {VERSION} can be read")
            }
            DocumentError::BadKey(key) => write!(f, "it has no valid value of {key:?}"),
        }
    }
}

impl std::error::Error for DocumentError {}

/// Reads a document. Keys that are not known are passed over; means are computed from the values.
///
/// # Errors
/// The text is no document of this form.
pub fn read_runs(text: &[u8]) -> Result<MeasuredRuns, DocumentError> {
    let document: Value =
        serde_json::from_slice(text).map_err(|error| DocumentError::NoJson(error.to_string()))?;
    if document.get("format").and_then(Value::as_str) != Some(FORMAT) {
        return Err(DocumentError::OtherFormat);
    }
    match whole(&document, "version")? {
        VERSION => {}
        version => return Err(DocumentError::OtherVersion(version)),
    }
    let runs = list(&document, "runs")?;
    let runs = runs.iter().map(read_run).collect::<Result<Vec<_>, _>>()?;
    let events = list(&document, "events")?;
    let events = events.iter().map(|event| read_event(event, runs.len()));
    Ok(MeasuredRuns {
        origin: read_origin(&document)?,
        events: events.collect::<Result<_, _>>()?,
        runs,
    })
}

fn read_origin(document: &Value) -> Result<RunOrigin, DocumentError> {
    let words = list(document, "command_line")?.iter();
    let word = |word: &Value| word.as_str().map(str::to_owned);
    let host = document.get("host").ok_or(DocumentError::BadKey("host"))?;
    let of_host = |name| optional(host, name, |value| value.as_str().map(str::to_owned));
    Ok(RunOrigin {
        program_version: string(document, "program_version")?,
        command_line: words
            .map(|value| word(value).ok_or(DocumentError::BadKey("command_line")))
            .collect::<Result<_, _>>()?,
        subject: string(document, "subject")?,
        started: whole(document, "started")?,
        host: of_host("name")?,
        kernel: of_host("kernel")?,
        architecture: of_host("architecture")?,
        processor: of_host("processor")?,
        cpus: optional(host, "cpus", Value::as_u64)?,
    })
}

fn read_run(run: &Value) -> Result<MeasuredRun, DocumentError> {
    let small = |value: &Value| value.as_i64().and_then(|value| i32::try_from(value).ok());
    let elapsed = optional(run, "elapsed", time)?;
    Ok(MeasuredRun {
        elapsed: elapsed.ok_or(DocumentError::BadKey("elapsed"))?,
        user: optional(run, "user", time)?,
        system: optional(run, "sys", time)?,
        exit_code: optional(run, "exit_code", small)?,
        signal: optional(run, "signal", small)?,
    })
}

fn time(seconds: &Value) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.as_f64()?).ok()
}

fn read_event(event: &Value, runs: usize) -> Result<MeasuredEvent, DocumentError> {
    let owned = |value: &Value| value.as_str().map(str::to_owned);
    let counts = list(event, "runs")?;
    if counts.len() != runs {
        return Err(DocumentError::BadKey("runs"));
    }
    Ok(MeasuredEvent {
        name: string(event, "event")?,
        pmu: string(event, "pmu")?,
        cgroup: optional(event, "cgroup", owned)?,
        unit: string(event, "unit")?,
        scale: optional(event, "scale", Value::as_f64)?.ok_or(DocumentError::BadKey("scale"))?,
        is_supported: event
            .get("supported")
            .and_then(Value::as_bool)
            .ok_or(DocumentError::BadKey("supported"))?,
        reason: optional(event, "reason", owned)?,
        counts: counts.iter().map(read_count).collect::<Result<_, _>>()?,
    })
}

fn read_count(count: &Value) -> Result<RunCount, DocumentError> {
    Ok(RunCount {
        value: optional(count, "value", Value::as_f64)?,
        counted: whole(count, "counted")?,
        enabled: whole(count, "enabled")?,
        running: whole(count, "running")?,
    })
}

fn list<'v>(value: &'v Value, key: &'static str) -> Result<&'v Vec<Value>, DocumentError> {
    let list = value.get(key).and_then(Value::as_array);
    list.ok_or(DocumentError::BadKey(key))
}

fn string(value: &Value, key: &'static str) -> Result<String, DocumentError> {
    let text = value.get(key).and_then(Value::as_str);
    text.map(str::to_owned).ok_or(DocumentError::BadKey(key))
}

fn whole(value: &Value, key: &'static str) -> Result<u64, DocumentError> {
    let number = value.get(key).and_then(Value::as_u64);
    number.ok_or(DocumentError::BadKey(key))
}

/// The value of a key that may be missing or `null`.
fn optional<T>(
    value: &Value,
    key: &'static str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Option<T>, DocumentError> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or(DocumentError::BadKey(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> MeasuredRuns {
        let run = |elapsed, exit_code, signal| MeasuredRun {
            elapsed: Duration::from_micros(elapsed),
            user: Some(Duration::from_millis(2)),
            system: None,
            exit_code,
            signal,
        };
        let count = |value| RunCount {
            value,
            counted: u64::MAX,
            enabled: 7,
            running: 3,
        };
        MeasuredRuns {
            origin: RunOrigin {
                program_version: "1.2.3".to_owned(),
                command_line: vec!["oxperf".to_owned(), "a \"b\"\u{1b}".to_owned()],
                subject: "'true'".to_owned(),
                started: 1_790_000_000,
                host: Some("host".to_owned()),
                cpus: Some(4),
                ..RunOrigin::default()
            },
            runs: vec![run(1_234_567, Some(0), None), run(3, None, Some(9))],
            events: vec![
                MeasuredEvent {
                    name: "task-clock".to_owned(),
                    pmu: "software".to_owned(),
                    cgroup: Some("/a".to_owned()),
                    unit: "msec".to_owned(),
                    scale: 1e-6,
                    is_supported: true,
                    reason: None,
                    counts: vec![count(Some(0.25)), count(Some(0.75))],
                },
                MeasuredEvent {
                    reason: Some("there is no counter".to_owned()),
                    counts: vec![count(None), count(None)],
                    ..MeasuredEvent::default()
                },
            ],
        }
    }

    fn written() -> String {
        let mut out = Vec::new();
        write_runs(&mut out, &runs());
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        let text = written();
        assert_eq!(read_runs(text.as_bytes()), Ok(runs()), "{text}");
        assert!(
            text.contains("\"mean\":0.5,\"standard_error\":0.25,"),
            "{text}"
        );
        assert!(
            text.contains("\"mean\":null,\"standard_error\":null"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'));
    }

    #[test]
    fn keys_of_later_documents_are_passed_over_and_bad_ones_are_named() {
        let text = written();
        let later = text.replace("\"subject\"", "\"later\":[{}],\"subject\"");
        assert_eq!(read_runs(later.as_bytes()), Ok(runs()));
        for (from, to, error) in [
            ("oxperf-stat", "oxperf-diff", DocumentError::OtherFormat),
            (
                "\"version\":1",
                "\"version\":2",
                DocumentError::OtherVersion(2),
            ),
            (
                "\"elapsed\":0.000003",
                "\"elapsed\":-1",
                DocumentError::BadKey("elapsed"),
            ),
            (
                "\"counted\":18446744073709551615",
                "\"counted\":1.5",
                DocumentError::BadKey("counted"),
            ),
            (
                "\"supported\":true",
                "\"supported\":1",
                DocumentError::BadKey("supported"),
            ),
        ] {
            let changed = text.replace(from, to);
            assert_eq!(
                read_runs(changed.as_bytes()),
                Err(error),
                "{from} in {text}"
            );
        }
    }

    #[test]
    fn broken_texts_are_refused() {
        let text = written();
        for end in 0..text.len() - 2 {
            assert!(read_runs(&text.as_bytes()[..end]).is_err());
        }
        let deep = "[".repeat(100_000);
        assert!(matches!(
            read_runs(deep.as_bytes()),
            Err(DocumentError::NoJson(_))
        ));
        let fewer = text.replace(
            "{\"elapsed\":1.234567",
            "{\"elapsed\":1}, {\"elapsed\":1.234567",
        );
        assert_eq!(
            read_runs(fewer.as_bytes()),
            Err(DocumentError::BadKey("runs"))
        );
    }
}
