//! A result in the form that was asked for, and below it what the recordings lost.

mod cells;
mod table;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::writer::StreamWriter;
use datafusion::arrow::json::writer::{
    JsonArray, JsonFormat, LineDelimited, Writer, WriterBuilder,
};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::errors::ParquetError;
use datafusion::parquet::file::properties::WriterProperties;
use oxperf::sql::{Failure, ResultFormat, SqlRequest, print_error};
use oxperf_sys::files::create_output;

use crate::losses::Loss;
use table::TextTable;

/// Where a result goes.
type Out = BufWriter<Box<dyn Write + Send>>;

/// Writes a result.
pub(crate) struct ResultWriter {
    form: Form,
}

/// A form on its way.
enum Form {
    Table(TextTable, Out),
    Csv { out: Out, shown: bool },
    Json(Writer<Out, JsonArray>),
    JsonLines(Writer<Out, LineDelimited>),
    Parquet(Box<ArrowWriter<Out>>),
    Arrow(Box<StreamWriter<Out>>),
}

impl ResultWriter {
    /// Begins a result with these columns.
    ///
    /// # Errors
    /// The file cannot be made.
    pub(crate) fn new(request: &SqlRequest, schema: &SchemaRef) -> Result<ResultWriter, Failure> {
        let shown = request.width.is_some();
        let mut out = open(request.output.as_deref())?;
        let form = match request.format {
            ResultFormat::Table => Form::Table(TextTable::new(schema, request.width), out),
            ResultFormat::Csv => {
                cells::write_names(schema, &mut out)?;
                Form::Csv { out, shown }
            }
            ResultFormat::Json => {
                out.write_all(b"{\"rows\":")?;
                Form::Json(json(out))
            }
            ResultFormat::JsonLines => Form::JsonLines(json(out)),
            ResultFormat::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .build();
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties));
                Form::Parquet(Box::new(writer.map_err(parquet)?))
            }
            ResultFormat::Arrow => {
                Form::Arrow(Box::new(StreamWriter::try_new(out, schema).map_err(arrow)?))
            }
        };
        Ok(ResultWriter { form })
    }

    /// Writes some of its rows.
    ///
    /// # Errors
    /// They cannot be written.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), Failure> {
        match &mut self.form {
            Form::Table(table, out) => {
                table.push(batch).map_err(arrow)?;
                match table.is_full() {
                    true => Ok(table.write(out)?),
                    false => Ok(()),
                }
            }
            Form::Csv { out, shown } => cells::write_rows(batch, *shown, out),
            Form::Json(writer) => writer.write(batch).map_err(arrow),
            Form::JsonLines(writer) => writer.write(batch).map_err(arrow),
            Form::Parquet(writer) => writer.write(batch).map_err(parquet),
            Form::Arrow(writer) => writer.write(batch).map_err(arrow),
        }
    }

    /// Ends the result, and tells what was lost: below a table and in a JSON object, else on standard error.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn finish(self, losses: &[Loss], damaged: usize) -> Result<(), Failure> {
        let mut sentences = Loss::sentences(losses);
        if damaged > 0 {
            sentences.push(format!("{damaged} damaged files were passed over"));
        }
        match self.form {
            Form::Table(mut table, mut out) => {
                table.write(&mut out)?;
                for sentence in sentences {
                    writeln!(out, "# lost: {sentence}")?;
                }
                return Ok(out.flush()?);
            }
            Form::Json(mut writer) => {
                writer.finish().map_err(arrow)?;
                let mut out = writer.into_inner();
                write_loss(losses, damaged, &mut out)?;
                return Ok(out.flush()?);
            }
            Form::Csv { mut out, .. } => out.flush()?,
            Form::JsonLines(mut writer) => {
                writer.finish().map_err(arrow)?;
                writer.into_inner().flush()?;
            }
            Form::Parquet(writer) => {
                writer.into_inner().map_err(parquet)?.flush()?;
            }
            Form::Arrow(mut writer) => {
                writer.finish().map_err(arrow)?;
                writer.into_inner().map_err(arrow)?.flush()?;
            }
        }
        sentences
            .iter()
            .for_each(|sentence| print_error(&format!("# lost: {sentence}")));
        Ok(())
    }
}

fn json<F: JsonFormat>(out: Out) -> Writer<Out, F> {
    WriterBuilder::new().with_explicit_nulls(true).build(out)
}

/// The end of the JSON object.
fn write_loss(losses: &[Loss], damaged: usize, out: &mut Out) -> io::Result<()> {
    let sums = Loss::COLUMNS.iter().zip(Loss::sums(losses));
    let counts: Vec<String> = sums
        .map(|((name, _), sum)| format!("\"{name}\":{sum}"))
        .collect();
    writeln!(
        out,
        ",\"loss\":{{\"recordings\":{},\"recordings_not_read_to_end\":{},{},\"damaged_files\":{damaged}}}}}",
        losses.len(),
        Loss::unknowns(losses),
        counts.join(",")
    )
}

fn open(path: Option<&Path>) -> Result<Out, Failure> {
    let out: Box<dyn Write + Send> = match path {
        Some(path) => Box::new(file(path)?),
        None => Box::new(io::stdout()),
    };
    Ok(BufWriter::with_capacity(1 << 16, out))
}

/// A file for a result.
///
/// # Errors
/// It cannot be made.
pub(crate) fn file(path: &Path) -> Result<File, Failure> {
    create_output(path)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
}

fn arrow(error: ArrowError) -> Failure {
    match error {
        ArrowError::IoError(_, error) => error.into(),
        error => Failure::new(format!("the result cannot be written so: {error}")),
    }
}

fn parquet(error: ParquetError) -> Failure {
    Failure::new(format!("the result cannot be written so: {error}"))
}
