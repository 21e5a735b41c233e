//! The text of locations: an address, then what it is called. Names and objects are rendered once and copied; what a
//! place adds is its distance from the symbol's start.

use oxperf_machine::{DsoId, Objects};
use oxperf_present::script::{FieldSet, SymbolLocation};
use oxperf_present::text::number::{hex, push_hex};
use oxperf_present::text::sanitize;
use oxperf_resolve::{DsoAddress, Name};
use rustc_hash::FxHashMap;

use crate::by_dso_address::ByDsoAddress;
use crate::dso_offset::push_dso_offset;
use crate::name_lookup::NameLookup;
use crate::srcline_text::{SourceOptions, SrclineText};
use crate::text_arena::TextArena;

/// The form of locations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct LocationForm {
    /// The parts that are rendered.
    pub(crate) fields: FieldSet,
    /// The source lines and inlined functions that are shown.
    pub(crate) sources: SourceOptions,
}

/// Locations with some of their parts.
#[derive(Debug, Default)]
pub(crate) struct LocationText {
    form: LocationForm,
    /// The names of the addresses that were asked for.
    known: ByDsoAddress<Known>,
    symbols: FxHashMap<(DsoId, u64), u32>,
    names: TextArena,
    dsos: TextArena,
    with_source: Vec<SrclineText>,
    /// The line of a call chain for an address where nothing is mapped; the address is to be put into it.
    nowhere: Vec<u8>,
}

/// The name of an address.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    /// The number of its symbol's text, and how far it is from the symbol's start.
    Symbol(u32, u64),
    /// The number of its text where its source is shown.
    SrclineText(u32),
}

impl LocationText {
    /// Nothing is rendered yet.
    pub(crate) fn new(form: LocationForm) -> LocationText {
        let mut nowhere = b"\t".to_vec();
        if form.fields.contains(FieldSet::IP) {
            nowhere.extend_from_slice(&hex(0));
        }
        SymbolLocation::default().write(form.fields, &mut nowhere);
        nowhere.push(b'\n');
        LocationText {
            form,
            nowhere,
            ..LocationText::default()
        }
    }

    /// The form of locations.
    #[inline]
    pub(crate) fn form(&self) -> LocationForm {
        self.form
    }

    /// One field, if it is rendered.
    fn part(&self, field: FieldSet) -> FieldSet {
        if self.form.fields.contains(field) {
            field
        } else {
            FieldSet::EMPTY
        }
    }

    /// `true` where anything but the address is rendered.
    #[inline]
    pub(crate) fn names_anything(&self) -> bool {
        self.form.fields.without(FieldSet::IP | FieldSet::SYMOFF) != FieldSet::EMPTY
            || self.form.sources.inlines
    }

    /// Appends an address and its names.
    #[inline]
    pub(crate) fn push(
        &mut self,
        ip: u64,
        place: Option<DsoAddress>,
        lookup: NameLookup<'_, '_>,
        out: &mut Vec<u8>,
    ) {
        let fields = self.form.fields;
        if fields.contains(FieldSet::IP) {
            push_hex(out, ip, 16);
        }
        let Some(place) = place else {
            return SymbolLocation::default().write(fields, out);
        };
        match self.known(place, lookup) {
            Known::SrclineText(source) => {
                out.extend_from_slice(&self.with_source[source as usize].alone)
            }
            known => self.push_known(place, known, lookup.objects, out),
        }
    }

    /// Appends the names of a place without a source.
    #[inline]
    fn push_known(&self, place: DsoAddress, known: Known, objects: &Objects, out: &mut Vec<u8>) {
        let fields = self.form.fields;
        match known {
            Known::Symbol(symbol, offset) if fields.contains(FieldSet::SYM) => {
                out.extend_from_slice(self.names.known(symbol));
                if fields.contains(FieldSet::SYMOFF) {
                    out.extend_from_slice(b"+0x");
                    push_hex(out, offset, 1);
                }
            }
            _ => SymbolLocation::default().write(self.part(FieldSet::SYM), out),
        }
        out.extend_from_slice(self.dsos.known(place.dso.0));
        push_dso_offset(fields, place, objects, out);
    }

    /// Appends the lines of a call chain's entry: one, or one for each function that was inlined there and for the one
    /// that has the code.
    #[inline]
    pub(crate) fn push_entry(
        &mut self,
        ip: u64,
        place: Option<DsoAddress>,
        lookup: NameLookup<'_, '_>,
        out: &mut Vec<u8>,
    ) {
        let Some(place) = place else {
            return self.push_nowhere(ip, out);
        };
        let shows_ip = self.form.fields.contains(FieldSet::IP);
        let push_ip = |out: &mut Vec<u8>| {
            out.push(b'\t');
            if shows_ip {
                out.extend_from_slice(&hex(ip));
            }
        };
        match self.known(place, lookup) {
            Known::SrclineText(source) => {
                for step in &self.with_source[source as usize].steps {
                    push_ip(out);
                    out.extend_from_slice(step);
                    out.push(b'\n');
                }
            }
            known => {
                push_ip(out);
                self.push_known(place, known, lookup.objects, out);
                out.push(b'\n');
            }
        }
    }

    #[inline]
    fn push_nowhere(&self, ip: u64, out: &mut Vec<u8>) {
        let address = out.len() + 1;
        out.extend_from_slice(&self.nowhere);
        if self.form.fields.contains(FieldSet::IP) {
            out[address..address + 16].copy_from_slice(&hex(ip));
        }
    }

    #[inline]
    fn known(&mut self, place: DsoAddress, lookup: NameLookup<'_, '_>) -> Known {
        if let Some(known) = self.known.get(place) {
            return known;
        }
        let known = self.look_up(place, lookup);
        self.known.insert(place, known)
    }

    #[cold]
    fn look_up(&mut self, place: DsoAddress, lookup: NameLookup<'_, '_>) -> Known {
        let fields = self.part(FieldSet::DSO);
        self.dsos.get(place.dso.0, |out| {
            let dso = sanitize(lookup.object(&place));
            SymbolLocation {
                symbol: None,
                dso: Some(&dso),
            }
            .write(fields, out);
        });
        let name = lookup.name(&place);
        if let Some(sourced) =
            self.form
                .sources
                .render(self.form.fields, &place, name.as_ref(), lookup)
        {
            self.with_source.push(sourced);
            return Known::SrclineText(self.with_source.len() as u32 - 1);
        }
        name.map_or(Known::Nothing, |name| {
            let offset = place.address.wrapping_sub(name.start);
            Known::Symbol(self.symbol(place.dso, &name), offset)
        })
    }

    /// The number of a symbol's text.
    fn symbol(&mut self, dso: DsoId, name: &Name<'_>) -> u32 {
        let next = self.symbols.len() as u32;
        let number = *self.symbols.entry((dso, name.start)).or_insert(next);
        self.names.get(number, |out| {
            SymbolLocation {
                symbol: Some((&sanitize(name.text), 0)),
                dso: None,
            }
            .write(FieldSet::SYM, out);
        });
        number
    }
}
