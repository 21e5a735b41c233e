//! A client: makes views, has a statement answered by the cluster, and writes the rows.

use std::error::Error;
use std::fs::File;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use datafusion::execution::SessionStateBuilder;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion::sql::parser::DFParser;

/// Parts that work is divided into: more than there are executors.
const PARTS: usize = 4;

/// A client of a scheduler.
pub(crate) struct Client {
    pub(crate) scheduler: u16,
    /// Statements that make tables and views.
    pub(crate) views: String,
}

impl Client {
    /// Writes what the cluster answers to a Parquet file.
    pub(crate) async fn answer(
        self,
        statement: String,
        result: String,
    ) -> Result<(), Box<dyn Error>> {
        let config = SessionConfig::new_with_ballista().with_target_partitions(PARTS);
        let state = SessionStateBuilder::new()
            .with_config(config)
            .with_default_features()
            .build();
        let url = format!("df://127.0.0.1:{}", self.scheduler);
        let context = SessionContext::remote_with_state(&url, state).await?;
        for view in DFParser::parse_sql(&self.views)? {
            let plan = context.state().statement_to_plan(view).await?;
            context.execute_logical_plan(plan).await?;
        }
        let answer = context.sql(&statement).await?;
        let schema = answer.schema().as_arrow().clone();
        let batches = answer.collect().await?;
        let mut writer = ArrowWriter::try_new(File::create(result)?, schema.into(), None)?;
        for batch in &batches {
            writer.write(batch)?;
        }
        writer.close()?;
        Ok(())
    }
}
