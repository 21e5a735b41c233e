//! Cells as text, and rows as comma-separated values.

use std::io::Write;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use oxperf::sql::Failure;
use oxperf_present::text::sanitize;

/// The texts of a column's cells.
pub(super) fn formatter<'a>(
    column: &'a dyn Array,
    null: &'static str,
) -> Result<ArrayFormatter<'a>, ArrowError> {
    let options = FormatOptions::new()
        .with_display_error(true)
        .with_null(null);
    ArrayFormatter::try_new(column, &options)
}

/// The names of columns as a line.
pub(super) fn write_names(schema: &Schema, out: &mut impl Write) -> Result<(), Failure> {
    let names = schema
        .fields()
        .iter()
        .map(|field| quoted(&sanitize(field.name())));
    Ok(writeln!(out, "{}", names.collect::<Vec<_>>().join(","))?)
}

/// Rows, a line each; on a terminal without control characters.
pub(super) fn write_rows(
    batch: &RecordBatch,
    shown: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    let columns = batch.columns().iter().map(|column| formatter(column, ""));
    let columns = columns.collect::<Result<Vec<_>, _>>();
    let columns = columns.map_err(|error| Failure::new(error.to_string()))?;
    for row in 0..batch.num_rows() {
        for (place, column) in columns.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            let text = column.value(row).to_string();
            let text = if shown {
                sanitize(&text).into_owned()
            } else {
                text
            };
            out.write_all(quoted(&text).as_bytes())?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_commas_are_quoted() {
        assert_eq!(quoted("std::map<a, b>"), "\"std::map<a, b>\"");
        assert_eq!(quoted("say \"a\""), "\"say \"\"a\"\"\"");
        assert_eq!(quoted("main"), "main");
    }
}
