//! Thread names, interned.

use rustc_hash::FxHashMap;

/// The number of a thread name in its machine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct CommId(pub u32);

/// All names that threads have had.
#[derive(Debug, Default)]
pub(crate) struct Comms {
    names: Vec<String>,
    ids: FxHashMap<String, CommId>,
}

impl Comms {
    /// The number of a name.
    pub(crate) fn intern(&mut self, name: &str) -> CommId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// A name of its own for a thread that has told none yet, to be replaced by [`Comms::rename`].
    pub(crate) fn placeholder(&mut self, tid: i32) -> CommId {
        self.push(format!(":{tid}"))
    }

    /// Gives a placeholder its name, for what was seen under it before, too.
    pub(crate) fn rename(&mut self, id: CommId, name: &str) {
        if let Some(slot) = self.names.get_mut(id.0 as usize) {
            name.clone_into(slot);
        }
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    fn push(&mut self, name: String) -> CommId {
        let id = CommId(self.names.len() as u32);
        self.names.push(name);
        id
    }
}
