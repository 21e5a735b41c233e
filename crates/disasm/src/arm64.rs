//! 64-bit Arm: every instruction has four bytes, and one syntax.

use std::fmt::Write;

use yaxpeax_arch::{Arch, Decoder, U8Reader};
use yaxpeax_arm::armv8::a64::{ARMv8, Operand};

use crate::AddressNames;

/// Operands begin at a multiple of this.
const COLUMN: usize = 8;
/// Bytes of an instruction.
const LENGTH: usize = 4;

/// Writes instructions of 64-bit Arm as listings show them.
#[derive(Debug, Default)]
pub struct Arm64 {
    decoder: <ARMv8 as Arch>::Decoder,
}

impl Arm64 {
    /// Appends the instruction at the beginning of `code`, which lies at `address`, and returns its length; `None`, with
    /// nothing appended, if there is none.
    pub fn write(
        &self,
        code: &[u8],
        address: u64,
        names: &mut AddressNames<'_>,
        out: &mut String,
    ) -> Option<usize> {
        let instruction = self
            .decoder
            .decode(&mut U8Reader::new(code.get(..LENGTH)?))
            .ok()?;
        let start = out.len();
        write!(out, "{instruction}").ok()?;
        let distance = instruction
            .operands
            .iter()
            .find_map(|operand| match operand {
                Operand::PCOffset(distance) => Some(*distance),
                _ => None,
            });
        if let Some(distance) = distance {
            let target = target(&out[start..], address, distance);
            name_target(start, target, names, out);
        }
        if let Some(blank) = out[start..].find(' ') {
            let gap = COLUMN - blank % COLUMN;
            out.replace_range(start + blank..=start + blank, &" ".repeat(gap));
        }
        Some(LENGTH)
    }
}

/// `adrp` counts from the page, all else from the instruction.
fn target(text: &str, address: u64, distance: i64) -> u64 {
    let base = if text.starts_with("adrp") {
        address & !0xfff
    } else {
        address
    };
    base.wrapping_add_signed(distance)
}

/// Puts the address that is meant, with its name, in the place of the distance.
fn name_target(start: usize, target: u64, names: &mut AddressNames<'_>, out: &mut String) {
    let Some(at) = out[start..].find('$').map(|at| start + at) else {
        return;
    };
    let end = out[at..]
        .find([',', ' ', ']'])
        .map_or(out.len(), |end| at + end);
    let mut shown = format!("{target:x}");
    let mut name = String::new();
    if names(target, &mut name) {
        shown.push_str(&format!(" <{name}>"));
    }
    out.replace_range(at..end, &shown);
}
