//! The values of a column, for a number of rows.

use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

use crate::schema::ColumnType;

/// Distinct texts by number, in the order in which they were met.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    list: Vec<Arc<str>>,
    known: HashTable<u32>,
}

impl Texts {
    /// The number of a text.
    pub fn code(&mut self, text: &str) -> u32 {
        let hash = FxBuildHasher.hash_one(text);
        let Texts { list, known } = self;
        let entry = known.entry(
            hash,
            |&code| *list[code as usize] == *text,
            |&code| FxBuildHasher.hash_one(&*list[code as usize]),
        );
        *entry
            .or_insert_with(|| {
                list.push(text.into());
                list.len() as u32 - 1
            })
            .get()
    }

    /// All texts, by number.
    pub fn list(&self) -> &[Arc<str>] {
        &self.list
    }
}

/// Values of a column, one a row; a list column has the values of all its lists one after another.
#[derive(Clone, Debug)]
pub enum Values {
    /// Of [`ColumnType::Int32`].
    Int32(Vec<i32>),
    /// Of [`ColumnType::Int64`] and [`ColumnType::Timestamp`].
    Int64(Vec<i64>),
    /// Of [`ColumnType::Bool`].
    Bool(Vec<bool>),
    /// Of [`ColumnType::Text`]: numbers of texts.
    Text(Vec<u32>, Texts),
}

/// A column of some rows.
#[derive(Clone, Debug)]
pub struct TableColumn {
    /// The values; of a row that is NULL a value that means nothing.
    pub values: Values,
    /// Which rows are not NULL; `None` if none is.
    pub present: Option<Vec<bool>>,
    /// The end of each row's list among the values; `None` for a column that is none of lists.
    pub ends: Option<Vec<u32>>,
}

impl TableColumn {
    /// A column of this type without rows.
    pub fn new(kind: ColumnType) -> TableColumn {
        let values = match kind.item().unwrap_or(kind) {
            ColumnType::Int32 => Values::Int32(Vec::new()),
            ColumnType::Bool => Values::Bool(Vec::new()),
            ColumnType::Text => Values::Text(Vec::new(), Texts::default()),
            _ => Values::Int64(Vec::new()),
        };
        TableColumn {
            values,
            present: None,
            ends: kind.item().map(|_| Vec::new()),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.ends
            .as_ref()
            .map_or_else(|| self.values.len(), Vec::len)
    }

    /// `true` without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for so many rows at once; how many items lists have is not known.
    pub(crate) fn reserve(&mut self, rows: usize) {
        match (&mut self.ends, &mut self.values) {
            (Some(ends), _) => ends.reserve_exact(rows),
            (None, Values::Int32(values)) => values.reserve_exact(rows),
            (None, Values::Int64(values)) => values.reserve_exact(rows),
            (None, Values::Bool(values)) => values.reserve_exact(rows),
            (None, Values::Text(codes, _)) => codes.reserve_exact(rows),
        }
    }

    /// Forgets the rows. Texts keep their numbers.
    pub fn clear(&mut self) {
        match &mut self.values {
            Values::Int32(values) => values.clear(),
            Values::Int64(values) => values.clear(),
            Values::Bool(values) => values.clear(),
            Values::Text(codes, _) => codes.clear(),
        }
        self.present = None;
        if let Some(ends) = &mut self.ends {
            ends.clear();
        }
    }

    /// Forgets the texts, of a column without rows: the next ones get new numbers.
    pub fn forget_texts(&mut self) {
        if let Values::Text(codes, texts) = &mut self.values {
            codes.clear();
            *texts = Texts::default();
        }
    }

    /// Adds a row with a number.
    #[inline]
    pub fn push_int(&mut self, value: i64) {
        match &mut self.values {
            Values::Int32(values) => values.push(value as i32),
            Values::Int64(values) => values.push(value),
            Values::Bool(values) => values.push(value != 0),
            Values::Text(..) => debug_assert!(false, "a number among texts"),
        }
        self.note(true);
    }

    /// Adds a row with a number, or NULL.
    #[inline]
    pub fn push_int_or_null(&mut self, value: Option<i64>) {
        match value {
            Some(value) => self.push_int(value),
            None => self.push_null(),
        }
    }

    /// Adds a row with a text.
    #[inline]
    pub fn push_text(&mut self, text: &str) {
        let code = self.code(text);
        self.push_code(code);
    }

    /// Adds a row with a text, or NULL.
    pub fn push_text_or_null(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.push_text(text),
            None => self.push_null(),
        }
    }

    /// The number of a text in this column.
    pub fn code(&mut self, text: &str) -> u32 {
        match &mut self.values {
            Values::Text(_, texts) => texts.code(text),
            _ => 0,
        }
    }

    /// Adds a row with the text of this number.
    #[inline]
    pub fn push_code(&mut self, code: u32) {
        if let Values::Text(codes, _) = &mut self.values {
            codes.push(code);
        }
        self.note(true);
    }

    /// Adds a row that is NULL.
    pub fn push_null(&mut self) {
        let before = self.len();
        match &mut self.values {
            _ if self.ends.is_some() => {}
            Values::Int32(values) => values.push(0),
            Values::Int64(values) => values.push(0),
            Values::Bool(values) => values.push(false),
            Values::Text(codes, texts) => codes.push(texts.code("")),
        }
        if self.ends.is_some() {
            self.end_list();
        }
        let present = self.present.get_or_insert_with(|| vec![true; before]);
        present.truncate(before);
        present.push(false);
    }

    /// Adds an item to the list of the row that [`TableColumn::end_list`] ends.
    #[inline]
    pub fn push_item(&mut self, value: i64) {
        match &mut self.values {
            Values::Int32(values) => values.push(value as i32),
            Values::Int64(values) => values.push(value),
            Values::Bool(values) => values.push(value != 0),
            Values::Text(codes, _) => codes.push(value as u32),
        }
    }

    /// Ends the list of a row.
    pub fn end_list(&mut self) {
        let end = self.values.len() as u32;
        if let Some(ends) = &mut self.ends {
            ends.push(end);
        }
        self.note(true);
    }

    #[inline]
    fn note(&mut self, is_present: bool) {
        if let Some(present) = &mut self.present {
            present.push(is_present);
        }
    }
}

impl Values {
    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::Int32(values) => values.len(),
            Values::Int64(values) => values.len(),
            Values::Bool(values) => values.len(),
            Values::Text(codes, _) => codes.len(),
        }
    }

    /// `true` without values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_with_those_that_are_null() {
        let mut column = TableColumn::new(ColumnType::Text);
        column.push_text("a");
        column.push_null();
        column.push_text("a");
        let Values::Text(codes, texts) = &column.values else {
            panic!("texts");
        };
        assert_eq!(
            (codes.len(), codes[0], texts.list().len()),
            (3, codes[2], 2)
        );
        assert_eq!(column.present, Some(vec![true, false, true]));
        column.clear();
        assert!(column.is_empty() && column.present.is_none());
    }

    #[test]
    fn a_list_ends_where_the_next_begins() {
        let mut column = TableColumn::new(ColumnType::Int32s);
        column.push_item(1);
        column.push_item(2);
        column.end_list();
        column.push_null();
        column.end_list();
        assert_eq!(column.ends, Some(vec![2, 2, 2]));
        assert_eq!(column.present, Some(vec![true, false, true]));
        assert_eq!((column.len(), column.values.len()), (3, 2));
    }
}
