//! Symbols whose text is made later: those of many samples at a time.
//!
//! The fields of a sample are printed at its turn. Where the symbol of its address or its call chain belongs, a gap is
//! left, together with the mappings of that moment. A gap is filled from these, the text around it and the objects as
//! they were known by then; so it is done while the recording is read on: see
//! [`SymbolizerPool`](crate::symbolizer_pool::SymbolizerPool).

use std::sync::Arc;

use oxperf_abi::CpuMode;
use oxperf_machine::{Dso, Objects};
use oxperf_present::jsonl::Items;
use oxperf_present::text::number::push_hex;
use oxperf_resolve::{DsoAddress, MappingsId, MappingsTable, Names, Regions, SymbolSource};
use oxperf_symbols::SymbolTable;

use crate::address_cells::{push_address_cells, push_chain_cell};
use crate::address_json::{AddressJson, JsonlForm};
use crate::location_text::{LocationForm, LocationText};
use crate::name_lookup::NameLookup;
use crate::view::AddressContext;

/// The names that gaps are filled with.
#[derive(Clone)]
pub struct SymbolNames {
    /// The names.
    pub names: Arc<Names<'static>>,
    /// Chains end with these functions.
    pub last: Arc<[String]>,
}

impl SymbolNames {
    /// No names: for formats that show none.
    pub fn none() -> SymbolNames {
        SymbolNames {
            names: Arc::new(Names::new(NoSymbols)),
            last: [].into(),
        }
    }
}

/// A source without symbols.
struct NoSymbols;

impl SymbolSource for NoSymbols {
    fn table(&self, _: &Dso, _: &Objects) -> Option<Arc<SymbolTable>> {
        None
    }
}

/// Gaps in a text.
#[derive(Debug, Default)]
pub(crate) struct DeferredSymbols {
    list: Vec<Deferred>,
    /// The addresses of all gaps, one gap's after the other's.
    addresses: Vec<(CpuMode, u64)>,
    mappings: MappingsTable,
}

/// The form that an address or a call chain gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum DeferredForm {
    /// Text, each entry of a call chain in a line.
    Line(LocationForm),
    /// Keys of an object, or an array of objects.
    Object(JsonlForm),
    /// Values of a row.
    Row,
}

/// A gap.
#[derive(Clone, Copy, Debug)]
struct Deferred {
    /// Its offset in the text.
    at: usize,
    /// The end of its addresses among all.
    end: usize,
    mappings: MappingsId,
    form: DeferredForm,
    is_chain: bool,
}

impl DeferredSymbols {
    /// Leaves a gap at an offset of the text, behind all others, for the symbol of one address.
    pub(crate) fn defer_address(
        &mut self,
        at: usize,
        form: DeferredForm,
        context: AddressContext<'_>,
        address: (CpuMode, u64),
    ) {
        self.addresses.push(address);
        self.defer(at, form, context, false);
    }

    /// Leaves a gap at an offset of the text, behind all others, for the entries of a call chain.
    pub(crate) fn defer_chain(
        &mut self,
        at: usize,
        form: DeferredForm,
        context: AddressContext<'_>,
        chain: &[(CpuMode, u64)],
    ) {
        self.addresses.extend_from_slice(chain);
        self.defer(at, form, context, true);
    }

    fn defer(
        &mut self,
        at: usize,
        form: DeferredForm,
        context: AddressContext<'_>,
        is_chain: bool,
    ) {
        let mappings = self.mappings.keep(context.machine, context.thread);
        self.list.push(Deferred {
            at,
            end: self.addresses.len(),
            mappings,
            form,
            is_chain,
        });
    }

    /// `true` without gaps.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The offset of the first gap.
    pub(crate) fn first(&self) -> Option<usize> {
        self.list.first().map(|gap| gap.at)
    }

    /// `true` where they are to be filled now, however few they are.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.mappings.is_full()
    }

    /// The amount of work: addresses and gaps.
    #[inline]
    pub(crate) fn work(&self) -> usize {
        self.addresses.len() + self.list.len()
    }

    /// Forgets all gaps.
    pub(crate) fn clear(&mut self) {
        self.list.clear();
        self.addresses.clear();
        self.mappings.clear();
    }
}

/// Fills gaps; keeps the text of addresses that it has met.
pub(crate) struct Renderer {
    names: SymbolNames,
    regions: Regions,
    rendered: RenderedAddresses,
}

impl Renderer {
    /// Knows nothing yet.
    pub(crate) fn new(names: SymbolNames) -> Renderer {
        Renderer {
            names,
            regions: Regions::default(),
            rendered: RenderedAddresses::default(),
        }
    }

    /// The names that it fills gaps with.
    pub(crate) fn names(&self) -> &SymbolNames {
        &self.names
    }

    /// Appends a text with all of its gaps filled.
    pub(crate) fn fill(
        &mut self,
        symbols: &DeferredSymbols,
        text: TextPart<'_>,
        objects: &Objects,
        out: &mut Vec<u8>,
    ) {
        let Renderer {
            names: SymbolNames { names, last },
            regions,
            rendered,
        } = self;
        let lookup = NameLookup { names, objects };
        let (mut copied, mut first) = (text.offset, 0);
        for gap in &symbols.list {
            out.extend_from_slice(text.between(copied, gap.at));
            copied = gap.at;
            let mappings = symbols.mappings.get(gap.mappings);
            let addresses = symbols.addresses[first..gap.end].iter();
            let mut located =
                addresses.map(|(mode, ip)| (*ip, regions.locate(mappings, *mode, *ip)));
            first = gap.end;
            if gap.is_chain {
                rendered.write_chain(gap.form, &mut located, lookup, last, out);
            } else if let Some(located) = located.next() {
                rendered.write_address(gap.form, located, lookup, out);
            }
        }
        out.extend_from_slice(&text.bytes[copied - text.offset..]);
    }
}

/// A text, or the end of one.
#[derive(Clone, Copy)]
pub(crate) struct TextPart<'t> {
    pub(crate) bytes: &'t [u8],
    /// The offset of its beginning in the whole, as gaps count.
    pub(crate) offset: usize,
}

impl<'t> TextPart<'t> {
    /// The bytes from one offset in the whole to another.
    fn between(&self, from: usize, to: usize) -> &'t [u8] {
        &self.bytes[from - self.offset..to - self.offset]
    }
}

/// An address, and the object and offset that are mapped there.
type Located = (u64, Option<DsoAddress>);

/// The text of addresses, as far as it was asked for.
#[derive(Default)]
struct RenderedAddresses {
    locations: Vec<LocationText>,
    json: AddressJson,
}

impl RenderedAddresses {
    /// The locations of a form, made at its first use.
    fn locations(&mut self, form: LocationForm) -> &mut LocationText {
        let known = self
            .locations
            .iter()
            .position(|locations| locations.form() == form)
            .unwrap_or_else(|| {
                self.locations.push(LocationText::new(form));
                self.locations.len() - 1
            });
        &mut self.locations[known]
    }

    /// The names in objects of JSON, which all have one form.
    fn json(&mut self, form: JsonlForm) -> &mut AddressJson {
        if self.json.form() != form {
            self.json = AddressJson::new(form);
        }
        &mut self.json
    }

    fn write_address(
        &mut self,
        form: DeferredForm,
        (ip, address): Located,
        lookup: NameLookup<'_, '_>,
        out: &mut Vec<u8>,
    ) {
        match form {
            DeferredForm::Line(form) => {
                let locations = self.locations(form);
                out.push(b' ');
                if locations.names_anything() {
                    locations.push(ip, address, lookup, out);
                } else {
                    push_hex(out, ip, 16);
                }
            }
            DeferredForm::Object(form) => {
                out.extend_from_slice(self.json(form).alone(address, lookup));
            }
            DeferredForm::Row => push_address_cells(address, lookup, out),
        }
    }

    fn write_chain(
        &mut self,
        form: DeferredForm,
        chain: &mut dyn Iterator<Item = Located>,
        lookup: NameLookup<'_, '_>,
        last: &[String],
        out: &mut Vec<u8>,
    ) {
        match form {
            DeferredForm::Line(form) => {
                write_lines(chain, self.locations(form), lookup, last, out);
            }
            DeferredForm::Object(form) => {
                let (names, mut items) = (self.json(form), Items::new(out));
                chain.for_each(|(ip, address)| names.push_entry(ip, address, lookup, &mut items));
            }
            DeferredForm::Row => push_chain_cell(chain, lookup, out),
        }
    }
}

/// Appends the lines of a call chain, up to the first function among `last`.
fn write_lines(
    chain: &mut dyn Iterator<Item = Located>,
    locations: &mut LocationText,
    lookup: NameLookup<'_, '_>,
    last: &[String],
    out: &mut Vec<u8>,
) {
    for (ip, address) in chain {
        locations.push_entry(ip, address, lookup, out);
        let is_last = || {
            let name = address.and_then(|address| lookup.name(&address));
            name.is_some_and(|name| last.iter().any(|last| last == name.text))
        };
        if !last.is_empty() && is_last() {
            break;
        }
    }
}
