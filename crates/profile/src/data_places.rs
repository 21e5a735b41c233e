//! What data the instructions at frames work on.

use rustc_hash::FxHashMap;

use super::FrameId;

/// The data that frames work on, each place once.
#[derive(Clone, Debug, Default)]
pub struct DataPlaces {
    list: Vec<DataPlace>,
    numbers: FxHashMap<DataPlace, u32>,
    of_frames: Vec<u32>,
}

/// Data of a type, and which of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataPlace {
    /// What the type is called, or what else the data are; untrusted.
    pub name: String,
    /// How many bytes from the beginning of the type; `None` for data that are of no type.
    pub offset: Option<u64>,
    /// The name of the field that is there; untrusted.
    pub field: Option<String>,
}

/// How many bytes a line of the CPU's caches takes.
const LINE: u64 = 64;

impl DataPlace {
    /// The number of the line of the CPU's caches, from the beginning of the type.
    pub fn line(&self) -> u64 {
        self.offset.unwrap_or(0) / LINE
    }

    /// Data that are of no type, by what they are.
    pub fn untyped(name: &str) -> DataPlace {
        DataPlace {
            name: name.to_owned(),
            offset: None,
            field: None,
        }
    }
}

impl DataPlaces {
    /// Tells of the next frame.
    pub fn push(&mut self, place: DataPlace) {
        let next = self.list.len() as u32;
        let number = *self.numbers.entry(place).or_insert_with_key(|place| {
            self.list.push(place.clone());
            next
        });
        self.of_frames.push(number);
    }

    /// All places, each once.
    pub fn list(&self) -> &[DataPlace] {
        &self.list
    }

    /// The number of a frame's place.
    pub fn number(&self, frame: FrameId) -> Option<u32> {
        self.of_frames.get(frame.index()).copied()
    }

    /// What a frame works on, if that was asked for.
    pub fn of(&self, frame: FrameId) -> Option<&DataPlace> {
        self.list.get(self.number(frame)? as usize)
    }
}
