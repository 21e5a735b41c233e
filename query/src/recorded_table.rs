//! A table of recordings for the engine: it takes the columns and the conditions of a statement to the walk.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use oxperf_columns::schema::{PROFILE, SAMPLES, TableSchema};

use crate::arrow_rows::schema_of;
use crate::condition::{Selection, is_understood};
use crate::recordings::{Readings, Want, WantId};

/// Batches on their way to the engine.
pub(crate) const CHANNEL: usize = 2;

/// The readings of the statement that is planned and run.
#[derive(Clone, Debug)]
pub(crate) struct CurrentReadings(Arc<Mutex<Arc<Readings>>>);

impl CurrentReadings {
    /// Those of the first statement.
    pub(crate) fn new(readings: Readings) -> CurrentReadings {
        CurrentReadings(Arc::new(Mutex::new(Arc::new(readings))))
    }

    /// Those of the statement.
    pub(crate) fn get(&self) -> Arc<Readings> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The next statement begins.
    pub(crate) fn set(&self, readings: Readings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(readings);
    }
}

/// A table of recordings.
#[derive(Debug)]
pub(crate) struct RecordedTable {
    table: &'static TableSchema,
    schema: SchemaRef,
    readings: CurrentReadings,
}

impl RecordedTable {
    /// The table of this name.
    pub(crate) fn new(table: &'static TableSchema, readings: CurrentReadings) -> RecordedTable {
        RecordedTable {
            table,
            schema: schema_of(table),
            readings,
        }
    }

    fn is_of_samples(&self) -> bool {
        *self.table == SAMPLES || *self.table == PROFILE
    }
}

#[async_trait]
impl TableProvider for RecordedTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let supported = |filter: &&Expr| match self.is_of_samples() && is_understood(filter) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(supported).collect())
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = projected(&self.schema, projection)?;
        let readings = self.readings.get();
        let want = readings.want(Want {
            table: if self.is_of_samples() {
                &PROFILE
            } else {
                self.table
            },
            columns: schema.clone(),
            selection: Selection::of(filters),
        });
        let scan = Scan {
            schema: schema.clone(),
            readings,
            want,
        };
        stream(schema, Arc::new(scan), limit)
    }
}

/// The columns that a scan is to have.
pub(crate) fn projected(schema: &SchemaRef, projection: Option<&Vec<usize>>) -> Result<SchemaRef> {
    Ok(match projection {
        Some(places) => Arc::new(schema.project(places)?),
        None => schema.clone(),
    })
}

/// The plan of one stream of batches.
pub(crate) fn stream(
    schema: Arc<Schema>,
    partition: Arc<dyn PartitionStream>,
    limit: Option<usize>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = StreamingTableExec::try_new(schema, vec![partition], None, [], false, limit)?;
    Ok(Arc::new(plan))
}

/// A scan of the recordings.
struct Scan {
    schema: SchemaRef,
    readings: Arc<Readings>,
    want: WantId,
}

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("want", &self.want)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for Scan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStream::builder(self.schema.clone(), CHANNEL);
        let sender = builder.tx();
        let (readings, want) = (self.readings.clone(), self.want);
        builder.spawn_blocking(move || {
            readings.rows(want, &mut |batch| sender.blocking_send(Ok(batch)).is_ok())
        });
        builder.build()
    }
}
