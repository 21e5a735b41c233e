//! Places whose text is made later: those of many samples at a time.
//!
//! What a sample says of itself is printed at its turn. Where its address or call chain belongs a gap is left, and with it
//! is kept what was mapped at that moment. Whoever fills the gaps needs nothing but them, the text around them and the
//! objects as they were known by then; so it is done while the recording is read on: see [`super::crew`].

use std::sync::Arc;

use oxperf_abi::CpuMode;
use oxperf_machine::{Machine, Objects, ThreadId};
use oxperf_present::event_lines::Items;
use oxperf_present::text::number::push_hex;
use oxperf_resolve::{DsoAddress, MappingsId, MappingsTable, Names, Regions};

use super::csv;
use super::lines::{LineForm, Lines};
use super::objects::{ObjectForm, PlaceNames};

/// What gaps are filled by.
#[derive(Clone)]
pub(super) struct Naming {
    pub(super) names: Arc<Names<'static>>,
    /// Chains end with these functions.
    pub(super) last: Arc<[String]>,
}

/// Gaps in a text.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    list: Vec<Gap>,
    /// The addresses of all gaps, one gap's after the other's.
    addresses: Vec<(CpuMode, u64)>,
    mappings: MappingsTable,
}

/// What addresses become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GapForm {
    /// Text, each entry of a call chain in a line.
    Line(LineForm),
    /// Keys of an object, or an array of objects.
    Object(ObjectForm),
    /// Values of a row.
    Row,
}

/// A place in the text where addresses belong.
#[derive(Clone, Copy, Debug)]
struct Gap {
    at: usize,
    /// Where its addresses end.
    end: usize,
    mappings: MappingsId,
    form: GapForm,
    /// Whether it is a call chain.
    is_chain: bool,
}

impl Gaps {
    /// Leaves a gap at the end of the text for the place of one address.
    pub(super) fn leave_address(
        &mut self,
        (text, form): (&[u8], GapForm),
        (machine, thread): (&Machine, ThreadId),
        address: (CpuMode, u64),
    ) {
        self.addresses.push(address);
        self.leave((text, form, false), (machine, thread));
    }

    /// Leaves a gap at the end of the text for the lines of a call chain.
    pub(super) fn leave_chain(
        &mut self,
        (text, form): (&[u8], GapForm),
        (machine, thread): (&Machine, ThreadId),
        chain: &[(CpuMode, u64)],
    ) {
        self.addresses.extend_from_slice(chain);
        self.leave((text, form, true), (machine, thread));
    }

    fn leave(
        &mut self,
        (text, form, is_chain): (&[u8], GapForm, bool),
        (machine, thread): (&Machine, ThreadId),
    ) {
        let mappings = self.mappings.keep(machine, thread);
        let (at, end) = (text.len(), self.addresses.len());
        self.list.push(Gap {
            at,
            end,
            mappings,
            form,
            is_chain,
        });
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Where the first one is.
    pub(super) fn first(&self) -> Option<usize> {
        self.list.first().map(|gap| gap.at)
    }

    /// Whether they are to be filled now, however few they are.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.mappings.is_full()
    }

    /// How much there is to do: addresses and gaps.
    #[inline]
    pub(super) fn work(&self) -> usize {
        self.addresses.len() + self.list.len()
    }

    /// Forgets all gaps.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.addresses.clear();
        self.mappings.clear();
    }
}

/// Fills gaps, with what it has learned of places so far.
pub(super) struct Filler {
    naming: Naming,
    regions: Regions,
    rendered: Rendered,
}

impl Filler {
    /// Knows nothing yet.
    pub(super) fn new(naming: Naming) -> Filler {
        Filler {
            naming,
            regions: Regions::default(),
            rendered: Rendered::default(),
        }
    }

    /// What it fills gaps by.
    pub(super) fn naming(&self) -> &Naming {
        &self.naming
    }

    /// Appends a text with all of its gaps filled. `from` is where it begins among what the gaps count.
    pub(super) fn fill(
        &mut self,
        gaps: &Gaps,
        (text, from): (&[u8], usize),
        objects: &Objects,
        out: &mut Vec<u8>,
    ) {
        let (mut copied, mut first) = (from, 0);
        for gap in &gaps.list {
            out.extend_from_slice(&text[copied - from..gap.at - from]);
            copied = gap.at;
            self.fill_one(
                gap,
                (&gaps.addresses[first..gap.end], &gaps.mappings),
                objects,
                out,
            );
            first = gap.end;
        }
        out.extend_from_slice(&text[copied - from..]);
    }

    fn fill_one(
        &mut self,
        gap: &Gap,
        (addresses, mappings): (&[(CpuMode, u64)], &MappingsTable),
        objects: &Objects,
        out: &mut Vec<u8>,
    ) {
        let Filler {
            naming: Naming { names, last },
            regions,
            rendered,
        } = self;
        let mappings = mappings.get(gap.mappings);
        let mut located = addresses
            .iter()
            .map(|(mode, ip)| (*ip, regions.locate(mappings, *mode, *ip)));
        let names = (&**names, objects);
        if gap.is_chain {
            rendered.write_chain(gap.form, &mut located, names, last, out);
        } else if let Some(located) = located.next() {
            rendered.write_place(gap.form, located, names, out);
        }
    }
}

/// An address and where it lies.
type Located = (u64, Option<DsoAddress>);

/// The text of places, as far as it was asked for.
#[derive(Default)]
struct Rendered {
    lines: Vec<Lines>,
    objects: PlaceNames,
}

impl Rendered {
    /// The lines that have a form, made at its first use.
    fn lines(&mut self, form: LineForm) -> &mut Lines {
        let known = self
            .lines
            .iter()
            .position(|lines| lines.form() == form)
            .unwrap_or_else(|| {
                self.lines.push(Lines::new(form));
                self.lines.len() - 1
            });
        &mut self.lines[known]
    }

    /// The names of places in objects; all of them tell the same.
    fn objects(&mut self, form: ObjectForm) -> &mut PlaceNames {
        if self.objects.form() != form {
            self.objects = PlaceNames::new(form);
        }
        &mut self.objects
    }

    fn write_place(
        &mut self,
        form: GapForm,
        (ip, place): Located,
        names: (&Names<'_>, &Objects),
        out: &mut Vec<u8>,
    ) {
        match form {
            GapForm::Line(form) => {
                let lines = self.lines(form);
                out.push(b' ');
                match lines.names_anything() {
                    true => lines.push(ip, place, names, out),
                    false => push_hex(out, ip, 16),
                }
            }
            GapForm::Object(form) => out.extend_from_slice(self.objects(form).alone(place, names)),
            GapForm::Row => csv::push_place(place, names, out),
        }
    }

    fn write_chain(
        &mut self,
        form: GapForm,
        chain: &mut dyn Iterator<Item = Located>,
        names: (&Names<'_>, &Objects),
        last: &[String],
        out: &mut Vec<u8>,
    ) {
        match form {
            GapForm::Line(form) => write_lines(chain, self.lines(form), names, last, out),
            GapForm::Object(form) => {
                let (known, mut items) = (self.objects(form), Items::new(out));
                chain.for_each(|(ip, place)| known.push_entry(ip, place, names, &mut items));
            }
            GapForm::Row => csv::push_chain(chain, names, out),
        }
    }
}

fn write_lines(
    chain: &mut dyn Iterator<Item = Located>,
    lines: &mut Lines,
    (names, objects): (&Names<'_>, &Objects),
    last: &[String],
    out: &mut Vec<u8>,
) {
    for (ip, place) in chain {
        lines.push_entry(ip, place, (names, objects), out);
        let is_last = || {
            let name = place.and_then(|place| names.name(objects, &place));
            name.is_some_and(|name| last.iter().any(|last| last == name.text))
        };
        if !last.is_empty() && is_last() {
            break;
        }
    }
}
