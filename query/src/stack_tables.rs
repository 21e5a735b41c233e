//! Stacks, and their frames, of all files and recordings: each stack once.
//!
//! A stack's number is a hash of its content, so that it may stand in several files, with equal content. Where the content
//! differs, sums over stacks would be of two at once: that is an error.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Int32Array, RecordBatch, RecordBatchOptions,
    UInt32Array,
};
use datafusion::arrow::compute::{filter_record_batch, take};
use datafusion::arrow::datatypes::{Int64Type, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::hash_utils::{RandomState, create_hashes};
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;
use oxperf_columns::schema::{STACK_FRAMES, STACKS};

use crate::arrow_rows::schema_of;
use crate::condition::Selection;
use crate::parquet_files;
use crate::recorded_table::{CHANNEL, CurrentReadings, projected, stream};
use crate::recordings::{Readings, TakeBatch, Told, Want, WantId};

/// The columns in which equal stacks are equal.
const CONTENT: [&str; 5] = ["symbol", "dso", "depth", "symbols", "dsos"];

/// A table of stacks.
#[derive(Debug)]
pub(crate) struct StackTable {
    shape: Shape,
    schema: SchemaRef,
    files: Arc<[PathBuf]>,
    readings: Option<CurrentReadings>,
}

/// What a row is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    Stack,
    Frame,
}

impl StackTable {
    /// `stacks`, of these files, and of the recordings where there are readings.
    pub(crate) fn stacks(files: Arc<[PathBuf]>, readings: Option<CurrentReadings>) -> StackTable {
        StackTable {
            shape: Shape::Stack,
            schema: schema_of(&STACKS),
            files,
            readings,
        }
    }

    /// `stack_frames`, of the same.
    pub(crate) fn frames(files: Arc<[PathBuf]>, readings: Option<CurrentReadings>) -> StackTable {
        StackTable {
            shape: Shape::Frame,
            schema: schema_of(&STACK_FRAMES),
            ..StackTable::stacks(files, readings)
        }
    }

    /// The columns of stacks that these columns are made of.
    fn sources(&self, columns: &SchemaRef) -> SchemaRef {
        let all = schema_of(&STACKS);
        let has = |name: &str| columns.column_with_name(name).is_some();
        let is_needed = |name: &str| match (self.shape, name) {
            (_, "stack_id") => true,
            (Shape::Stack, name) => has(name),
            (Shape::Frame, "symbols") => has("symbol") || !has("dso"),
            (Shape::Frame, "dsos") => has("dso"),
            (Shape::Frame, _) => false,
        };
        let fields = all.fields().iter().filter(|field| is_needed(field.name()));
        Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
    }
}

#[async_trait]
impl TableProvider for StackTable {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = projected(&self.schema, projection)?;
        let sources = self.sources(&schema);
        let recorded = self.readings.as_ref().map(|readings| {
            let readings = readings.get();
            let want = readings.want(Want {
                table: &STACKS,
                columns: sources.clone(),
                selection: Selection::default(),
            });
            (readings, want)
        });
        let scan = Scan(Arc::new(StackScan {
            shape: self.shape,
            schema: schema.clone(),
            sources,
            files: self.files.clone(),
            recorded,
        }));
        stream(schema, Arc::new(scan), limit)
    }
}

/// A scan of stacks.
struct StackScan {
    shape: Shape,
    schema: SchemaRef,
    sources: SchemaRef,
    files: Arc<[PathBuf]>,
    recorded: Option<(Arc<Readings>, WantId)>,
}

struct Scan(Arc<StackScan>);

impl fmt::Debug for Scan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scan")
            .field("shape", &self.0.shape)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for Scan {
    fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let scan = self.0.clone();
        let mut builder = RecordBatchReceiverStream::builder(scan.schema.clone(), CHANNEL);
        let sender = builder.tx();
        builder.spawn_blocking(move || {
            scan.rows(&mut |batch| sender.blocking_send(Ok(batch)).is_ok())
        });
        builder.build()
    }
}

impl StackScan {
    /// Hands out the rows of all sources.
    fn rows(&self, take: &mut TakeBatch<'_>) -> Result<()> {
        let mut known = Known::default();
        for path in self.files.iter() {
            let source = path.display().to_string();
            for batch in parquet_files::read(path, &self.sources)? {
                if !self.hand_out(&batch?, &source, &mut known, take)? {
                    return Ok(());
                }
            }
        }
        let Some((readings, want)) = &self.recorded else {
            return Ok(());
        };
        let mut failure = None;
        readings.rows(*want, &mut |batch| {
            let goes_on = self.hand_out(&batch, "a recording", &mut known, take);
            goes_on.unwrap_or_else(|error| {
                failure = Some(error);
                false
            })
        })?;
        failure.map_or(Ok(()), Err)
    }

    fn hand_out(
        &self,
        batch: &RecordBatch,
        source: &str,
        known: &mut Known,
        take: &mut TakeBatch<'_>,
    ) -> Result<bool> {
        let batch = known.keep_new(batch, source)?;
        if batch.num_rows() == 0 {
            return Ok(true);
        }
        Ok(take(match self.shape {
            Shape::Stack => self.chosen(&batch)?,
            Shape::Frame => self.frames(&batch)?,
        }))
    }

    fn chosen(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let places = self.schema.fields().iter();
        let places = places.map(|field| batch.schema_ref().index_of(field.name()));
        Ok(batch.project(&places.collect::<Result<Vec<_>, _>>()?)?)
    }

    /// A row a frame.
    fn frames(&self, stacks: &RecordBatch) -> Result<RecordBatch> {
        let lists = |name| {
            stacks
                .column_by_name(name)
                .map(|column| column.as_list::<i32>())
        };
        let Some(shape) = lists("symbols").or_else(|| lists("dsos")) else {
            return Err(DataFusionError::Internal(
                "stacks without frames".to_owned(),
            ));
        };
        let mut stack_of = Vec::with_capacity(shape.values().len());
        let mut depths = Vec::with_capacity(shape.values().len());
        for (stack, ends) in (0u32..).zip(shape.offsets().windows(2)) {
            let frames = 0..ends[1] - ends[0];
            depths.extend(frames.clone());
            stack_of.extend(frames.map(|_| stack));
        }
        let length = depths.len();
        let items = |name| -> Result<ArrayRef> {
            let list = lists(name).filter(|list| list.offsets() == shape.offsets());
            let missing = || {
                DataFusionError::External(Box::new(Told(
                    "stacks have lists of different lengths".to_owned(),
                )))
            };
            let list = list.ok_or_else(missing)?;
            let first = list.offsets().first().copied().unwrap_or_default();
            Ok(list.values().slice(first.cast_unsigned() as usize, length))
        };
        let mut arrays: Vec<ArrayRef> = Vec::new();
        for field in self.schema.fields() {
            arrays.push(match field.name().as_str() {
                "depth" => Arc::new(Int32Array::from(depths.clone())),
                "symbol" => items("symbols")?,
                "dso" => items("dsos")?,
                _ => take(stacks.column(0), &UInt32Array::from(stack_of.clone()), None)?,
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(length));
        Ok(RecordBatch::try_new_with_options(
            self.schema.clone(),
            arrays,
            &options,
        )?)
    }
}

/// The stacks that were handed out.
#[derive(Default)]
struct Known {
    /// The hash of each stack's content, and the number of its source.
    stacks: HashMap<i64, (u64, usize)>,
    sources: Vec<String>,
}

impl Known {
    /// The rows of a batch with stacks that were not handed out yet. Its first column is that of their numbers.
    fn keep_new(&mut self, batch: &RecordBatch, source: &str) -> Result<RecordBatch> {
        if self.sources.last().is_none_or(|last| last != source) {
            self.sources.push(source.to_owned());
        }
        let place = self.sources.len() - 1;
        let content = CONTENT.iter().filter_map(|name| batch.column_by_name(name));
        let mut hashes = vec![0; batch.num_rows()];
        create_hashes(content, &RandomState::with_seed(0), &mut hashes)?;
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let mut is_new = Vec::with_capacity(ids.len());
        for (id, hash) in ids.values().iter().zip(hashes) {
            is_new.push(match self.stacks.entry(*id) {
                Entry::Vacant(free) => {
                    free.insert((hash, place));
                    true
                }
                Entry::Occupied(taken) if taken.get().0 != hash => {
                    let other = &self.sources[taken.get().1];
                    let message = format!(
                        "{other} and {source} have different stacks of one number, {id}: ask each of them alone"
                    );
                    return Err(DataFusionError::External(Box::new(Told(message))));
                }
                Entry::Occupied(_) => false,
            });
        }
        if is_new.iter().all(|is_new| *is_new) {
            return Ok(batch.clone());
        }
        Ok(filter_record_batch(batch, &BooleanArray::from(is_new))?)
    }
}
