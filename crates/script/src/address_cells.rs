//! The cells of addresses and call chains in rows of values.

use std::fmt::Write;

use oxperf_present::jsonl::push_cell;
use oxperf_present::text::number::push_number;
use oxperf_resolve::DsoAddress;

use crate::name_lookup::NameLookup;

/// Appends the cells of an address: its symbol, the distance from there, and its object.
pub(crate) fn push_address_cells(
    place: Option<DsoAddress>,
    lookup: NameLookup<'_, '_>,
    out: &mut Vec<u8>,
) {
    let name = place.and_then(|place| lookup.name(&place));
    push_cell(out, name.map_or("", |name| name.text));
    out.push(b',');
    if let Some((name, place)) = name.zip(place) {
        push_number(out, place.address.wrapping_sub(name.start), 1, b' ');
    }
    out.push(b',');
    push_cell(out, place.map_or("", |place| lookup.object(&place)));
}

/// Appends the cell of a call chain.
pub(crate) fn push_chain_cell(
    chain: &mut dyn Iterator<Item = (u64, Option<DsoAddress>)>,
    lookup: NameLookup<'_, '_>,
    out: &mut Vec<u8>,
) {
    let mut text = String::new();
    for (ip, place) in chain {
        text.push_str(if text.is_empty() { "" } else { ";" });
        match place.and_then(|place| lookup.name(&place)) {
            Some(name) => text.push_str(name.text),
            // Writing to a string cannot fail.
            None => drop(write!(text, "{ip:#x}")),
        }
    }
    push_cell(out, &text);
}
