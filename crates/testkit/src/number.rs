//! Words to numbers, sets of bits and byte strings.

use crate::error::Read;

/// A number that fits `T`; a negative one is taken as 64-bit two's complement first.
pub(crate) fn number<T: TryFrom<i128>>(text: &str) -> Read<T> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let magnitude = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse::<u64>(),
    };
    let value = magnitude.map_err(|_| format!("{text:?} is not a number"))?;
    T::try_from(sign * i128::from(value)).map_err(|_| format!("{text} is out of range"))
}

/// Numbers between commas; nothing for an empty word.
pub(crate) fn list<T: TryFrom<i128>>(text: &str) -> Read<Vec<T>> {
    text.split(',')
        .filter(|word| !word.is_empty())
        .map(number)
        .collect()
}

/// Pairs of hexadecimal digits.
pub(crate) fn hex(text: &str) -> Read<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().map(hex_digit).collect::<Read<_>>()?;
    let (pairs, odd) = digits.as_chunks::<2>();
    if odd.is_empty() {
        Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect())
    } else {
        Err(format!("{text:?} has half a byte"))
    }
}

fn hex_digit(byte: u8) -> Read<u8> {
    match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(format!("{:?} is no digit of HEX", char::from(byte))),
    }
}

/// The union of named bits, `A|B`; a word may also be a number.
pub(crate) fn bits(text: &str, names: &[(u64, &str)]) -> Read<u64> {
    text.split('|')
        .filter(|word| !word.is_empty())
        .try_fold(0, |set, word| {
            let named = names
                .iter()
                .find(|(_, name)| *name == word)
                .map(|(bit, _)| *bit);
            Ok(set | named.map_or_else(|| number(word), Ok)?)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_against_their_type() {
        assert_eq!(number::<u64>("0xffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(number::<i32>("-1"), Ok(-1));
        assert!(number::<u32>("-1").is_err());
        assert!(number::<u16>("65536").is_err());
        assert!(number::<u64>("12z").is_err());
    }

    #[test]
    fn hex_and_bits() {
        assert_eq!(hex("00ff7a"), Ok(vec![0, 255, 0x7a]));
        assert!(hex("0").is_err());
        assert_eq!(bits("IP|8", &[(1, "IP")]), Ok(9));
        assert!(bits("NOPE", &[(1, "IP")]).is_err());
    }
}
