//! Rows of tables as Arrow's arrays.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, RecordBatch,
    RecordBatchOptions, StringViewBuilder, TimestampMicrosecondArray, UInt32Array, new_null_array,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::arrow::error::ArrowError;
use oxperf_columns::schema::{ColumnSchema, ColumnType, TableSchema};
use oxperf_columns::{TableColumn, TableRows, Texts, Values};

/// The time zone of all moments.
const UTC: &str = "UTC";

/// A table's columns as a schema.
pub(crate) fn schema_of(table: &TableSchema) -> SchemaRef {
    Arc::new(Schema::new(
        table.columns.iter().map(field_of).collect::<Vec<_>>(),
    ))
}

fn field_of(column: &ColumnSchema) -> Field {
    Field::new(column.name, type_of(column.kind), true)
}

fn type_of(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Int32 => DataType::Int32,
        ColumnType::Int64 => DataType::Int64,
        ColumnType::Bool => DataType::Boolean,
        ColumnType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
        ColumnType::Text => DataType::Utf8View,
        list => DataType::List(item_of(list.item().unwrap_or(ColumnType::Text))),
    }
}

fn item_of(item: ColumnType) -> Arc<Field> {
    Arc::new(Field::new("item", type_of(item), true))
}

/// Rows as a batch of these columns; those that the rows do not have are NULL.
///
/// # Errors
/// The rows contradict themselves.
pub(crate) fn batch_of(rows: &TableRows, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let length = rows.len();
    let columns: Vec<(&ColumnSchema, &TableColumn)> = rows.columns().collect();
    let array = |field: &Arc<Field>| {
        let mut found = columns.iter();
        match found.find(|(schema, _)| schema.name == field.name()) {
            Some((schema, column)) => array_of(schema.kind, column),
            None => Ok(new_null_array(field.data_type(), length)),
        }
    };
    let arrays = schema
        .fields()
        .iter()
        .map(array)
        .collect::<Result<Vec<_>, _>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(length));
    RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
}

fn array_of(kind: ColumnType, column: &TableColumn) -> Result<ArrayRef, ArrowError> {
    let nulls = column
        .present
        .as_ref()
        .map(|present| NullBuffer::from(present.clone()));
    let Some(ends) = &column.ends else {
        return values_of(kind, &column.values, nulls);
    };
    let item = kind.item().unwrap_or(kind);
    let values = values_of(item, &column.values, None)?;
    let offsets = std::iter::once(0).chain(ends.iter().map(|end| end.cast_signed()));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets.collect::<Vec<i32>>()));
    Ok(Arc::new(ListArray::try_new(
        item_of(item),
        offsets,
        values,
        nulls,
    )?))
}

fn values_of(
    kind: ColumnType,
    values: &Values,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    Ok(match values {
        Values::Int32(values) => Arc::new(Int32Array::new(values.clone().into(), nulls)),
        Values::Int64(values) if kind == ColumnType::Timestamp => {
            let array = TimestampMicrosecondArray::new(values.clone().into(), nulls);
            Arc::new(array.with_timezone(UTC))
        }
        Values::Int64(values) => Arc::new(Int64Array::new(values.clone().into(), nulls)),
        Values::Bool(values) => Arc::new(BooleanArray::new(values.clone().into(), nulls)),
        Values::Text(codes, texts) => {
            let codes = UInt32Array::new(codes.clone().into(), nulls);
            take(&distinct(texts), &codes, None)?
        }
    })
}

/// The distinct texts of a column; each row points at one of them.
fn distinct(texts: &Texts) -> impl Array {
    let mut builder = StringViewBuilder::new();
    texts
        .list()
        .iter()
        .for_each(|text| builder.append_value(text));
    builder.finish()
}
