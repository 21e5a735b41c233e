//! The checksum of debug links: CRC-32 with the reflected polynomial 0xedb88320, as in zip.

/// The checksum of a whole file.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        TABLE[usize::from(crc as u8 ^ byte)] ^ (crc >> 8)
    })
}

static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut index = 0;
    while index < 256 {
        table[index] = remainder(index as u32);
        index += 1;
    }
    table
}

const fn remainder(mut value: u32) -> u32 {
    let mut bit = 0;
    while bit < 8 {
        value = if value & 1 == 1 {
            0xedb8_8320 ^ (value >> 1)
        } else {
            value >> 1
        };
        bit += 1;
    }
    value
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_check_value_of_the_algorithm() {
        assert_eq!(super::crc32(b"123456789"), 0xcbf4_3926);
    }
}
