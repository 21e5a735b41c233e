//! The table of the records that are known: one row a record, in `kernel.rs` and `user.rs`.
//!
//! A row gives the kind's number (or several that share a body), the module and the type of its body, and the fewest and
//! most bytes that a body has, the trailer included. A body that needs more than its bytes to be decoded has its own
//! decoder at the end of the row.

/// The longest sample id trailer: six words.
pub(crate) const TRAILER: u32 = 48;
/// The longest body where a record's size has 16 bits.
pub(crate) const ANY: u32 = u16::MAX as u32;
/// The longest path behind fixed fields, with the trailer.
pub(crate) const PATH: u32 = 4096 + TRAILER;

/// Makes of the rows: the public names of the bodies, `body_sizes`, and `transcode`.
macro_rules! record_table {
    ($(
        $kind:ident $(| $other:ident)* => $module:ident::$record:ident, $sizes:expr
        $(, ($body:ident, $cursor:ident) => $decode:expr)?;
    )*) => {
        $(pub use $module::$record;)*

        /// Fewest and most bytes of a body of a kind of the table.
        pub(crate) fn body_sizes(
            kind: oxperf_abi::RecordType,
        ) -> Option<std::ops::RangeInclusive<u32>> {
            match kind {
                $(oxperf_abi::RecordType::$kind $(| oxperf_abi::RecordType::$other)* => Some($sizes),)*
                _ => None,
            }
        }

        /// Decodes the bytes at `cursor` as the body of a kind of the table, and appends it to `out`.
        pub(crate) fn transcode(
            record: &$crate::RecordBody<'_>,
            cursor: &mut $crate::Cursor<'_>,
            out: &mut $crate::Encoder,
        ) -> Result<(), $crate::TranscodeError> {
            match record.kind {
                $(oxperf_abi::RecordType::$kind $(| oxperf_abi::RecordType::$other)* => {
                    record_table!(@decode $record record cursor $(, $body, $cursor, $decode)?)
                        .encode(out);
                })*
                kind => return Err($crate::TranscodeError::Unknown(kind)),
            }
            Ok(())
        }
    };
    (@decode $record:ident $given:ident $at:ident) => {
        $record::decode($at)?
    };
    (@decode $record:ident $given:ident $at:ident, $body:ident, $cursor:ident, $decode:expr) => {{
        let ($body, $cursor) = ($given, $at);
        $decode?
    }};
}

pub(crate) use record_table;
