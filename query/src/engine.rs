//! The engine as `query` sees it: it answers statements, one after another.

use std::sync::Arc;

use futures::StreamExt;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::parser::Statement;
use oxperf::sql::{Failure, ResultFormat, SqlEngine, SqlRequest, print_error};
use oxperf_columns::schema::{RECORDINGS, SAMPLES, STACKS};

use crate::catalog::Catalog;
use crate::losses::Loss;
use crate::output::ResultWriter;
use crate::recordings::Readings;
use crate::{flame, inputs, prompt, statements};

/// Rows that are held back until the whole result is known to be whole.
const HELD: usize = 1 << 20;

/// The engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DataFusionEngine;

impl SqlEngine for DataFusionEngine {
    fn answer(&self, request: &SqlRequest) -> Result<(), Failure> {
        let inputs = inputs::find(request)?;
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime =
            runtime.map_err(|error| Failure::new(format!("the engine cannot start: {error}")))?;
        runtime.block_on(async {
            let catalog = Catalog::new(inputs)
                .await
                .map_err(|error| Failure::new(error.to_string()))?;
            let mut session = Session {
                request,
                catalog,
                told: 0,
            };
            session.tell_damaged();
            session.tell_missing_stacks();
            match &request.sql {
                Some(sql) => session.run_all(sql).await,
                None => prompt::run(&mut session).await,
            }
        })
    }
}

/// Statements over one set of inputs.
pub(crate) struct Session<'r> {
    pub(crate) request: &'r SqlRequest,
    catalog: Catalog,
    /// Damaged files that were told of.
    told: usize,
}

/// A result, or as much of it as was held back.
struct Held {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The rest of it.
    rest: Option<SendableRecordBatchStream>,
    /// What it reads of the recordings.
    readings: Arc<Readings>,
}

impl Session<'_> {
    /// Runs statements.
    ///
    /// # Errors
    /// One cannot be run, or its result cannot be written.
    pub(crate) async fn run_all(&mut self, sql: &str) -> Result<(), Failure> {
        let parsed = statements::parse(sql)?;
        if parsed.is_empty() {
            return Err(Failure::new("there is no statement: try query --examples"));
        }
        if parsed.len() > 1 && self.takes_one_result() {
            return Err(Failure::new(format!(
                "these are {} statements: -o, --flame and the formats json, parquet and arrow take the result of one",
                parsed.len()
            )));
        }
        let SqlRequest { output, flame, .. } = self.request;
        if output.is_some() && output == flame {
            return Err(Failure::new(
                "-o and --flame name one file: the page and the result need two",
            ));
        }
        for statement in parsed {
            self.run(sql, &statement).await?;
        }
        Ok(())
    }

    /// `true` if a second result would take the place of the first, or make what no reader of the format understands.
    fn takes_one_result(&self) -> bool {
        let follows_another = match self.request.format {
            ResultFormat::Table | ResultFormat::Csv | ResultFormat::JsonLines => true,
            ResultFormat::Json | ResultFormat::Parquet | ResultFormat::Arrow => false,
        };
        !follows_another || self.request.output.is_some() || self.request.flame.is_some()
    }

    async fn run(&mut self, sql: &str, statement: &Statement) -> Result<(), Failure> {
        let held = loop {
            match self.start(statement).await {
                Ok(held) => break held,
                Err(error) => {
                    if !self.leaves_out_damaged(&error).await {
                        return Err(statements::explain(sql, &error));
                    }
                    self.tell_damaged();
                }
            }
        };
        self.write(held).await
    }

    /// Leaves out the files that may have caused an error; `false` if none did. All files are read for that, which an error
    /// of another cause must not wait for.
    async fn leaves_out_damaged(&mut self, error: &DataFusionError) -> bool {
        statements::may_be_damage(error) && self.catalog.leave_out_damaged().await.unwrap_or(false)
    }

    /// Runs a statement until its result is whole, or too large to be held back.
    async fn start(&self, statement: &Statement) -> Result<Held, DataFusionError> {
        let readings = self.catalog.begin_statement();
        let state = self.catalog.context.state();
        let plan = state.statement_to_plan(statement.clone()).await?;
        statements::refuse_writing(&plan)?;
        let result = self.catalog.context.execute_logical_plan(plan).await?;
        let mut stream = result.execute_stream().await?;
        let schema = stream.schema();
        let holds_all = self.request.flame.is_some() || self.request.width.is_some();
        let (mut batches, mut rows) = (Vec::new(), 0);
        while let Some(batch) = stream.next().await {
            let batch = batch?;
            rows += batch.num_rows();
            batches.push(batch);
            if rows > HELD && !holds_all {
                return Ok(Held {
                    schema,
                    batches,
                    rest: Some(stream),
                    readings,
                });
            }
        }
        Ok(Held {
            schema,
            batches,
            rest: None,
            readings,
        })
    }

    async fn write(&mut self, held: Held) -> Result<(), Failure> {
        if let Some(path) = &self.request.flame {
            let page = flame::Page {
                catalog: &self.catalog,
                path,
                losses: &Loss::sentences(&self.losses(&held.readings).await),
            };
            page.write(&held.schema, &held.batches).await?;
            if self.request.output.is_none() {
                return Ok(());
            }
        }
        let mut writer = ResultWriter::new(self.request, &held.schema)?;
        for batch in &held.batches {
            writer.write(batch)?;
        }
        if let Some(rest) = held.rest {
            write_rest(rest, &mut writer).await?;
        }
        // A recording's losses are known at its end: they are asked for when the last row is written.
        let losses = self.losses(&held.readings).await;
        writer.finish(&losses, self.catalog.files.damaged.len())
    }

    /// The losses of all that a result was made of.
    async fn losses(&self, readings: &Arc<Readings>) -> Vec<Loss> {
        let mut losses = Readings::losses(readings).await;
        losses.extend(self.losses_of_files().await);
        losses
    }

    /// The losses that the files of recordings count.
    async fn losses_of_files(&self) -> Vec<Loss> {
        if self.catalog.files.of(&RECORDINGS).is_empty() {
            return Vec::new();
        }
        let counts = Loss::COLUMNS.map(|(column, _)| format!("coalesce({column}, 0)"));
        let sql = format!("SELECT file, {} FROM files.recordings", counts.join(", "));
        let Ok(found) = self.catalog.context.sql(&sql).await else {
            return Vec::new();
        };
        // What cannot be read is among the damaged files.
        found
            .collect()
            .await
            .map(|batches| batches.iter().flat_map(losses_in).collect())
            .unwrap_or_default()
    }

    /// Samples of files without stacks have no functions.
    fn tell_missing_stacks(&self) {
        let has = |table| !self.catalog.files.of(table).is_empty();
        if has(&SAMPLES) && !has(&STACKS) {
            print_error(
                "Warning:\nthere are files of samples and none of stacks: symbol and dso are NULL; name the whole folder with -i",
            );
        }
    }

    /// Names the files that are passed over, each once.
    fn tell_damaged(&mut self) {
        let damaged = &self.catalog.files.damaged;
        for (path, reason) in &damaged[self.told.min(damaged.len())..] {
            print_error(&format!(
                "Warning:\n{} is passed over: {reason}; delete it and export its recording again",
                path.display()
            ));
        }
        self.told = damaged.len();
    }
}

/// Writes the rows that were too many to be held back.
async fn write_rest(
    mut rest: SendableRecordBatchStream,
    writer: &mut ResultWriter,
) -> Result<(), Failure> {
    while let Some(batch) = rest.next().await {
        let batch = batch.map_err(|error| {
            let message = statements::root(&error);
            Failure::new(format!("{message}\nThe result is not whole."))
        })?;
        writer.write(&batch)?;
    }
    Ok(())
}

fn losses_in(batch: &RecordBatch) -> Vec<Loss> {
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::Int64Type;
    let files = batch.column(0).as_string_view();
    let loss = |row: usize| Loss {
        file: files.value(row).to_owned(),
        counts: std::array::from_fn(|place| {
            let counts = batch.column(place + 1).as_primitive::<Int64Type>();
            u64::try_from(counts.value(row)).unwrap_or(0)
        }),
        is_known: true,
    };
    (0..batch.num_rows()).map(loss).collect()
}
