//! The engine as `query` sees it: it answers statements, one after another.

use futures::StreamExt;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::DataFusionError;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::sql::parser::Statement;
use oxperf::sql::{Failure, SqlEngine, SqlRequest, print_error};
use oxperf_columns::schema::RECORDINGS;

use crate::catalog::Catalog;
use crate::losses::Loss;
use crate::output::ResultWriter;
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
    losses: Vec<Loss>,
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
        for statement in parsed {
            self.run(sql, &statement).await?;
        }
        Ok(())
    }

    async fn run(&mut self, sql: &str, statement: &Statement) -> Result<(), Failure> {
        let held = loop {
            let readings = self.catalog.begin_statement();
            match self.start(statement).await {
                Ok(mut held) => {
                    held.losses = readings.losses();
                    break held;
                }
                Err(error) => {
                    let again = self.catalog.leave_out_damaged().await;
                    if !again.unwrap_or(false) {
                        return Err(statements::explain(sql, &error));
                    }
                    self.tell_damaged();
                }
            }
        };
        self.write(held).await
    }

    /// Runs a statement until its result is whole, or too large to be held back.
    async fn start(&self, statement: &Statement) -> Result<Held, DataFusionError> {
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
                    losses: Vec::new(),
                });
            }
        }
        Ok(Held {
            schema,
            batches,
            rest: None,
            losses: Vec::new(),
        })
    }

    async fn write(&mut self, held: Held) -> Result<(), Failure> {
        let mut losses = held.losses;
        losses.extend(self.losses_of_files().await);
        if let Some(path) = &self.request.flame {
            let page = flame::Page {
                catalog: &self.catalog,
                path,
                losses: &Loss::sentences(&losses),
            };
            page.write(&held.schema, &held.batches).await?;
            if self.request.output.is_none() {
                return Ok(());
            }
        }
        let damaged = self.catalog.files.damaged.len();
        let mut writer = ResultWriter::new(self.request, &held.schema)?;
        for batch in &held.batches {
            writer.write(batch)?;
        }
        let mut rest = held.rest;
        while let Some(stream) = &mut rest {
            match stream.next().await {
                Some(Ok(batch)) => writer.write(&batch)?,
                Some(Err(error)) => {
                    return Err(Failure::new(format!(
                        "{}\nThe result is not whole.",
                        statements::root(&error)
                    )));
                }
                None => rest = None,
            }
        }
        writer.finish(&losses, damaged)
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

    /// Names the files that are passed over, each once.
    fn tell_damaged(&mut self) {
        let damaged = &self.catalog.files.damaged;
        for (path, reason) in &damaged[self.told.min(damaged.len())..] {
            print_error(&format!(
                "Warning:\n{} is passed over: {reason}",
                path.display()
            ));
        }
        self.told = damaged.len();
    }
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
    };
    (0..batch.num_rows()).map(loss).collect()
}
