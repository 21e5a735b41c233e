//! Recordings as sources of rows. What the scans of one statement want is read in one walk over each recording.
//!
//! A statement's plan says what it wants before it runs: each scan leaves a [`Want`]. A single one gets its rows as they are
//! made. Several get them from one walk that makes the columns of all, whose rows are kept until the statement ends.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use oxperf::sql::{self, Failure};
use oxperf_columns::schema::{ColumnSchema, PROFILE, STACKS, TABLES, TableSchema};
use oxperf_columns::{
    ColumnsError, RecordingFacts, RowSink, StackColumns, TableOptions, TableRows, TableWalkError,
    Walked, write_tables,
};
use oxperf_itrace::{Cores, ItraceOptions};
use oxperf_query::{Filter, SymbolOptions, TraceOptions};

use crate::arrow_rows::{batch_of, schema_of};
use crate::condition::Selection;
use crate::losses::Loss;

/// Most frames of a stack, as in an export.
const MAX_STACK: usize = 127;

/// A recording among the inputs.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// Its file or folder.
    pub(crate) path: String,
    /// It may belong to somebody else.
    pub(crate) force: bool,
    /// The sources of its names.
    pub(crate) symbols: SymbolOptions,
    /// Set once it was said which of its objects have no names.
    pub(crate) told: Arc<AtomicBool>,
}

/// What a scan wants of the recordings.
#[derive(Clone, Debug)]
pub(crate) struct Want {
    /// The table: that of the profile, which has all columns of samples, or another one.
    pub(crate) table: &'static TableSchema,
    /// Its columns, in the order of the scan.
    pub(crate) columns: SchemaRef,
    /// The samples that matter.
    pub(crate) selection: Selection,
}

/// The number of a want among those of its statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WantId(usize);

/// The rows that a statement wants of the recordings.
#[derive(Debug)]
pub(crate) struct Readings {
    recordings: Arc<[Recording]>,
    state: Mutex<State>,
    /// Every walk reads it until it ends.
    walking: RwLock<()>,
    losses: Mutex<Vec<Loss>>,
}

#[derive(Debug, Default)]
struct State {
    wants: Vec<Want>,
    kept: Option<Arc<Kept>>,
}

/// The rows of all wants that there were when they were made.
#[derive(Debug)]
struct Kept {
    wants: usize,
    batches: Vec<(&'static TableSchema, RecordBatch)>,
}

/// Takes the rows of a want; `false` ends the reading.
pub(crate) type TakeBatch<'a> = dyn FnMut(RecordBatch) -> bool + 'a;

impl Readings {
    /// Nothing is wanted yet.
    pub(crate) fn new(recordings: Arc<[Recording]>) -> Readings {
        Readings {
            recordings,
            state: Mutex::default(),
            walking: RwLock::default(),
            losses: Mutex::default(),
        }
    }

    /// Notes what a scan wants.
    pub(crate) fn want(&self, want: Want) -> WantId {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.wants.push(want);
        WantId(state.wants.len() - 1)
    }

    /// What the recordings lost that were read. Nobody takes rows any more: walks that are still on their way end.
    pub(crate) async fn losses(readings: &Arc<Readings>) -> Vec<Loss> {
        let readings = readings.clone();
        // The engine goes on meanwhile: a walk may wait for a part of it to let go of its rows.
        let losses = tokio::task::spawn_blocking(move || readings.losses_of_ended_walks()).await;
        losses.unwrap_or_default()
    }

    fn losses_of_ended_walks(&self) -> Vec<Loss> {
        drop(self.walking.write());
        let losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        losses.clone()
    }

    /// Hands out the rows of a want; takes as long as reading the recordings does.
    ///
    /// # Errors
    /// A recording cannot be read.
    pub(crate) fn rows(&self, id: WantId, take: &mut TakeBatch<'_>) -> Result<(), DataFusionError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(want) = state.wants.get(id.0).cloned() else {
            return Ok(());
        };
        if state.wants.len() > 1 && state.kept.is_none() {
            // The other scans wait for the walk that is theirs, too.
            state.kept = Some(Arc::new(self.keep(&state.wants)?));
        }
        let kept = state.kept.clone().filter(|kept| id.0 < kept.wants);
        drop(state);
        let Some(kept) = kept else {
            let demand = Demand::of(std::slice::from_ref(&want));
            return self.walk(&demand, &mut |_, batch| take(batch));
        };
        for (_, batch) in kept
            .batches
            .iter()
            .filter(|(table, _)| *table == want.table)
        {
            if !take(part_of(batch, &want.columns)?) {
                break;
            }
        }
        Ok(())
    }

    /// Reads the rows of all wants.
    fn keep(&self, wants: &[Want]) -> Result<Kept, DataFusionError> {
        let demand = Demand::of(wants);
        let mut batches = Vec::new();
        self.walk(&demand, &mut |table, batch| {
            batches.push((table, batch));
            true
        })?;
        Ok(Kept {
            wants: wants.len(),
            batches,
        })
    }

    /// Walks over each recording in turn.
    fn walk(&self, demand: &Demand, take: &mut TakeRows<'_>) -> Result<(), DataFusionError> {
        let _walking = self.walking.read();
        for recording in self.recordings.iter() {
            let loss = recording.read(demand, take).map_err(external)?;
            let goes_on = loss.is_known;
            self.note(loss);
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    /// Notes what a recording lost. Each is noted once; of several walks over it those count that came to its end.
    fn note(&self, loss: Loss) {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        match losses.iter_mut().find(|noted| noted.file == loss.file) {
            None => losses.push(loss),
            Some(noted) if !noted.is_known => *noted = loss,
            Some(_) => {}
        }
    }
}

/// An error of a recording as one of the engine.
fn external(failure: Failure) -> DataFusionError {
    DataFusionError::External(Box::new(Told(failure.to_string())))
}

/// A message that is told as it is.
#[derive(Debug)]
pub(crate) struct Told(pub(crate) String);

impl std::fmt::Display for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Told {}

/// The columns of a batch that are wanted.
fn part_of(batch: &RecordBatch, columns: &SchemaRef) -> Result<RecordBatch, DataFusionError> {
    let places = columns.fields().iter();
    let places = places.map(|field| batch.schema_ref().index_of(field.name()));
    let places = places.collect::<Result<Vec<usize>, _>>()?;
    Ok(batch.project(&places)?)
}

/// Takes rows of a table.
type TakeRows<'a> = dyn FnMut(&'static TableSchema, RecordBatch) -> bool + 'a;

/// All that one walk has to make.
#[derive(Debug)]
struct Demand {
    /// The columns of samples; `None` where nobody wants samples.
    samples: Option<SchemaRef>,
    /// The columns of stacks.
    stacks: Option<SchemaRef>,
    /// Other tables, with their columns.
    others: Vec<(&'static TableSchema, SchemaRef)>,
    selection: Selection,
}

impl Demand {
    fn of(wants: &[Want]) -> Demand {
        let columns = |table: &'static TableSchema| {
            let wants = wants.iter().filter(|want| want.table == table);
            let names: BTreeSet<&str> = wants
                .clone()
                .flat_map(|want| {
                    want.columns
                        .fields()
                        .iter()
                        .map(|field| field.name().as_str())
                })
                .collect();
            (wants.count() > 0).then(|| {
                let all = schema_of(table);
                let fields = all.fields().iter();
                let fields = fields.filter(|field| names.contains(field.name().as_str()));
                Arc::new(Schema::new(fields.cloned().collect::<Vec<_>>()))
            })
        };
        let others = TABLES.into_iter();
        let others = others.filter(|table| **table != STACKS && **table != PROFILE);
        let selections = wants.iter().map(|want| &want.selection);
        let first = selections.clone().next().cloned().unwrap_or_default();
        // Losses, threads and objects are those of the whole recording, and so are stacks.
        let about_samples = wants.iter().all(|want| *want.table == PROFILE);
        let agree = about_samples && selections.clone().all(|other| *other == first);
        Demand {
            samples: columns(&PROFILE),
            stacks: columns(&STACKS),
            others: others
                .filter_map(|table| Some((table, columns(table)?)))
                .collect(),
            selection: if agree { first } else { Selection::default() },
        }
    }

    fn schema(&self, table: &TableSchema) -> Option<&SchemaRef> {
        if *table == PROFILE {
            return self.samples.as_ref();
        }
        if *table == STACKS {
            return self.stacks.as_ref();
        }
        let mut others = self.others.iter();
        others.find_map(|(known, schema)| (*known == table).then_some(schema))
    }

    fn wants(&self, column: &ColumnSchema) -> bool {
        let schema = self.samples.as_ref();
        // One column is made always, as rows are counted by it.
        column.name == "recording_id"
            || schema.is_some_and(|schema| schema.column_with_name(column.name).is_some())
    }
}

impl Recording {
    /// Walks over the recording. Returns what it lost, which is not known if nothing more is wanted before its end.
    fn read(&self, demand: &Demand, take: &mut TakeRows<'_>) -> Result<Loss, Failure> {
        let input = sql::open_recording(&self.path, self.force)?;
        let reader = input.reader()?;
        let modified = Some(input.modified()).filter(|modified| *modified > 0);
        let facts = RecordingFacts::of(&reader, &self.path, modified);
        let names = sql::names(&self.symbols, &input, &reader)?;
        let filter = demand.selection.filter(facts.clock);
        let filter = Filter::new(&filter, &reader).unwrap_or_default();
        let options = TableOptions {
            samples: &PROFILE,
            wants: &|column| demand.wants(column),
            max_stack: MAX_STACK,
            stacks: demand.stacks.is_some().then(StackColumns::default),
            filter: &filter,
            event: demand.selection.event(),
            whole: true,
            symbols: &self.symbols,
            trace: Some(TraceOptions {
                itrace: ItraceOptions::REPORT,
                cores: Cores::all(),
                symbols: &self.symbols,
                recording: input.path(),
            }),
            progress: None,
        };
        let mut failure = None;
        let out = Batches {
            demand,
            take,
            failure: &mut failure,
        };
        let walked = match write_tables(&reader, &facts, &names, &options, out) {
            Ok((walked, _)) => walked,
            Err(TableWalkError::Columns(ColumnsError::Stopped)) => {
                return match failure {
                    Some(error) => Err(Failure::new(format!("{}: {error}", self.path))),
                    // Nobody wants more.
                    None => Ok(Loss::unknown(&self.path)),
                };
            }
            // It has no sample of that event, and lost none.
            Err(TableWalkError::NoEvent { .. }) => return Ok(Loss::none(&self.path)),
            Err(TableWalkError::Data(error)) => return Err(sql::refuse(&input, &error)),
            Err(error) => return Err(Failure::new(format!("{}: {error}", self.path))),
        };
        if !self.told.swap(true, Ordering::Relaxed) {
            sql::finish_names(&names);
        }
        let Walked {
            diagnostics,
            chains,
            ..
        } = &walked;
        Ok(Loss::of(&self.path, diagnostics, chains))
    }
}

/// Hands on rows as batches.
struct Batches<'d, 't, 'f> {
    demand: &'d Demand,
    take: &'t mut TakeRows<'f>,
    /// Why rows did not become a batch.
    failure: &'t mut Option<ArrowError>,
}

impl RowSink for Batches<'_, '_, '_> {
    fn take(&mut self, rows: &TableRows) -> Result<(), ColumnsError> {
        let Some(schema) = self.demand.schema(rows.table()) else {
            return Ok(());
        };
        match batch_of(rows, schema) {
            Ok(batch) => match (self.take)(rows.table(), batch) {
                true => Ok(()),
                false => Err(ColumnsError::Stopped),
            },
            Err(error) => {
                *self.failure = Some(error);
                Err(ColumnsError::Stopped)
            }
        }
    }
}
