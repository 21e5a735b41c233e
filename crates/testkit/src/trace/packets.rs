//! Words such as `fup=0x401000` to the packets of Intel PT.

use super::payload::{self, Word};
use crate::error::Read;

/// The bytes of all packets that `text` names, word by word.
pub(crate) fn packets(text: &str) -> Read<Vec<u8>> {
    let mut out = Vec::new();
    for word in text.split_whitespace() {
        packet(&Word::parse(word), &mut out)
            .map_err(|reason| format!("packet {word:?}: {reason}"))?;
    }
    Ok(out)
}

fn packet(word: &Word<'_>, out: &mut Vec<u8>) -> Read<()> {
    match word.name {
        "pad" => out.push(0),
        "psb" => out.extend([0x02, 0x82].repeat(8)),
        "psbend" => out.extend([0x02, 0x23]),
        "ovf" => out.extend([0x02, 0xf3]),
        "stop" => out.extend([0x02, 0x83]),
        "tip" | "pge" | "pgd" | "fup" => payload::address(word, out)?,
        "tnt" => payload::outcomes(word, out)?,
        "mode" | "tsx" => payload::mode(word, out)?,
        "tsc" | "tma" | "mtc" | "cbr" | "cyc" => payload::time(word, out)?,
        "pip" | "vmcs" => payload::virtual_machine(word, out)?,
        "ptw" => {
            out.extend([0x02, 0x32 | word.flag("ip") << 7]);
            word.le(8, out)?;
        }
        "mwait" | "pwre" | "exstop" | "pwrx" => payload::power(word, out)?,
        "bbp" | "bip" | "bip4" | "bep" => payload::block(word, out)?,
        "cfe" | "evd" => payload::event(word, out)?,
        "bytes" => out.extend(crate::number::hex(word.value)?),
        _ => return Err("there is no such packet".to_owned()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_as_the_manual_has_them() {
        for (text, bytes) in [
            ("tsc=0x1234 pad", &[0x19, 0x34, 0x12, 0, 0, 0, 0, 0, 0][..]),
            ("tnt=TNN", &[0b1100 << 1]),
            ("fup=0x401000", &[0x7d, 0, 0x10, 0x40, 0, 0, 0]),
            ("tip=0xffffffff81000000", &[0x6d, 0, 0, 0, 0x81, 0xff, 0xff]),
            ("pgd", &[0x01]),
            ("mode=64/if", &[0x99, 0b101]),
            ("cbr=30 mtc=7 cyc=3", &[0x02, 0x03, 30, 0, 0x59, 7, 0x1b]),
            (
                "cfe=1:0x20/ip evd=0:9",
                &[
                    0x02, 0x13, 0x81, 0x20, 0x02, 0x53, 0, 9, 0, 0, 0, 0, 0, 0, 0,
                ],
            ),
            (
                "bbp=4 bip=1:2 bep/ip",
                &[0x02, 0x63, 4, 0x0c, 2, 0, 0, 0, 0, 0, 0, 0, 0x02, 0xb3],
            ),
        ] {
            assert_eq!(packets(text).as_deref(), Ok(bytes), "{text}");
        }
        assert!(packets("tpi=1").is_err() && packets("tnt=TX").is_err());
    }
}
