//! The symbol that says how far a recorded kernel was moved.

/// One symbol of the recorded kernel with its address then: kernels may lie elsewhere after each boot.
///
/// A recording's kernel mapping is called `[kernel.kallsyms]_text`; the page offset is the address of `_text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ReferenceSymbol<'a> {
    /// The symbol's name.
    pub symbol: &'a [u8],
    /// Its address while recording.
    pub address: u64,
}
