//! The text of locations: an address, then what it is called. Only the address is written anew each time; the rest
//! depends on the place alone, is rendered once and copied.

use oxperf_machine::Machine;
use oxperf_present::script::{FieldSet, Location, push_hex};
use oxperf_present::visible::visible;
use oxperf_resolve::{Names, Place, PlaceId};

use crate::texts::Texts;

/// Rendered names of places.
#[derive(Debug, Default)]
pub(super) struct Lines {
    fields: FieldSet,
    texts: Texts,
}

impl Lines {
    /// Renders the parts of a location that `fields` asks for.
    pub(super) fn new(fields: FieldSet) -> Lines {
        Lines { fields, ..Lines::default() }
    }

    /// The fields that are rendered.
    pub(super) fn fields(&self) -> FieldSet {
        self.fields
    }

    /// Appends an address and what is known of its place.
    #[inline]
    pub(super) fn push(
        &mut self,
        ip: u64,
        place: Option<(PlaceId, Place)>,
        (names, machine): (&mut Names<'_>, &Machine),
        out: &mut Vec<u8>,
    ) {
        let fields = self.fields;
        if fields.contains(FieldSet::IP) {
            push_hex(out, ip, 16);
        }
        match place {
            Some((id, place)) => {
                let text = self.texts.get(id.0, |text| render(place, fields, names, machine, text));
                out.extend_from_slice(text);
            }
            None => Location::default().write(fields, out),
        }
    }
}

#[cold]
fn render(place: Place, fields: FieldSet, names: &mut Names<'_>, machine: &Machine, out: &mut Vec<u8>) {
    names.grow(machine);
    let dso = visible(&machine.dso(place.dso).shown);
    let name = names.name(machine, &place);
    let symbol = name.map(|name| (visible(name.text), place.address.wrapping_sub(name.start)));
    let symbol = symbol.as_ref().map(|(name, offset)| (name.as_ref(), *offset));
    Location { symbol, dso: Some(&dso) }.write(fields, out);
}
