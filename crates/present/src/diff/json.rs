//! A comparison as JSON: what `docs/json.md` calls `oxperf-diff`.

use std::io::{self, Write};

use oxperf_analysis::diff::Method;
use oxperf_analysis::hist::{Row, SortKey};
use oxperf_profile::Profile;

use super::Compared;
use crate::json::object::{Object, array, null, number, object, text};
use crate::report::values::{Value, value, word};
use oxperf_ordered::write_in_order;

/// The content of a document beside its events.
#[derive(Clone, Copy, Debug)]
pub struct DiffDocument<'a> {
    /// The measure of changes.
    pub method: Method,
    /// The keys of the rows.
    pub keys: &'a [SortKey],
    /// The recordings' files, the baseline first, with a sentence for each kind of loss.
    pub files: &'a [(String, Vec<String>)],
}

impl DiffDocument<'_> {
    /// Writes the document; give a buffered writer.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, events: &[Compared<'_>], out: &mut dyn Write) -> io::Result<()> {
        let mut head = Vec::new();
        object(&mut head, |head| self.head(head));
        // The object stays open for the events.
        head.pop();
        head.extend_from_slice(b",\"events\":[");
        out.write_all(&head)?;
        for (nth, event) in events.iter().enumerate() {
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            self.event(event, out)?;
        }
        out.write_all(b"\n]}\n")
    }

    fn head(&self, head: &mut Object<'_>) {
        head.text("format", "oxperf-diff");
        head.number("version", 1);
        head.text("method", name_of(self.method));
        if let Method::Weighted { old, new } = self.method {
            head.key("weights", |out| {
                array(out, &[old, new], |out, weight| number(out, *weight))
            });
        }
        head.key("files", |out| {
            array(out, self.files, |out, (path, losses)| {
                object(out, |file| {
                    file.text("path", path);
                    file.key("losses", |out| {
                        array(out, losses, |out, loss| text(out, loss))
                    });
                });
            });
        });
    }

    fn event(&self, event: &Compared<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut head = Vec::new();
        object(&mut head, |head| {
            head.text("name", event.event);
            head.key("totals", |out| {
                array(out, &event.table.totals, |out, total| number(out, *total))
            });
        });
        head.pop();
        head.extend_from_slice(b",\"rows\":[");
        out.write_all(&head)?;
        write_in_order(out, event.table.rows().len(), |rows, buffer| {
            rows.for_each(|row| {
                buffer.extend_from_slice(if row == 0 { b"\n" } else { b",\n" });
                object(buffer, |object| self.row(event, row, object));
            });
        })?;
        out.write_all(b"\n]}")
    }

    fn row(&self, event: &Compared<'_>, row: usize, out: &mut Object<'_>) {
        let shown = event.table.rows()[row];
        let side = &event.sides[shown.side];
        if let Some(shown) = side.table.and_then(|table| table.row(shown.row)) {
            self.keys
                .iter()
                .for_each(|&key| write_key(side.profile, key, shown, out));
        }
        out.key("periods", |out| {
            array(out, event.table.periods(row), |out, period| match period {
                Some(period) => number(out, *period),
                None => null(out),
            });
        });
        let sides: Vec<usize> = (1..event.sides.len()).collect();
        out.key("changes", |out| {
            array(out, &sides, |out, &side| {
                match event.table.change(row, side) {
                    Some(change) if change.old.is_some() || self.method.is_of_new_rows() => {
                        number(out, self.method.value(change));
                    }
                    _ => null(out),
                }
            });
        });
    }
}

fn name_of(method: Method) -> &'static str {
    match method {
        Method::Delta => "delta",
        Method::DeltaAbs => "delta-abs",
        Method::Ratio => "ratio",
        Method::Weighted { .. } => "wdiff",
        Method::Cycles => "cycles",
    }
}

fn write_key(profile: &Profile, key: SortKey, row: &Row, out: &mut Object<'_>) {
    out.key(word(profile, key), |out| match value(profile, row, key) {
        Value::Text(value) => text(out, &value),
        Value::Number(value) => number(out, value),
        Value::Nothing => null(out),
    });
}
