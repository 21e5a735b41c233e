//! The sample fields that have a length: chains, raw data, branches, registers, stack, AUX.

use oxperf_abi::BranchSampleType;

use crate::bytes::{Bytes, Endian};
use crate::error::Read;
use crate::event::Event;
use crate::line::Line;
use crate::number;

/// Names of the marker words of a chain.
const MARKERS: &[(&str, i64)] = &[
    ("hypervisor", -32),
    ("kernel", -128),
    ("user", -512),
    ("user_deferred", -640),
    ("guest", -2048),
    ("guest_kernel", -2176),
    ("guest_user", -2560),
];

/// The read block, word by word as the line gives it.
pub(super) fn read(line: &mut Line, out: &mut Bytes) -> Read<()> {
    let words: Vec<u64> = number::list(&line.take("read").unwrap_or_default())?;
    words.into_iter().for_each(|word| out.u64(word));
    Ok(())
}

pub(crate) fn chain(line: &mut Line, out: &mut Bytes) -> Read<()> {
    let text = line.take("chain").unwrap_or_default();
    let words = text
        .split(',')
        .filter(|word| !word.is_empty())
        .map(chain_word)
        .collect::<Read<Vec<_>>>()?;
    counted(&words, out);
    Ok(())
}

fn chain_word(text: &str) -> Read<u64> {
    match MARKERS.iter().find(|(name, _)| *name == text) {
        Some((_, marker)) => Ok(*marker as u64),
        None => number::number(text),
    }
}

fn counted(words: &[u64], out: &mut Bytes) {
    out.u64(words.len() as u64);
    words.iter().for_each(|word| out.u64(*word));
}

/// A 32-bit size and the bytes, together a multiple of 8: the kernel counts the padding as data.
pub(super) fn raw(line: &mut Line, out: &mut Bytes) -> Read<()> {
    let mut bytes = number::hex(&line.take("raw").unwrap_or_default())?;
    bytes.resize((bytes.len() + 4).next_multiple_of(8) - 4, 0);
    out.u32(u32::try_from(bytes.len()).map_err(|_| "raw= is too long")?);
    out.raw(&bytes);
    Ok(())
}

pub(super) fn branches(line: &mut Line, event: &Event, out: &mut Bytes) -> Read<()> {
    let text = line.take("branches").unwrap_or_default();
    let entries = text
        .split(',')
        .filter(|word| !word.is_empty())
        .map(branch)
        .collect::<Read<Vec<_>>>()?;
    out.u64(entries.len() as u64);
    if event
        .attr
        .branch_sample_type
        .contains(BranchSampleType::HW_INDEX)
    {
        out.u64(line.number_or_zero("hw_idx")?);
    }
    for [from, to, flags] in entries {
        out.u64(from);
        out.u64(to);
        out.u64(branch_flags(flags, out.endian()));
    }
    Ok(())
}

fn branch(text: &str) -> Read<[u64; 3]> {
    let wrong = || format!("{text:?} is not FROM>TO:FLAGS");
    let (from, rest) = text.split_once('>').ok_or_else(wrong)?;
    let (to, flags) = rest.split_once(':').unwrap_or((rest, "0"));
    Ok([
        number::number(from)?,
        number::number(to)?,
        number::number(flags)?,
    ])
}

/// A big-endian compiler hands out bit fields from the top bit down, each with its value the right way round.
fn branch_flags(flags: u64, endian: Endian) -> u64 {
    const WIDTHS: [u32; 10] = [1, 1, 1, 1, 16, 4, 2, 4, 3, 31];
    if endian == Endian::Little {
        return flags;
    }
    let mut low = 0;
    WIDTHS.iter().fold(0, |word, width| {
        let value = flags >> low & ((1 << width) - 1);
        low += width;
        word | value << (64 - low)
    })
}

/// `ABI:V,V`: the abi word, and the registers unless the abi is 0.
pub(super) fn registers(key: &str, line: &mut Line, out: &mut Bytes) -> Read<()> {
    let text = line.take(key).unwrap_or_else(|| "0".to_owned());
    let (abi, values) = text.split_once(':').unwrap_or((&text, ""));
    out.u64(number::number(abi)?);
    number::list(values)?
        .into_iter()
        .for_each(|value| out.u64(value));
    Ok(())
}

/// `HEX:DYN`: size, bytes and the size that was really copied; a size of 0 ends the field.
pub(super) fn stack(line: &mut Line, out: &mut Bytes) -> Read<()> {
    let text = line.take("stack_user").unwrap_or_default();
    let (bytes, copied) = text.split_once(':').unwrap_or((&text, ""));
    let bytes = number::hex(bytes)?;
    out.u64(bytes.len() as u64);
    if !bytes.is_empty() {
        out.raw(&bytes);
        out.u64(if copied.is_empty() {
            bytes.len() as u64
        } else {
            number::number(copied)?
        });
    }
    Ok(())
}

pub(super) fn aux(line: &mut Line, out: &mut Bytes) -> Read<()> {
    let bytes = number::hex(&line.take("aux").unwrap_or_default())?;
    out.u64(bytes.len() as u64);
    out.raw(&bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::CallchainContext;

    #[test]
    fn marker_names_are_the_markers() {
        let kernel = chain_word("kernel").unwrap();
        assert_eq!(
            CallchainContext::from_word(kernel),
            Some(CallchainContext::Kernel)
        );
        assert!(MARKERS.iter().all(|(_, word)| {
            !matches!(
                CallchainContext::from_word(*word as u64),
                None | Some(CallchainContext::Unknown(_))
            )
        }));
    }

    #[test]
    fn branch_flags_keep_their_values_when_turned() {
        let (predicted, cycles) = (1 << 1, 0x0102 << 4);
        assert_eq!(branch_flags(predicted | cycles, Endian::Little), 0x1022);
        assert_eq!(
            branch_flags(predicted | cycles, Endian::Big),
            1 << 62 | 0x0102 << 44
        );
    }
}
