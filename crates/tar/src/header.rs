//! One header block, as POSIX ustar has it, with GNU's long names.

/// Bytes of a block.
pub(crate) const BLOCK: usize = 512;

/// Type of a plain file.
pub(crate) const FILE: u8 = b'0';
/// Type of a symbolic link.
pub(crate) const LINK: u8 = b'2';
/// Type of a folder.
pub(crate) const FOLDER: u8 = b'5';
/// The contents are the name of the next entry.
pub(crate) const LONG_NAME: u8 = b'L';
/// The contents are the target of the next entry.
pub(crate) const LONG_TARGET: u8 = b'K';

/// A header's fields; names are cut to what fits.
pub(crate) struct Header {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: u8,
    pub(crate) size: u64,
    pub(crate) modified: u64,
    pub(crate) target: Vec<u8>,
}

/// Longest name in a header's field.
pub(crate) const NAME: usize = 100;

impl Header {
    /// The block.
    pub(crate) fn encode(&self) -> [u8; BLOCK] {
        let mut block = [0; BLOCK];
        put(&mut block[..NAME], &self.name);
        let mode: &[u8] = if self.kind == FOLDER {
            b"0000755\0"
        } else {
            b"0000644\0"
        };
        put(&mut block[100..], mode);
        put(&mut block[108..], b"0000000\0");
        put(&mut block[116..], b"0000000\0");
        number(&mut block[124..136], self.size);
        number(&mut block[136..148], self.modified);
        block[156] = self.kind;
        put(&mut block[157..157 + NAME], &self.target);
        put(&mut block[257..], b"ustar\x0000");
        let sum = checksum(&block);
        put(&mut block[148..], format!("{sum:06o}\0 ").as_bytes());
        block
    }

    /// Reads a block that is not all zeros.
    pub(crate) fn decode(block: &[u8; BLOCK]) -> Result<Header, &'static str> {
        if octal(&block[148..156]) != Some(checksum(block)) {
            return Err("the checksum differs");
        }
        let size = value(&block[124..136]).ok_or("the size is no number")?;
        let mut name = text(&block[..NAME]).to_vec();
        let prefix = text(&block[345..500]);
        if block[257..].starts_with(b"ustar\0") && !prefix.is_empty() {
            name = [prefix, b"/", &name].concat();
        }
        let kind = if block[156] == 0 { FILE } else { block[156] };
        let modified = value(&block[136..148]).unwrap_or(0);
        Ok(Header {
            name,
            kind,
            size,
            modified,
            target: text(&block[157..157 + NAME]).to_vec(),
        })
    }
}

/// As many bytes as fit.
fn put(field: &mut [u8], bytes: &[u8]) {
    let size = bytes.len().min(field.len());
    field[..size].copy_from_slice(&bytes[..size]);
}

/// Eleven octal digits, or what does not fit in them in binary.
fn number(field: &mut [u8], value: u64) {
    if value < 1 << 33 {
        put(field, format!("{value:011o}\0").as_bytes());
    } else {
        field[0] = 0x80;
        put(&mut field[4..], &value.to_be_bytes());
    }
}

fn value(field: &[u8]) -> Option<u64> {
    match field.first() {
        Some(0x80) => {
            let (high, low) = field.split_at_checked(field.len().checked_sub(8)?)?;
            let fits = high.iter().skip(1).all(|byte| *byte == 0);
            fits.then(|| {
                low.iter()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte))
            })
        }
        _ => octal(field),
    }
}

fn octal(field: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(text(field)).ok()?.trim();
    if digits.is_empty() {
        Some(0)
    } else {
        u64::from_str_radix(digits, 8).ok()
    }
}

fn text(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The sum of all bytes, those of the sum itself taken as blanks.
fn checksum(block: &[u8; BLOCK]) -> u64 {
    let outside = block[..148].iter().chain(&block[156..]);
    outside.map(|byte| u64::from(*byte)).sum::<u64>() + 8 * u64::from(b' ')
}
