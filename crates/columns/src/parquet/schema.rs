//! The Parquet schema of a table's rows, and how its columns are written.

use std::sync::Arc;

use parquet::basic::{
    Compression, Encoding, LogicalType, Repetition, TimeUnit, TimestampType, Type as Physical,
    ZstdLevel,
};
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use super::file::FileNote;
use super::known::TABLE;
use crate::rows::TableRows;
use crate::schema::{ColumnSchema, ColumnType, VERSION};

/// The level of compression: higher ones take longer and gain little.
const ZSTD_LEVEL: i32 = 3;

/// Bytes of a column chunk's distinct values: names of C++ and Rust functions are long, and every one counts.
const MOST_DICTIONARY: usize = 16 << 20;

/// The schema of these rows.
pub(super) fn of_rows(rows: &TableRows) -> Result<TypePtr> {
    let fields = rows
        .columns()
        .map(|(column, _)| field(column).map(Arc::new));
    let fields = fields.collect::<Result<Vec<TypePtr>>>()?;
    let table = Type::group_type_builder(rows.table().name).with_fields(fields);
    Ok(Arc::new(table.build()?))
}

fn field(column: &ColumnSchema) -> Result<Type> {
    let repetition = match column.may_be_null() {
        true => Repetition::OPTIONAL,
        false => Repetition::REQUIRED,
    };
    let Some(item) = column.kind.item() else {
        return value(column.name, column.kind, repetition);
    };
    let element = value("element", item, Repetition::REQUIRED)?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder(column.name)
        .with_repetition(repetition)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}

fn value(name: &str, kind: ColumnType, repetition: Repetition) -> Result<Type> {
    let (physical, logical) = match kind {
        ColumnType::Int32 => (Physical::INT32, None),
        ColumnType::Bool => (Physical::BOOLEAN, None),
        ColumnType::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ColumnType::Timestamp => {
            let moment = LogicalType::Timestamp(TimestampType {
                is_adjusted_to_u_t_c: true,
                unit: TimeUnit::MICROS,
            });
            (Physical::INT64, Some(moment))
        }
        _ => (Physical::INT64, None),
    };
    Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .build()
}

/// Columns by whose least and greatest values engines skip files and row groups: those of all others are alike everywhere.
const BOUNDED: [&str; 7] = [
    "ts",
    "time",
    "call_time",
    "return_time",
    "recording_id",
    "host",
    "event",
];

/// How files of these rows are written. Times grow steadily: their differences are small. All else repeats.
pub(super) fn properties(rows: &TableRows, notes: &[FileNote]) -> Result<WriterProperties> {
    let level = ZstdLevel::try_new(ZSTD_LEVEL)?;
    let note = |name: &str, value: &str| KeyValue::new(name.to_owned(), value.to_owned());
    let mut metadata = vec![
        note("oxperf.schema", &VERSION.to_string()),
        note(TABLE, rows.table().name),
    ];
    metadata.extend(notes.iter().map(|(name, value)| note(name, value)));
    let mut properties = WriterProperties::builder()
        .set_created_by(format!("oxperf {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .set_dictionary_page_size_limit(MOST_DICTIONARY)
        .set_key_value_metadata(Some(metadata));
    for name in BOUNDED {
        properties = properties
            .set_column_statistics_enabled(ColumnPath::from(name), EnabledStatistics::Chunk);
    }
    for name in ["ts", "time", "call_time", "return_time"] {
        let column = ColumnPath::from(name);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), false)
            .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
    }
    Ok(properties.build())
}
