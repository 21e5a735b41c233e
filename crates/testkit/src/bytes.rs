//! The small encoder: numbers and padded text in a byte order.

/// Byte order of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Endian {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// Bytes under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bytes {
    endian: Endian,
    data: Vec<u8>,
}

impl Bytes {
    pub(crate) fn new(endian: Endian) -> Bytes {
        Bytes {
            endian,
            data: Vec::new(),
        }
    }

    pub(crate) fn endian(&self) -> Endian {
        self.endian
    }

    pub(crate) fn u8(&mut self, value: u8) {
        self.data.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.ordered(value.to_le_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.ordered(value.to_le_bytes());
    }

    pub(crate) fn i32(&mut self, value: i32) {
        self.ordered(value.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.ordered(value.to_le_bytes());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
    }

    /// `text`, at least one NUL, and more up to a multiple of `unit`.
    pub(crate) fn text(&mut self, text: &str, unit: usize) {
        self.raw(text.as_bytes());
        self.u8(0);
        let used = text.len() + 1;
        self.data
            .resize(self.data.len() + used.next_multiple_of(unit) - used, 0);
    }

    pub(crate) fn zero_to(&mut self, len: usize) {
        self.data.resize(self.data.len().max(len), 0);
    }

    pub(crate) fn pad_to_8(&mut self) {
        self.zero_to(self.data.len().next_multiple_of(8));
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len()
    }

    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.data
    }

    fn ordered<const N: usize>(&mut self, mut little: [u8; N]) {
        if self.endian == Endian::Big {
            little.reverse();
        }
        self.data.extend_from_slice(&little);
    }
}
