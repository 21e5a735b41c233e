//! The tables as other engines read them from a folder of Parquet files: statements that make views, an engine each.
//!
//! Every engine gets the same tables, with `profile` (samples with the function that ran) and `stack_frames` (a row a
//! frame), so that one text of SQL works everywhere. A column that no file has is NULL, a list of no file is empty or NULL.
//! A stack may stand in several files: it is one row, so that joins do not count samples twice.

use crate::schema::{ColumnSchema, ColumnType, PROFILE, SAMPLES, STACKS, TABLES, TableSchema};

/// An engine that reads Parquet files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ViewEngine {
    /// DuckDB.
    DuckDb,
    /// ClickHouse: `clickhouse-local`, chdb, a server that may read the folder.
    ClickHouse,
    /// Spark SQL.
    Spark,
    /// Trino, with its Hive connector.
    Trino,
    /// DataFusion.
    DataFusion,
    /// Ballista, which spreads plans of DataFusion over machines.
    Ballista,
}

impl ViewEngine {
    /// The engines by their names.
    pub const ALL: [(&'static str, ViewEngine); 6] = [
        ("duckdb", ViewEngine::DuckDb),
        ("clickhouse", ViewEngine::ClickHouse),
        ("spark", ViewEngine::Spark),
        ("trino", ViewEngine::Trino),
        ("datafusion", ViewEngine::DataFusion),
        ("ballista", ViewEngine::Ballista),
    ];

    /// The engine of a name.
    pub fn parse(name: &str) -> Option<ViewEngine> {
        let mut all = ViewEngine::ALL.into_iter();
        all.find_map(|(known, engine)| (known == name).then_some(engine))
    }
}

/// The statements that make the tables of a folder.
pub fn views(engine: ViewEngine, folder: &str) -> String {
    let folder = folder.trim_end_matches('/');
    let folder = if folder.is_empty() { "/" } else { folder };
    let dialect = Dialect { engine, folder };
    let mut text = dialect.heading();
    for table in TABLES.into_iter().filter(|table| **table != STACKS) {
        text += &dialect.table(table);
    }
    text += &dialect.stacks();
    text += &dialect.profile();
    text += &dialect.stack_frames();
    text
}

/// An engine's way to spell the statements.
struct Dialect<'a> {
    engine: ViewEngine,
    folder: &'a str,
}

impl Dialect<'_> {
    fn heading(&self) -> String {
        let text = match self.engine {
            ViewEngine::DuckDb => "-- Tables of oxperf's Parquet files for DuckDB.\n",
            ViewEngine::ClickHouse => "-- Tables of oxperf's Parquet files for ClickHouse.\n",
            ViewEngine::Spark => {
                "-- Tables of oxperf's Parquet files for Spark SQL.\nSET spark.sql.session.timeZone = UTC;\n"
            }
            ViewEngine::Trino => {
                "-- Tables of oxperf's Parquet files for Trino, through a catalog `hive` that may write views. A table of that\n\
                 -- connector is a folder: move the files of each table into a folder of its name (samples/, stacks/, ...).\n\
                 CREATE SCHEMA IF NOT EXISTS hive.oxperf;\nUSE hive.oxperf;\n"
            }
            ViewEngine::DataFusion => "-- Tables of oxperf's Parquet files for DataFusion.\n",
            ViewEngine::Ballista => {
                "-- Tables of oxperf's Parquet files for Ballista, whose scheduler forgets patterns of names: move the files of\n\
                 -- each table into a folder of its name (samples/, stacks/, ...).\n"
            }
        };
        text.to_owned()
    }

    /// The view of a table, as its files hold it.
    fn table(&self, table: &TableSchema) -> String {
        let name = table.name;
        match self.engine {
            ViewEngine::DuckDb => {
                let moments = moments(table);
                let moments: Vec<String> = moments
                    .iter()
                    .map(|column| format!("make_timestamp(epoch_us(\"{column}\")) AS \"{column}\""))
                    .collect();
                let columns = match moments.as_slice() {
                    [] => "*".to_owned(),
                    moments => format!("* REPLACE ({})", moments.join(", ")),
                };
                format!(
                    "CREATE OR REPLACE VIEW {name} AS\nSELECT {columns} FROM (\n    {}\n    UNION ALL BY NAME\n    {}\n);\n",
                    self.files(name),
                    self.empty(table)
                )
            }
            ViewEngine::ClickHouse => format!(
                "CREATE OR REPLACE VIEW {name} AS\nSELECT * FROM {};\n",
                self.files_of(table)
            ),
            ViewEngine::Spark => self.spark_table(name, table),
            ViewEngine::DataFusion | ViewEngine::Ballista => self.datafusion_table(name, table),
            ViewEngine::Trino => self.trino_table(name, table),
        }
    }

    /// The view of stacks: each once.
    fn stacks(&self) -> String {
        let declared = "stacks_files f".to_owned();
        let (before, from) = match self.engine {
            ViewEngine::DuckDb => {
                let files = format!(
                    "(\n    {}\n    UNION ALL BY NAME\n    {}\n) f",
                    self.files("stacks"),
                    self.empty(&STACKS)
                );
                (String::new(), files)
            }
            ViewEngine::ClickHouse => (String::new(), format!("{} AS f", self.files_of(&STACKS))),
            ViewEngine::Spark => (self.spark_table("stacks_files", &STACKS), declared),
            ViewEngine::Trino => (self.trino_table("stacks_files", &STACKS), declared),
            ViewEngine::DataFusion | ViewEngine::Ballista => {
                (self.datafusion_table("stacks_files", &STACKS), declared)
            }
        };
        let one = self.one_of_equals(&from);
        format!("{before}{} stacks AS\n{one};\n", self.create())
    }

    /// Selects each stack once.
    fn one_of_equals(&self, from: &str) -> String {
        let any = match self.engine {
            ViewEngine::DuckDb | ViewEngine::Spark | ViewEngine::Trino => "any_value",
            ViewEngine::ClickHouse => "any",
            ViewEngine::DataFusion | ViewEngine::Ballista => {
                // Its aggregates that take one value of a group keep lists whole batches long: gigabytes for 50,000 stacks.
                let columns = STACKS.columns.iter().map(|column| column.name);
                return format!(
                    "SELECT {}\nFROM (SELECT *, row_number() OVER (PARTITION BY stack_id ORDER BY stack_id) AS place FROM {from}) numbered\n\
                     WHERE place = 1",
                    columns.collect::<Vec<_>>().join(", ")
                );
            }
        };
        let columns = STACKS.columns.iter();
        let columns = columns
            .filter(|column| column.name != "stack_id")
            .map(|column| format!("{any}(f.{0}) AS {0}", column.name));
        format!(
            "SELECT f.stack_id AS stack_id, {}\nFROM {from}\nGROUP BY f.stack_id",
            columns.collect::<Vec<_>>().join(", ")
        )
    }

    /// The view of samples with the function that ran.
    fn profile(&self) -> String {
        let columns: Vec<String> = PROFILE
            .columns
            .iter()
            .map(|column| match SAMPLES.position(column.name) {
                Some(_) => format!("s.{0} AS {0}", column.name),
                None => format!("k.{0} AS {0}", column.name),
            })
            .collect();
        format!(
            "{} profile AS\nSELECT {}\nFROM samples s LEFT JOIN stacks k ON k.stack_id = s.stack_id;\n",
            self.create(),
            columns.join(", ")
        )
    }

    /// The view of frames.
    fn stack_frames(&self) -> String {
        let select = match self.engine {
            ViewEngine::DuckDb => {
                "SELECT stack_id, unnest(range(len(symbols)))::INTEGER AS depth, unnest(symbols) AS symbol, unnest(dsos) AS dso\nFROM stacks"
            }
            ViewEngine::ClickHouse => {
                "SELECT stack_id, depth, symbol, dso\nFROM (SELECT stack_id, symbols, dsos FROM stacks)\n\
                 ARRAY JOIN range(length(symbols)) AS depth, symbols AS symbol, dsos AS dso"
            }
            ViewEngine::Spark => {
                "SELECT stack_id, depth, frame.symbols AS symbol, frame.dsos AS dso\nFROM (SELECT stack_id, symbols, dsos FROM stacks)\n\
                 LATERAL VIEW posexplode(arrays_zip(symbols, dsos)) frames AS depth, frame"
            }
            ViewEngine::DataFusion | ViewEngine::Ballista => {
                "SELECT stack_id, CAST(unnest(range(0, array_length(symbols))) AS INTEGER) AS depth, unnest(symbols) AS symbol, \
                 unnest(dsos) AS dso\nFROM stacks"
            }
            ViewEngine::Trino => {
                "SELECT stack_id, CAST(place - 1 AS INTEGER) AS depth, frames.symbol AS symbol, frames.dso AS dso\nFROM stacks\n\
                 CROSS JOIN UNNEST(symbols, dsos) WITH ORDINALITY AS frames (symbol, dso, place)"
            }
        };
        format!("{} stack_frames AS\n{select};\n", self.create())
    }

    fn create(&self) -> &'static str {
        match self.engine {
            ViewEngine::Spark => "CREATE OR REPLACE TEMPORARY VIEW",
            _ => "CREATE OR REPLACE VIEW",
        }
    }

    /// The pattern of a table's files, as a text of SQL.
    fn pattern(&self, table: &str) -> String {
        let separator = if self.folder.ends_with('/') { "" } else { "/" };
        let pattern = match self.engine {
            ViewEngine::Ballista => format!("{}{separator}{table}/", self.folder),
            _ => format!("{}{separator}{table}*.parquet", self.folder),
        };
        match self.engine {
            // A backslash begins an escape there.
            ViewEngine::ClickHouse | ViewEngine::Spark => {
                format!("'{}'", pattern.replace('\\', "\\\\").replace('\'', "\\'"))
            }
            ViewEngine::DuckDb
            | ViewEngine::Trino
            | ViewEngine::DataFusion
            | ViewEngine::Ballista => {
                format!("'{}'", pattern.replace('\'', "''"))
            }
        }
    }

    /// The rows of a table's files, in DuckDB.
    fn files(&self, table: &str) -> String {
        format!(
            "SELECT * FROM read_parquet({}, union_by_name = true)",
            self.pattern(table)
        )
    }

    /// No row of a table with all of its columns, in DuckDB.
    fn empty(&self, table: &TableSchema) -> String {
        let columns = table.columns.iter();
        let columns = columns
            .map(|column| format!("NULL::{} AS \"{}\"", self.type_name(column), column.name));
        format!(
            "SELECT {} WHERE false",
            columns.collect::<Vec<_>>().join(", ")
        )
    }

    /// A table's files with all of its columns, in ClickHouse.
    fn files_of(&self, table: &TableSchema) -> String {
        let columns = self
            .columns(table)
            .replace('\\', "\\\\")
            .replace('\'', "\\'");
        format!("file({}, 'Parquet', '{columns}')", self.pattern(table.name))
    }

    fn spark_table(&self, name: &str, table: &TableSchema) -> String {
        format!(
            "CREATE OR REPLACE TEMPORARY VIEW {name} ({})\nUSING parquet OPTIONS (path {});\n",
            self.columns(table),
            self.pattern(table.name)
        )
    }

    fn datafusion_table(&self, name: &str, table: &TableSchema) -> String {
        format!(
            "CREATE EXTERNAL TABLE IF NOT EXISTS {name} ({})\nSTORED AS PARQUET LOCATION {};\n",
            self.columns(table),
            self.pattern(table.name)
        )
    }

    fn trino_table(&self, name: &str, table: &TableSchema) -> String {
        let place = format!("{}/{}", self.folder, table.name).replace('\'', "''");
        format!(
            "CREATE TABLE IF NOT EXISTS {name} ({})\nWITH (format = 'PARQUET', external_location = '{place}');\n",
            self.columns(table)
        )
    }

    fn columns(&self, table: &TableSchema) -> String {
        let columns = table.columns.iter();
        let quote = match self.engine {
            ViewEngine::ClickHouse | ViewEngine::Spark => '`',
            ViewEngine::DuckDb
            | ViewEngine::Trino
            | ViewEngine::DataFusion
            | ViewEngine::Ballista => '"',
        };
        let columns = columns
            .map(|column| format!("{quote}{}{quote} {}", column.name, self.type_name(column)));
        columns.collect::<Vec<_>>().join(", ")
    }

    fn type_name(&self, column: &ColumnSchema) -> String {
        let simple = |kind: ColumnType| match (self.engine, kind) {
            (ViewEngine::ClickHouse, ColumnType::Int32) => "Nullable(Int32)",
            (ViewEngine::ClickHouse, ColumnType::Int64) => "Nullable(Int64)",
            (ViewEngine::ClickHouse, ColumnType::Bool) => "Nullable(Bool)",
            (ViewEngine::ClickHouse, ColumnType::Timestamp) => "Nullable(DateTime64(6, 'UTC'))",
            (ViewEngine::ClickHouse, _) => "Nullable(String)",
            (ViewEngine::Spark, ColumnType::Int32) => "INT",
            (_, ColumnType::Int32) => "INTEGER",
            (_, ColumnType::Int64) => "BIGINT",
            (_, ColumnType::Bool) => "BOOLEAN",
            (ViewEngine::DuckDb, ColumnType::Timestamp) => "TIMESTAMPTZ",
            (
                ViewEngine::Trino | ViewEngine::DataFusion | ViewEngine::Ballista,
                ColumnType::Timestamp,
            ) => "TIMESTAMP(6)",
            (_, ColumnType::Timestamp) => "TIMESTAMP",
            (ViewEngine::Spark, _) => "STRING",
            (_, _) => "VARCHAR",
        };
        match (self.engine, column.kind.item()) {
            (_, None) => simple(column.kind).to_owned(),
            (ViewEngine::DuckDb | ViewEngine::DataFusion | ViewEngine::Ballista, Some(item)) => {
                format!("{}[]", simple(item))
            }
            (ViewEngine::ClickHouse, Some(item)) => format!("Array({})", simple(item)),
            (ViewEngine::Spark, Some(item)) => format!("ARRAY<{}>", simple(item)),
            (ViewEngine::Trino, Some(item)) => format!("ARRAY({})", simple(item)),
        }
    }
}

/// The columns of moments.
fn moments(table: &TableSchema) -> Vec<&'static str> {
    let columns = table.columns.iter();
    let moments = columns.filter(|column| column.kind == ColumnType::Timestamp);
    moments.map(|column| column.name).collect()
}
