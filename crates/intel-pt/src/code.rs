//! Sources of instruction bytes.

/// Names the content of a piece of code: the same id promises the same bytes at the same offsets for as long as a
/// decoder lives. Code that was patched gets a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageId(pub u64);

/// An address and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CodeAddress {
    /// The instruction pointer.
    pub ip: u64,
    /// True if a guest ran (VMX non-root operation).
    pub guest: bool,
}

/// A mapping of code.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// The image that is mapped.
    pub image: ImageId,
    /// The offset of `bytes` in the image.
    pub offset: u64,
    /// The address of the first byte.
    pub start: u64,
    /// The code, to the end of the mapping or of what is known of it.
    pub bytes: &'a [u8],
}

impl<'a> Code<'a> {
    /// The bytes from `ip` on; empty where the mapping does not hold it.
    #[inline]
    pub fn from(&self, ip: u64) -> &'a [u8] {
        let at = usize::try_from(ip.wrapping_sub(self.start)).unwrap_or(usize::MAX);
        self.bytes.get(at..).unwrap_or_default()
    }
}

/// Gives the code that was mapped when the trace was made.
///
/// The meaning of an address may change between two calls of `Decoder::next` (another process, a
/// new mapping); the source says so by its generation.
pub trait CodeSource {
    /// A number that differs whenever an address may mean other code than before.
    fn generation(&self) -> u64;

    /// The mapping that holds `at`, if its code is known.
    fn code(&self, at: CodeAddress) -> Option<Code<'_>>;

    /// True if `ip` is outside of the addresses that a filter of the recording lets through.
    fn is_filtered_out(&self, ip: u64) -> bool {
        let _ = ip;
        false
    }
}

/// One flat piece of code.
#[derive(Clone, Debug)]
pub struct FlatCode {
    start: u64,
    bytes: Vec<u8>,
}

impl FlatCode {
    /// Code that lies at `start`.
    pub const fn new(start: u64, bytes: Vec<u8>) -> FlatCode {
        FlatCode { start, bytes }
    }
}

impl CodeSource for FlatCode {
    fn generation(&self) -> u64 {
        0
    }

    fn code(&self, at: CodeAddress) -> Option<Code<'_>> {
        let code = Code {
            image: ImageId(0),
            offset: 0,
            start: self.start,
            bytes: &self.bytes,
        };
        (!code.from(at.ip).is_empty()).then_some(code)
    }
}
