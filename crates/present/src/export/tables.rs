//! The tables of texts and functions that the formats of pprof's kind share.

use rustc_hash::FxHashMap;

/// Texts by number; the first is empty.
pub(super) struct Strings {
    texts: Vec<String>,
    ids: FxHashMap<String, u64>,
    /// Bytes of all texts, and of what stands before each in a file.
    size: usize,
}

impl Default for Strings {
    fn default() -> Strings {
        Strings {
            texts: vec![String::new()],
            ids: FxHashMap::from_iter([(String::new(), 0)]),
            size: 2,
        }
    }
}

impl Strings {
    pub(super) fn id(&mut self, text: &str) -> u64 {
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = self.texts.len() as u64;
        self.size += text.len() + 3;
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// About as many bytes as a table of them takes.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// All texts, in the order of their numbers.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }
}

/// Functions by their names and files, numbered from 1.
#[derive(Default)]
pub(super) struct Functions<'a> {
    list: Vec<(&'a str, &'a str)>,
    ids: FxHashMap<(&'a str, &'a str), u64>,
}

impl<'a> Functions<'a> {
    pub(super) fn id(&mut self, name: &'a str, file: &'a str) -> u64 {
        *self.ids.entry((name, file)).or_insert_with(|| {
            self.list.push((name, file));
            self.list.len() as u64
        })
    }

    /// Name and file of each, in the order of their numbers.
    pub(super) fn list(&self) -> &[(&'a str, &'a str)] {
        &self.list
    }
}
