//! The text of locations: an address, then what it is called. Names and objects are rendered once and copied; what a
//! place adds is its distance from the symbol's start.

use oxperf_machine::{DsoId, DsoKind, Objects};
use oxperf_present::script::{FieldSet, Location};
use oxperf_present::text::number::{hex, push_hex};
use oxperf_present::text::sanitize;
use oxperf_resolve::{DsoAddress, Name, Names};
use rustc_hash::FxHashMap;

use super::by_place::ByPlace;
use super::sourced::{Sourced, Sourcing};
use crate::texts::Texts;

/// How locations look.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct LineForm {
    /// The parts that are rendered.
    pub(super) fields: FieldSet,
    /// What is shown of sources.
    pub(super) sourcing: Sourcing,
}

/// Locations with some of their parts.
#[derive(Debug, Default)]
pub(super) struct Lines {
    form: LineForm,
    /// What the places that were asked for are called.
    known: ByPlace<Known>,
    symbols: FxHashMap<(DsoId, u64), u32>,
    names: Texts,
    dsos: Texts,
    sources: Vec<Sourced>,
    /// The line of a call chain for an address where nothing is mapped; the address is to be put into it.
    nowhere: Vec<u8>,
}

/// What a place is called.
#[derive(Clone, Copy, Debug)]
enum Known {
    Nothing,
    /// The number of its symbol's text, and how far it is from the symbol's start.
    Symbol(u32, u64),
    /// The number of its text where its source is shown.
    Sourced(u32),
}

/// Whether places in an object are told by their distance from its start: not in the kernel, as in perf.
fn has_offsets(kind: DsoKind) -> bool {
    !matches!(
        kind,
        DsoKind::Kernel
            | DsoKind::Module
            | DsoKind::GuestKernel(_)
            | DsoKind::GuestModule(_)
            | DsoKind::KernelSymbol
    )
}

/// Puts the place in the object into the brackets around its name, which were written last, where it is asked for.
#[inline]
pub(super) fn push_dso_offset(
    fields: FieldSet,
    place: DsoAddress,
    objects: &Objects,
    out: &mut Vec<u8>,
) {
    if fields.contains(FieldSet::DSO | FieldSet::DSOFF)
        && has_offsets(objects.dso(place.dso).kind)
        && out.last() == Some(&b')')
    {
        out.pop();
        out.extend_from_slice(b"+0x");
        push_hex(out, place.address, 1);
        out.push(b')');
    }
}

impl Lines {
    /// Nothing is rendered yet.
    pub(super) fn new(form: LineForm) -> Lines {
        let mut nowhere = b"\t".to_vec();
        if form.fields.contains(FieldSet::IP) {
            nowhere.extend_from_slice(&hex(0));
        }
        Location::default().write(form.fields, &mut nowhere);
        nowhere.push(b'\n');
        Lines {
            form,
            nowhere,
            ..Lines::default()
        }
    }

    /// How locations look.
    #[inline]
    pub(super) fn form(&self) -> LineForm {
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

    /// Whether anything but the address is rendered.
    #[inline]
    pub(super) fn names_anything(&self) -> bool {
        self.form.fields.without(FieldSet::IP | FieldSet::SYMOFF) != FieldSet::EMPTY
            || self.form.sourcing.inlines
    }

    /// Appends an address and what is known of its place.
    #[inline]
    pub(super) fn push(
        &mut self,
        ip: u64,
        place: Option<DsoAddress>,
        (names, objects): (&Names<'_>, &Objects),
        out: &mut Vec<u8>,
    ) {
        let fields = self.form.fields;
        if fields.contains(FieldSet::IP) {
            push_hex(out, ip, 16);
        }
        let Some(place) = place else {
            return Location::default().write(fields, out);
        };
        match self.known(place, names, objects) {
            Known::Sourced(source) => out.extend_from_slice(&self.sources[source as usize].alone),
            known => self.push_known(place, known, objects, out),
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
            _ => Location::default().write(self.part(FieldSet::SYM), out),
        }
        out.extend_from_slice(self.dsos.known(place.dso.0));
        push_dso_offset(fields, place, objects, out);
    }

    /// Appends the lines of a call chain's entry: one, or one for each function that was inlined there and for the one
    /// that has the code.
    #[inline]
    pub(super) fn push_entry(
        &mut self,
        ip: u64,
        place: Option<DsoAddress>,
        (names, objects): (&Names<'_>, &Objects),
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
        match self.known(place, names, objects) {
            Known::Sourced(source) => {
                for step in &self.sources[source as usize].steps {
                    push_ip(out);
                    out.extend_from_slice(step);
                    out.push(b'\n');
                }
            }
            known => {
                push_ip(out);
                self.push_known(place, known, objects, out);
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
    fn known(&mut self, place: DsoAddress, names: &Names<'_>, objects: &Objects) -> Known {
        if let Some(known) = self.known.get(place) {
            return known;
        }
        let known = self.look_up(place, names, objects);
        self.known.insert(place, known)
    }

    #[cold]
    fn look_up(&mut self, place: DsoAddress, names: &Names<'_>, objects: &Objects) -> Known {
        let fields = self.part(FieldSet::DSO);
        self.dsos.get(place.dso.0, |out| {
            let dso = sanitize(&objects.dso(place.dso).shown);
            Location {
                symbol: None,
                dso: Some(&dso),
            }
            .write(fields, out);
        });
        let name = names.name(objects, &place);
        if let Some(sourced) =
            self.form
                .sourcing
                .render(self.form.fields, &place, name.as_ref(), (names, objects))
        {
            self.sources.push(sourced);
            return Known::Sourced(self.sources.len() as u32 - 1);
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
            Location {
                symbol: Some((&sanitize(name.text), 0)),
                dso: None,
            }
            .write(FieldSet::SYM, out);
        });
        number
    }
}
