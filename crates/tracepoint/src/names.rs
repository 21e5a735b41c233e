//! Asking somebody else which kernel function an address belongs to.

/// A kernel function around an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelFunction<'a> {
    /// The function's name.
    pub name: &'a str,
    /// The module that holds it; `None` for the kernel proper.
    pub module: Option<&'a str>,
    /// Bytes from the function's start to the address.
    pub offset: u64,
}

/// The kernel's symbols as they were when the recording was made.
pub trait KernelSymbols {
    /// The function that `address` lies in, or `None` when it is unknown.
    fn symbol(&self, address: u64) -> Option<KernelFunction<'_>>;
}

/// Knows no symbol: addresses stay numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSymbols;

impl KernelSymbols for NoSymbols {
    fn symbol(&self, _address: u64) -> Option<KernelFunction<'_>> {
        None
    }
}
