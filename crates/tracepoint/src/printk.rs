//! The kernel's table of strings that records name by address (`printk_formats`).

use std::collections::HashMap;

/// Strings of the kernel by their address; RCU and the like record a pointer instead of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintkStrings {
    by_address: HashMap<u64, Vec<u8>>,
}

impl PrintkStrings {
    /// Parses lines of the form `0xADDRESS : "text"`; other lines are passed over.
    pub fn parse(text: &[u8]) -> PrintkStrings {
        PrintkStrings {
            by_address: text
                .split(|&byte| byte == b'\n')
                .filter_map(parse_line)
                .collect(),
        }
    }

    /// The string at `address`.
    pub fn get(&self, address: u64) -> Option<&[u8]> {
        self.by_address.get(&address).map(Vec::as_slice)
    }

    /// Number of addresses that are known.
    pub fn len(&self) -> usize {
        self.by_address.len()
    }

    /// Returns whether no address is known.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }
}

fn parse_line(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (address, rest) = (line.get(..colon)?, line.get(colon + 1..)?);
    let digits = std::str::from_utf8(address.trim_ascii())
        .ok()?
        .strip_prefix("0x")?;
    let text = rest.trim_ascii().strip_prefix(b"\"")?;
    Some((
        u64::from_str_radix(digits, 16).ok()?,
        unescape(text.strip_suffix(b"\"").unwrap_or(text)),
    ))
}

/// The kernel writes newlines and quotes of these strings with backslashes.
fn unescape(text: &[u8]) -> Vec<u8> {
    let text = text.strip_suffix(b"\\n").unwrap_or(text);
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        out.push(if byte == b'\\' {
            bytes.next().copied().unwrap_or(byte)
        } else {
            byte
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_strings_by_address() {
        let text =
            b"0xffffffff8281a569 : \"rcu_preempt-GPS\"\njunk\n0x10 : \"say \\\"hi\\\"\\n\"\n";
        let strings = PrintkStrings::parse(text);
        assert_eq!(strings.len(), 2);
        assert_eq!(
            strings.get(0xffffffff8281a569),
            Some(&b"rcu_preempt-GPS"[..])
        );
        assert_eq!(strings.get(0x10), Some(&b"say \"hi\""[..]));
        assert_eq!(strings.get(0x11), None);
    }
}
