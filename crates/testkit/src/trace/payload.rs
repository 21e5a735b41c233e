//! Contents of the packets of Intel PT.

use crate::error::Read;
use crate::number;

/// `NAME=VALUE/FLAG/FLAG`.
pub(super) struct Word<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    flags: Vec<&'a str>,
}

impl<'a> Word<'a> {
    pub(super) fn parse(text: &'a str) -> Word<'a> {
        let mut parts = text.split('/');
        let first = parts.next().unwrap_or_default();
        let (name, value) = first.split_once('=').unwrap_or((first, ""));
        Word {
            name,
            value,
            flags: parts.collect(),
        }
    }

    /// 1 where the word has the flag.
    pub(super) fn flag(&self, name: &str) -> u8 {
        u8::from(self.flags.contains(&name))
    }

    /// The value in so many bytes.
    pub(super) fn le(&self, bytes: usize, out: &mut Vec<u8>) -> Read<()> {
        le(number::number(self.value)?, bytes, out);
        Ok(())
    }

    /// `A:B`; what is left out is 0.
    fn pair(&self) -> Read<(u64, u64)> {
        let (first, second) = self.value.split_once(':').unwrap_or((self.value, "0"));
        Ok((number::number(first)?, number::number(second)?))
    }
}

fn le(value: u64, bytes: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_le_bytes()[..bytes]);
}

/// Addresses are written in full: 6 bytes with the sign, or all 8.
pub(super) fn address(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    let opcode = match word.name {
        "tip" => 0x0d,
        "pge" => 0x11,
        "pgd" => 0x01,
        _ => 0x1d,
    };
    if word.value.is_empty() {
        out.push(opcode);
        return Ok(());
    }
    let ip: u64 = number::number(word.value)?;
    let (form, bytes) = if (ip as i64) << 16 >> 16 == ip as i64 {
        (3, 6)
    } else {
        (6, 8)
    };
    out.push(form << 5 | opcode);
    le(ip, bytes, out);
    Ok(())
}

/// `T` is taken, `N` not, the oldest first.
pub(super) fn outcomes(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    let bits = word
        .value
        .bytes()
        .try_fold(1_u64, |bits, byte| match byte {
            b'T' => Ok(bits << 1 | 1),
            b'N' => Ok(bits << 1),
            _ => Err("outcomes are T or N".to_owned()),
        })?;
    match word.value.len() {
        1..=6 => out.push((bits as u8) << 1),
        7..=47 => {
            out.extend([0x02, 0xa3]);
            le(bits, 6, out);
        }
        _ => return Err("1 to 47 outcomes".to_owned()),
    }
    Ok(())
}

pub(super) fn mode(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    let low = match (word.name, word.value) {
        ("mode", "64") => 1 | word.flag("if") << 2,
        ("mode", "32") => 2 | word.flag("if") << 2,
        ("mode", "16") => word.flag("if") << 2,
        ("tsx", "") => 1 << 5 | word.flag("in") | word.flag("abort") << 1,
        _ => return Err("a mode is 16, 32 or 64".to_owned()),
    };
    out.extend([0x99, low]);
    Ok(())
}

pub(super) fn time(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    match word.name {
        "tsc" => {
            out.push(0x19);
            word.le(7, out)
        }
        "mtc" => {
            out.push(0x59);
            word.le(1, out)
        }
        "cbr" => {
            out.extend([0x02, 0x03]);
            word.le(2, out)
        }
        "cyc" => {
            let count: u8 = number::number(word.value)?;
            out.push(count << 3 | 3);
            if count < 32 {
                Ok(())
            } else {
                Err("at most 31 cycles".to_owned())
            }
        }
        _ => {
            let (crystal, fast) = word.pair()?;
            out.extend([0x02, 0x73]);
            le(crystal, 2, out);
            out.push(0);
            le(fast, 2, out);
            Ok(())
        }
    }
}

/// `pip` takes CR3, `/nr` for a guest.
pub(super) fn virtual_machine(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    let value: u64 = number::number(word.value)?;
    if word.name == "vmcs" {
        out.extend([0x02, 0xc8]);
        le(value >> 12, 5, out);
    } else {
        out.extend([0x02, 0x43]);
        le(value >> 5 << 1 | u64::from(word.flag("nr")), 6, out);
    }
    Ok(())
}

pub(super) fn power(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    let (code, bytes) = match word.name {
        "mwait" => (0xc2, 8),
        "pwre" => (0x22, 2),
        "pwrx" => (0xa2, 5),
        _ => (0x62 | word.flag("ip") << 7, 0),
    };
    out.extend([0x02, code]);
    if bytes > 0 {
        word.le(bytes, out)
    } else {
        Ok(())
    }
}

/// `bbp=TYPE`, `bip=ID:VALUE` (`bip4` in blocks of 4 bytes), `bep`.
pub(super) fn block(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    match word.name {
        "bep" => out.extend([0x02, 0x33 | word.flag("ip") << 7]),
        "bbp" => {
            let kind: u8 = number::number(word.value)?;
            out.extend([0x02, 0x63, kind | word.flag("4") << 7]);
        }
        name => {
            let (id, value) = word.pair()?;
            out.push((id as u8) << 3 | 4);
            le(value, if name == "bip4" { 4 } else { 8 }, out);
        }
    }
    Ok(())
}

/// `cfe=TYPE:VECTOR`, `evd=TYPE:VALUE`.
pub(super) fn event(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    let (kind, value) = word.pair()?;
    if word.name == "cfe" {
        out.extend([0x02, 0x13, kind as u8 | word.flag("ip") << 7, value as u8]);
    } else {
        out.extend([0x02, 0x53, kind as u8]);
        le(value, 8, out);
    }
    Ok(())
}
