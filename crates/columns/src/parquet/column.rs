//! A column of rows to the column chunk of a row group.

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedColumnWriter;

use crate::column::{Column, Values};

/// The levels of values: which of them are NULL, and where lists begin.
#[derive(Debug, Default)]
struct Levels {
    definition: Option<Vec<i16>>,
    repetition: Option<Vec<i16>>,
}

/// Writes all rows of a column.
pub(super) fn write(
    column: &Column,
    is_nullable: bool,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    let levels = match &column.ends {
        Some(ends) => list_levels(ends),
        None => Levels {
            definition: is_nullable.then(|| definition(column)),
            repetition: None,
        },
    };
    // Values of rows that are NULL are not stored.
    let present = column.present.as_deref().filter(|_| column.ends.is_none());
    match &column.values {
        Values::Int32(values) => put::<Int32Type>(writer, &kept(values, present), &levels),
        Values::Int64(values) => put::<Int64Type>(writer, &kept(values, present), &levels),
        Values::Bool(values) => put::<BoolType>(writer, &kept(values, present), &levels),
        Values::Text(codes, texts) => {
            let texts: Vec<ByteArray> = texts
                .list()
                .iter()
                .map(|text| ByteArray::from(&**text))
                .collect();
            let codes = kept(codes, present);
            let values = codes.iter().map(|&code| texts[code as usize].clone());
            put::<ByteArrayType>(writer, &values.collect::<Vec<ByteArray>>(), &levels)
        }
    }
}

fn put<T: DataType>(
    writer: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    levels: &Levels,
) -> Result<()> {
    let (definition, repetition) = (levels.definition.as_deref(), levels.repetition.as_deref());
    writer
        .typed::<T>()
        .write_batch(values, definition, repetition)?;
    Ok(())
}

fn kept<'v, V: Copy>(values: &'v [V], present: Option<&[bool]>) -> std::borrow::Cow<'v, [V]> {
    match present {
        None => values.into(),
        Some(present) => {
            let there = values.iter().zip(present).filter(|(_, present)| **present);
            there.map(|(value, _)| *value).collect()
        }
    }
}

fn definition(column: &Column) -> Vec<i16> {
    match &column.present {
        Some(present) => present.iter().map(|&present| i16::from(present)).collect(),
        None => vec![1; column.len()],
    }
}

/// Each row has a list, which may be empty.
fn list_levels(ends: &[u32]) -> Levels {
    let (mut definition, mut repetition) = (Vec::new(), Vec::new());
    let mut start = 0;
    for &end in ends {
        let items = end.saturating_sub(start) as usize;
        definition.resize(definition.len() + items.max(1), i16::from(items > 0));
        repetition.push(0);
        repetition.resize(definition.len(), 1);
        start = end;
    }
    Levels {
        definition: Some(definition),
        repetition: Some(repetition),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_takes_a_level_and_no_value() {
        let levels = list_levels(&[2, 2, 3]);
        assert_eq!(levels.definition, Some(vec![1, 1, 0, 1]));
        assert_eq!(levels.repetition, Some(vec![0, 1, 0, 0]));
    }
}
