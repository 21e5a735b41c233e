//! A report as CSV: a line for each row and event, below lines that begin with `#`.

use std::borrow::Cow;
use std::io::{self, Write};

use oxperf_analysis::hist::{Row, SortKey, Table};
use oxperf_profile::Profile;

use super::percent::Percents;
use super::values::{Value, value_or_address, word};
use crate::text::sanitize;
use oxperf_ordered::write_in_order;

/// The content of the text beside its tables.
#[derive(Clone, Copy, Debug)]
pub struct ReportCsv<'a> {
    /// The profile of the tables.
    pub profile: &'a Profile,
    /// The keys of the rows.
    pub keys: &'a [SortKey],
    /// Rows below this part of all samples, in hundredths, are left out.
    pub min_percent: f64,
    /// A sentence for each kind of loss.
    pub losses: &'a [String],
}

impl ReportCsv<'_> {
    /// Writes the text; give a buffered writer.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn write(&self, tables: &[Table], out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# oxperf-report-csv 1")?;
        for event in &self.profile.events {
            writeln!(
                out,
                "# lost samples of {}: {}",
                sanitize(&event.name),
                event.lost
            )?;
        }
        for loss in self.losses {
            writeln!(out, "# {}", sanitize(loss))?;
        }
        let mut heading = b"event".to_vec();
        for &key in self.keys {
            heading.push(b',');
            push_text(&mut heading, word(self.profile, key));
        }
        heading
            .extend_from_slice(b",self_samples,self_period,self_percent,samples,period,percent\n");
        out.write_all(&heading)?;
        tables.iter().try_for_each(|table| self.table(table, out))
    }

    fn table(&self, table: &Table, out: &mut dyn Write) -> io::Result<()> {
        let event = |nth: usize| {
            table
                .events
                .get(nth)
                .and_then(|&event| self.profile.events.get(event))
        };
        let percents: Vec<Percents> = (0..table.events.len())
            .map(|nth| Percents::new(event(nth).map_or(0, |event| event.period_total)))
            .collect();
        write_in_order(out, table.len(), |rows, buffer| {
            for row in rows {
                let Some(about) = table.row(row) else {
                    continue;
                };
                let cells = table.cells(row);
                let part = percents
                    .first()
                    .zip(cells.first())
                    .map_or(0.0, |(all, cell)| all.of(cell.all.period));
                if part < self.min_percent {
                    continue;
                }
                for (nth, (cell, all)) in cells.iter().zip(&percents).enumerate() {
                    push_text(buffer, event(nth).map_or("", |event| event.name.as_str()));
                    self.keys(about, buffer);
                    let (own, total) = (cell.own, cell.all);
                    // Writing to a vector cannot fail.
                    let _ = writeln!(
                        buffer,
                        ",{},{},{:.2},{},{},{:.2}",
                        own.samples,
                        own.period,
                        all.of(own.period),
                        total.samples,
                        total.period,
                        all.of(total.period)
                    );
                }
            }
        })
    }

    fn keys(&self, row: &Row, buffer: &mut Vec<u8>) {
        for &key in self.keys {
            buffer.push(b',');
            match value_or_address(self.profile, row, key) {
                Value::Text(text) => push_text(buffer, &text),
                Value::Number(number) => buffer.extend_from_slice(number.to_string().as_bytes()),
                Value::Nothing => {}
            }
        }
    }
}

/// Appends a text, in quotes where it has to be.
fn push_text(buffer: &mut Vec<u8>, text: &str) {
    let text: Cow<'_, str> = sanitize(text);
    if !text.contains([',', '"']) {
        return buffer.extend_from_slice(text.as_bytes());
    }
    buffer.push(b'"');
    buffer.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::push_text;

    #[test]
    fn texts_are_quoted_where_they_have_to_be() {
        let quoted = |text: &str| {
            let mut buffer = Vec::new();
            push_text(&mut buffer, text);
            String::from_utf8(buffer).unwrap()
        };
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("f(int, char)"), "\"f(int, char)\"");
        assert_eq!(quoted("operator\"\""), "\"operator\"\"\"\"\"");
        assert!(!quoted("a\nb").contains('\n'));
    }
}
