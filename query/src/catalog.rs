//! The engine's tables: of recordings, of Parquet files, and of both together.
//!
//! `files.NAME` and `recorded.NAME` are the parts; `NAME` is all. `profile` of files joins their samples with their stacks;
//! `profile` of recordings is made by the walk itself, which needs no call chain for the function that ran.

use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::{MemorySchemaProvider, TableProvider};
use datafusion::common::TableReference;
use datafusion::datasource::empty::EmptyTable;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use oxperf_columns::schema::{
    CALLS, EVENTS, MAPS, OBJECTS, PROFILE, RECORDINGS, SAMPLES, STACK_FRAMES, STACKS, THREADS,
    TableSchema,
};

use crate::arrow_rows::schema_of;
use crate::inputs::Inputs;
use crate::parquet_files::ParquetFiles;
use crate::recorded_table::{CurrentReadings, RecordedTable};
use crate::recordings::{Readings, Recording};
use crate::stack_tables::StackTable;

/// The part of files.
const FILES: &str = "files";
/// The part of recordings.
const RECORDED: &str = "recorded";

/// The tables of the inputs.
pub(crate) struct Catalog {
    pub(crate) context: SessionContext,
    pub(crate) recordings: Arc<[Recording]>,
    pub(crate) files: ParquetFiles,
    readings: CurrentReadings,
}

impl Catalog {
    /// Makes the tables of the inputs.
    ///
    /// # Errors
    /// The engine refuses one.
    pub(crate) async fn new(inputs: Inputs) -> Result<Catalog> {
        let recordings: Arc<[Recording]> = inputs.recordings.into();
        let readings = CurrentReadings::new(Readings::new(recordings.clone()));
        let mut catalog = Catalog {
            context: context()?,
            recordings,
            files: inputs.files,
            readings,
        };
        catalog.make_tables().await?;
        Ok(catalog)
    }

    /// Makes the tables anew without files that are damaged; `false` if there are no such files.
    ///
    /// # Errors
    /// The engine refuses a table.
    pub(crate) async fn leave_out_damaged(&mut self) -> Result<bool> {
        if !self.files.leave_out_damaged() {
            return Ok(false);
        }
        self.context = context()?;
        self.make_tables().await?;
        Ok(true)
    }

    /// The next statement begins; gives what it will want of the recordings.
    pub(crate) fn begin_statement(&self) -> Arc<Readings> {
        self.readings.set(Readings::new(self.recordings.clone()));
        self.readings.get()
    }

    async fn make_tables(&mut self) -> Result<()> {
        let databases = self.context.catalog("datafusion");
        for name in [FILES, RECORDED] {
            if let Some(database) = &databases {
                database.register_schema(name, Arc::new(MemorySchemaProvider::new()))?;
            }
        }
        for table in [
            &SAMPLES,
            &RECORDINGS,
            &EVENTS,
            &THREADS,
            &OBJECTS,
            &MAPS,
            &CALLS,
        ] {
            let files = self.listing(table)?;
            let is_recorded = *table != MAPS && *table != CALLS;
            let recorded = is_recorded.then(|| self.recorded(table)).flatten();
            self.make(table, files, recorded).await?;
        }
        self.make_stacks()?;
        self.make_profile().await
    }

    fn make_stacks(&self) -> Result<()> {
        let files = self.files.of(&STACKS);
        let readings = || (!self.recordings.is_empty()).then(|| self.readings.clone());
        let part = TableReference::partial(FILES, STACKS.name);
        self.context
            .register_table(part, Arc::new(StackTable::stacks(files.clone(), None)))?;
        let stacks = StackTable::stacks(files.clone(), readings());
        self.context.register_table(STACKS.name, Arc::new(stacks))?;
        let frames = StackTable::frames(files, readings());
        self.context
            .register_table(STACK_FRAMES.name, Arc::new(frames))?;
        Ok(())
    }

    async fn make_profile(&self) -> Result<()> {
        let files = match self.files.of(&SAMPLES).is_empty() {
            true => None,
            false => {
                let columns =
                    PROFILE
                        .columns
                        .iter()
                        .map(|column| match SAMPLES.position(column.name) {
                            Some(_) => format!("s.\"{0}\" AS \"{0}\"", column.name),
                            None => format!("k.\"{0}\" AS \"{0}\"", column.name),
                        });
                let columns: Vec<String> = columns.collect();
                // The engine makes its hash table of the left side: of stacks, which are fewer.
                let sql = format!(
                    "SELECT {} FROM {FILES}.stacks k RIGHT JOIN {FILES}.samples s ON k.stack_id = s.stack_id",
                    columns.join(", ")
                );
                Some(self.context.sql(&sql).await?.into_view())
            }
        };
        self.make(&PROFILE, files, self.recorded(&PROFILE)).await
    }

    /// Makes a table of its parts.
    async fn make(
        &self,
        table: &'static TableSchema,
        files: Option<Arc<dyn TableProvider>>,
        recorded: Option<Arc<dyn TableProvider>>,
    ) -> Result<()> {
        for (part, provider) in [(FILES, &files), (RECORDED, &recorded)] {
            let provider = provider.clone().unwrap_or_else(|| empty(table));
            self.context
                .register_table(TableReference::partial(part, table.name), provider)?;
        }
        let whole = match (files, recorded) {
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => empty(table),
            (Some(files), Some(recorded)) => {
                let columns = table.columns.iter().map(|column| column.name);
                let columns: Vec<&str> = columns.collect();
                let files = self.context.read_table(files)?.select_columns(&columns)?;
                let recorded = self
                    .context
                    .read_table(recorded)?
                    .select_columns(&columns)?;
                files.union(recorded)?.into_view()
            }
        };
        self.context.register_table(table.name, whole)?;
        Ok(())
    }

    fn recorded(&self, table: &'static TableSchema) -> Option<Arc<dyn TableProvider>> {
        let table = || -> Arc<dyn TableProvider> {
            Arc::new(RecordedTable::new(table, self.readings.clone()))
        };
        (!self.recordings.is_empty()).then(table)
    }

    /// The rows of a table's files, if it has any.
    fn listing(&self, table: &TableSchema) -> Result<Option<Arc<dyn TableProvider>>> {
        let files = self.files.of(table);
        if files.is_empty() {
            return Ok(None);
        }
        let urls = files
            .iter()
            .map(|path| ListingTableUrl::parse(url_of(path)));
        let urls = urls.collect::<Result<Vec<_>>>()?;
        let format = Arc::new(ParquetFormat::default());
        let options = ListingOptions::new(format).with_file_extension("");
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options)
            .with_schema(schema_of(table));
        Ok(Some(Arc::new(ListingTable::try_new(config)?)))
    }
}

fn empty(table: &TableSchema) -> Arc<dyn TableProvider> {
    Arc::new(EmptyTable::new(schema_of(table)))
}

/// An engine that keeps all it needs in memory: it writes no file of its own.
fn context() -> Result<SessionContext> {
    let mut config = SessionConfig::new()
        .with_target_partitions(1)
        .with_information_schema(true);
    config.options_mut().sql_parser.collect_spans = true;
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
    let runtime = RuntimeEnvBuilder::new()
        .with_disk_manager_builder(disk)
        .build_arc()?;
    Ok(SessionContext::new_with_config_rt(config, runtime))
}

/// The address of a file, in which no letter means more than itself.
fn url_of(path: &Path) -> String {
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut url = "file://".to_owned();
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => url.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => url.push(char::from(byte)),
            byte => url.push_str(&format!("%{byte:02X}")),
        }
    }
    url
}
