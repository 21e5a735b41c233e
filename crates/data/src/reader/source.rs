//! All records of a recording, whatever form it has.

use std::fmt;

use super::{BufferedBytes, Framed, Records};
use crate::Damage;

/// The records of a recording, in the order of the file.
pub enum RecordSource<'a> {
    /// Borrowed from the images of one or several files, to be walked one after another.
    Borrowed(Vec<Records<'a>>),
    /// Of a stream or compressed: held until nobody needs them.
    Buffered(BufferedRecords<'a>),
}

/// Records that hold their bytes; what a compressed record holds comes after it.
pub type BufferedRecords<'a> =
    Box<dyn Iterator<Item = Result<Framed<BufferedBytes<'a>>, Damage>> + 'a>;

impl fmt::Debug for RecordSource<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordSource::Borrowed(parts) => f.debug_tuple("Borrowed").field(parts).finish(),
            RecordSource::Buffered(_) => f.write_str("Buffered"),
        }
    }
}
