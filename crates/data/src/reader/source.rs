//! All records of a recording, whatever form it has.

use std::fmt;

use super::{Framed, Held, Records};
use crate::Damage;

/// The records of a recording, in the order of the file.
pub enum Source<'a> {
    /// Borrowed from the images of one or several files, to be walked one after another.
    Borrowed(Vec<Records<'a>>),
    /// Of a stream or compressed: held until nobody needs them.
    Held(HeldRecords<'a>),
}

/// Records that hold their bytes; what a compressed record holds comes after it.
pub type HeldRecords<'a> = Box<dyn Iterator<Item = Result<Framed<Held<'a>>, Damage>> + 'a>;

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Borrowed(parts) => f.debug_tuple("Borrowed").field(parts).finish(),
            Source::Held(_) => f.write_str("Held"),
        }
    }
}
