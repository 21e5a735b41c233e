//! Rows of a table, column by column.

use crate::column::TableColumn;
use crate::schema::{ColumnSchema, TableSchema};

/// Rows of a table.
#[derive(Clone, Debug)]
pub struct TableRows {
    table: &'static TableSchema,
    /// The column at each place of the table's; `None` for one that is left out.
    columns: Vec<Option<TableColumn>>,
}

impl TableRows {
    /// No rows of a table, with the columns that `has` says.
    pub fn new(table: &'static TableSchema, has: impl Fn(&ColumnSchema) -> bool) -> TableRows {
        let column = |schema: &ColumnSchema| has(schema).then(|| TableColumn::new(schema.kind));
        TableRows {
            table,
            columns: table.columns.iter().map(column).collect(),
        }
    }

    /// The table.
    pub fn table(&self) -> &'static TableSchema {
        self.table
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns().next().map_or(0, |(_, column)| column.len())
    }

    /// `true` without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns that are there.
    pub fn columns(&self) -> impl Iterator<Item = (&'static ColumnSchema, &TableColumn)> {
        let schemas = self.table.columns.iter();
        schemas
            .zip(&self.columns)
            .filter_map(|(schema, column)| Some((schema, column.as_ref()?)))
    }

    /// The column of a name, if it is there.
    pub fn column(&mut self, name: &str) -> Option<&mut TableColumn> {
        let place = self.table.position(name)?;
        self.columns[place].as_mut()
    }

    /// The column at a place among the table's, if it is there.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> Option<&mut TableColumn> {
        self.columns.get_mut(place)?.as_mut()
    }

    /// Makes room for so many rows at once: columns that grow side by side leave gaps in memory.
    pub(crate) fn reserve(&mut self, rows: usize) {
        let columns = self.columns.iter_mut().flatten();
        columns.for_each(|column| column.reserve(rows));
    }

    /// Forgets the rows. Texts keep their numbers.
    pub fn clear(&mut self) {
        self.columns
            .iter_mut()
            .flatten()
            .for_each(TableColumn::clear);
    }

    /// Forgets the texts of columns without rows.
    pub fn forget_texts(&mut self) {
        self.columns
            .iter_mut()
            .flatten()
            .for_each(TableColumn::forget_texts);
    }

    /// Adds a row by its values, in the order of the table's columns.
    pub fn push(&mut self, cells: &[TableCell<'_>]) {
        debug_assert_eq!(cells.len(), self.columns.len(), "{}", self.table.name);
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let Some(column) = column else { continue };
            match cell {
                TableCell::Null => column.push_null(),
                TableCell::Int(value) => column.push_int(*value),
                TableCell::Text(text) => column.push_text(text),
            }
        }
    }
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableCell<'a> {
    /// None.
    Null,
    /// A number, a moment, or yes (1) or no (0).
    Int(i64),
    /// A text.
    Text(&'a str),
}

impl From<Option<i64>> for TableCell<'_> {
    fn from(value: Option<i64>) -> Self {
        value.map_or(TableCell::Null, TableCell::Int)
    }
}

impl<'a> From<Option<&'a str>> for TableCell<'a> {
    fn from(value: Option<&'a str>) -> Self {
        value.map_or(TableCell::Null, TableCell::Text)
    }
}
