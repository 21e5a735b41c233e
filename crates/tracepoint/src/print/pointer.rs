//! `%p` and the letters behind it: symbols, hardware and network addresses, UUIDs, masks.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::directive::{Layout, Pointer};
use super::eval::Record;
use super::expression::Expression;
use super::{number, text};
use crate::harmless;

/// Appends what `kind` makes of `value`.
pub(super) fn write(
    out: &mut Vec<u8>,
    kind: Pointer,
    layout: &Layout,
    value: &Expression,
    record: &Record<'_>,
) {
    match kind {
        Pointer::Address => address(out, record.number(value), layout),
        Pointer::Symbol { offset } => symbol(out, record.number(value), offset, record),
        Pointer::Mac {
            separator,
            reversed,
        } => mac(out, separator, reversed, record.data(value)),
        Pointer::Ipv4 { padded } => ipv4(out, padded, record.data(value)),
        Pointer::Ipv6 { short, colons } => ipv6(out, short, colons, record.data(value)),
        Pointer::Socket { short, port } => socket(out, short, port, record.data(value), record),
        Pointer::Uuid { upper, little } => uuid(out, upper, little, record.data(value)),
        Pointer::Bits { ranges } => bits(out, ranges, layout.width, value, record),
        Pointer::Bytes { separator } => bytes(
            out,
            separator,
            record.data_of_length(value, layout.width as u64),
        ),
    }
}

fn address(out: &mut Vec<u8>, address: u64, layout: &Layout) {
    let start = out.len();
    if address == 0 {
        out.extend_from_slice(b"(nil)");
    } else {
        out.extend_from_slice(b"0x");
        number::hex(out, address);
    }
    number::pad(out, start, layout);
}

fn symbol(out: &mut Vec<u8>, address: u64, with_offset: bool, record: &Record<'_>) {
    let Some(symbol) = record.symbols.symbol(address) else {
        out.extend_from_slice(b"0x");
        return number::hex(out, address);
    };
    harmless::append(out, symbol.name.as_bytes());
    if with_offset {
        out.extend_from_slice(b"+0x");
        number::hex(out, symbol.offset);
    }
}

/// The data as `N` bytes, if it has exactly so many.
fn exactly<const N: usize>(data: Option<&[u8]>) -> Option<[u8; N]> {
    data?.try_into().ok()
}

fn mac(out: &mut Vec<u8>, separator: Option<u8>, reversed: bool, data: Option<&[u8]>) {
    let Some(mut address) = exactly::<6>(data) else {
        return out.extend_from_slice(b"INVALIDMAC");
    };
    if reversed {
        address.reverse();
    }
    bytes(out, separator, &address);
}

fn bytes(out: &mut Vec<u8>, separator: Option<u8>, bytes: &[u8]) {
    for (place, &byte) in bytes.iter().enumerate() {
        if place > 0 {
            out.extend(separator);
        }
        number::hex_byte(out, byte);
    }
}

fn ipv4(out: &mut Vec<u8>, padded: bool, data: Option<&[u8]>) {
    let Some(octets) = exactly::<4>(data) else {
        return out.extend_from_slice(b"INVALIDIPv4");
    };
    let text = match padded {
        true => octets.map(|octet| format!("{octet:03}")).join("."),
        false => Ipv4Addr::from(octets).to_string(),
    };
    out.extend_from_slice(text.as_bytes());
}

fn ipv6(out: &mut Vec<u8>, short: bool, colons: bool, data: Option<&[u8]>) {
    let Some(octets) = exactly::<16>(data) else {
        return out.extend_from_slice(b"INVALIDIPv6");
    };
    if short && colons {
        return out.extend_from_slice(Ipv6Addr::from(octets).to_string().as_bytes());
    }
    for (place, pair) in octets.chunks(2).enumerate() {
        if colons && place > 0 {
            out.push(b':');
        }
        pair.iter().for_each(|&byte| number::hex_byte(out, byte));
    }
}

/// A socket address by its family: AF_INET (2) or AF_INET6 (10).
fn socket(out: &mut Vec<u8>, short: bool, port: bool, data: Option<&[u8]>, record: &Record<'_>) {
    let Some((family, rest)) = data.and_then(|data| data.split_at_checked(2)) else {
        return;
    };
    let number = rest
        .get(..2)
        .map_or(0, |port| u64::from(port[0]) << 8 | u64::from(port[1]));
    match record.order.unsigned(family) {
        Some(2) => ipv4(out, false, rest.get(2..6)),
        Some(10) => bracketed(out, port, |out| ipv6(out, short, true, rest.get(6..22))),
        _ => return,
    }
    if port {
        out.push(b':');
        number::decimal(out, number);
    }
}

fn bracketed(out: &mut Vec<u8>, brackets: bool, write: impl FnOnce(&mut Vec<u8>)) {
    if brackets {
        out.push(b'[');
    }
    write(out);
    if brackets {
        out.push(b']');
    }
}

fn uuid(out: &mut Vec<u8>, upper: bool, little: bool, data: Option<&[u8]>) {
    const BIG: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    const LITTLE: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let Some(octets) = exactly::<16>(data) else {
        return out.extend_from_slice(b"INVALIDUUID");
    };
    let start = out.len();
    for (place, index) in (if little { LITTLE } else { BIG }).into_iter().enumerate() {
        if let 4 | 6 | 8 | 10 = place {
            out.push(b'-');
        }
        number::hex_byte(out, octets[index]);
    }
    if upper {
        out.iter_mut()
            .skip(start)
            .for_each(u8::make_ascii_uppercase);
    }
}

fn bits(out: &mut Vec<u8>, ranges: bool, count: usize, value: &Expression, record: &Record<'_>) {
    let data = record.data(value).unwrap_or_default();
    let used = data.get(..count.div_ceil(8)).unwrap_or(data);
    if ranges {
        text::bit_ranges(out, used, record)
    } else {
        text::bit_words(out, used, record)
    }
}
