//! The direction in which call chains are read.

/// The direction in which call chains are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ChainOrder {
    /// The outermost caller first.
    #[default]
    Caller,
    /// The innermost frame first.
    Callee,
}
