//! The tables of a profile, as data: what each column is called, of which type it is and what it means.
//!
//! Writers, readers, views and the documentation are made from these tables; nothing else names a column's type.

mod tables;

pub use tables::{
    CALLS, EVENTS, MAPS, OBJECTS, PROFILE, RECORDINGS, SAMPLES, STACK_FRAMES, STACKS, THREADS,
};

/// The version of the tables: another number means that a reader of this one may misunderstand them.
pub const VERSION: u32 = 1;

/// All tables, those first that others refer to.
pub const TABLES: [&TableSchema; 8] = [
    &SAMPLES,
    &STACKS,
    &RECORDINGS,
    &EVENTS,
    &THREADS,
    &OBJECTS,
    &MAPS,
    &CALLS,
];

/// A table.
#[derive(Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// Its name, and that of its files.
    pub name: &'static str,
    /// What a row is.
    pub meaning: &'static str,
    /// When it has rows.
    pub when: Presence,
    /// Its columns, in order.
    pub columns: &'static [ColumnSchema],
}

/// A column of a table.
#[derive(Debug, PartialEq, Eq)]
pub struct ColumnSchema {
    /// Its name.
    pub name: &'static str,
    /// The type of its values.
    pub kind: ColumnType,
    /// What a value means.
    pub meaning: &'static str,
    /// When files have it; what is left out reads as NULL.
    pub when: Presence,
}

impl ColumnSchema {
    /// `true` if a row may have no value. The lists of a row without a stack are empty instead.
    pub const fn may_be_null(&self) -> bool {
        self.kind.item().is_none() && !matches!(self.when, Presence::Always)
    }
}

/// When a table or a column is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// In every export.
    Always,
    /// If the recording has the values.
    Recorded,
    /// With an option of the export.
    Option(&'static str),
}

/// The types of columns: those that every engine has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// A signed number of 32 bits.
    Int32,
    /// A signed number of 64 bits.
    Int64,
    /// Yes or no.
    Bool,
    /// A moment in microseconds since 1970, UTC.
    Timestamp,
    /// UTF-8 text.
    Text,
    /// A list of texts.
    Texts,
    /// A list of numbers of 32 bits.
    Int32s,
    /// A list of numbers of 64 bits.
    Int64s,
    /// A list of yes or no.
    Bools,
}

impl ColumnType {
    /// The name of the type in the documentation, as SQL has it.
    pub const fn sql_name(self) -> &'static str {
        match self {
            ColumnType::Int32 => "INT",
            ColumnType::Int64 => "BIGINT",
            ColumnType::Bool => "BOOLEAN",
            ColumnType::Timestamp => "TIMESTAMP (us, UTC)",
            ColumnType::Text => "STRING",
            ColumnType::Texts => "LIST<STRING>",
            ColumnType::Int32s => "LIST<INT>",
            ColumnType::Int64s => "LIST<BIGINT>",
            ColumnType::Bools => "LIST<BOOLEAN>",
        }
    }

    /// The type of a list's items; `None` for what is no list.
    pub const fn item(self) -> Option<ColumnType> {
        match self {
            ColumnType::Texts => Some(ColumnType::Text),
            ColumnType::Int32s => Some(ColumnType::Int32),
            ColumnType::Int64s => Some(ColumnType::Int64),
            ColumnType::Bools => Some(ColumnType::Bool),
            _ => None,
        }
    }
}

impl TableSchema {
    /// The place of a column among the table's.
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|known| known.name == column)
    }

    /// The place of a column that is there: a name that is not does not compile where this is a constant.
    pub(crate) const fn place(&self, column: &str) -> usize {
        let mut place = 0;
        while place < self.columns.len() {
            if is_equal(self.columns[place].name.as_bytes(), column.as_bytes()) {
                return place;
            }
            place += 1;
        }
        panic!("no such column")
    }

    /// The table of this name.
    pub fn named(name: &str) -> Option<&'static TableSchema> {
        TABLES.into_iter().find(|table| table.name == name)
    }
}

const fn is_equal(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut place = 0;
    while place < one.len() {
        if one[place] != other[place] {
            return false;
        }
        place += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_once() {
        for table in TABLES {
            for (place, column) in table.columns.iter().enumerate() {
                assert_eq!(table.position(column.name), Some(place), "{}", column.name);
            }
            assert_eq!(TableSchema::named(table.name), Some(table));
        }
    }
}
