//! A column of rows to the column chunk of a row group.

use std::borrow::Cow;
use std::ops::Range;

use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::Result;
use parquet::file::writer::SerializedColumnWriter;

use crate::column::{TableColumn, Values};

/// The levels of values: which of them are NULL, and where lists begin.
#[derive(Debug, Default)]
struct Levels {
    definition: Option<Vec<i16>>,
    repetition: Option<Vec<i16>>,
}

/// Rows that are written at once: a column's texts are laid out for them alone.
const PIECE: usize = 1 << 13;

/// Writes all rows of a column.
pub(super) fn write(
    column: &TableColumn,
    is_nullable: bool,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    let texts: Vec<ByteArray> = match &column.values {
        Values::Text(_, texts) => texts
            .list()
            .iter()
            .map(|text| ByteArray::from(&**text))
            .collect(),
        _ => Vec::new(),
    };
    let (mut start, mut piece) = (0, TextPiece::default());
    while start < column.len() {
        let rows = start..column.len().min(start + PIECE);
        start = rows.end;
        let texts = PieceTexts {
            all: &texts,
            piece: &mut piece,
        };
        write_piece(column, rows, is_nullable, texts, writer)?;
    }
    Ok(())
}

/// The texts of a column, and those of the piece that was written last.
struct PieceTexts<'t> {
    all: &'t [ByteArray],
    piece: &'t mut TextPiece,
}

/// Texts one a row, and their numbers.
#[derive(Default)]
struct TextPiece {
    codes: Vec<u32>,
    texts: Vec<ByteArray>,
}

impl TextPiece {
    /// The texts of these numbers. Columns with one text, such as the host, are the same in every piece.
    fn of(&mut self, codes: &[u32], all: &[ByteArray]) -> &[ByteArray] {
        if self.codes != codes {
            self.codes.clear();
            self.codes.extend_from_slice(codes);
            self.texts.clear();
            self.texts
                .extend(codes.iter().map(|&code| all[code as usize].clone()));
        }
        &self.texts
    }
}

fn write_piece(
    column: &TableColumn,
    rows: Range<usize>,
    is_nullable: bool,
    texts: PieceTexts<'_>,
    writer: &mut SerializedColumnWriter<'_>,
) -> Result<()> {
    let (levels, items) = match &column.ends {
        Some(ends) => {
            let first = rows.start.checked_sub(1).map_or(0, |before| ends[before]);
            let ends = &ends[rows.clone()];
            let last = ends.last().copied().unwrap_or(first);
            (list_levels(first, ends), first as usize..last as usize)
        }
        None => {
            let definition = is_nullable.then(|| definition(column, rows.clone()));
            let levels = Levels {
                definition,
                repetition: None,
            };
            (levels, rows.clone())
        }
    };
    // Values of rows that are NULL are not stored.
    let present = column.present.as_deref().filter(|_| column.ends.is_none());
    let present = present.map(|present| &present[rows]);
    match &column.values {
        Values::Int32(values) => put::<Int32Type>(writer, &kept(&values[items], present), &levels),
        Values::Int64(values) => put::<Int64Type>(writer, &kept(&values[items], present), &levels),
        Values::Bool(values) => put::<BoolType>(writer, &kept(&values[items], present), &levels),
        Values::Text(codes, _) => {
            let codes = kept(&codes[items], present);
            let PieceTexts { all, piece } = texts;
            put::<ByteArrayType>(writer, piece.of(&codes, all), &levels)
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

fn kept<'v, V: Copy>(values: &'v [V], present: Option<&[bool]>) -> Cow<'v, [V]> {
    match present {
        None => values.into(),
        Some(present) => {
            let there = values.iter().zip(present).filter(|(_, present)| **present);
            there.map(|(value, _)| *value).collect()
        }
    }
}

fn definition(column: &TableColumn, rows: Range<usize>) -> Vec<i16> {
    match &column.present {
        Some(present) => present[rows]
            .iter()
            .map(|&present| i16::from(present))
            .collect(),
        None => vec![1; rows.len()],
    }
}

/// Each row has a list, which may be empty; the first begins at `start`.
fn list_levels(mut start: u32, ends: &[u32]) -> Levels {
    let items = ends
        .last()
        .map_or(0, |end| end.saturating_sub(start) as usize);
    let most = items + ends.len();
    let (mut definition, mut repetition) = (Vec::with_capacity(most), Vec::with_capacity(most));
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
        let levels = list_levels(0, &[2, 2, 3]);
        assert_eq!(levels.definition, Some(vec![1, 1, 0, 1]));
        assert_eq!(levels.repetition, Some(vec![0, 1, 0, 0]));
        assert_eq!(list_levels(3, &[3]).definition, Some(vec![0]));
    }
}
