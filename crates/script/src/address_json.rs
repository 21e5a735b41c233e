//! The names of addresses as keys of objects, rendered once each.

use oxperf_present::jsonl::{Items, PlaceName, write_name};
use oxperf_resolve::{DsoAddress, Name};

use crate::by_dso_address::ByDsoAddress;
use crate::name_lookup::NameLookup;

/// The names of addresses that objects have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct JsonlForm {
    /// Functions that were inlined.
    pub inlines: bool,
    /// Source lines.
    pub lines: bool,
}

/// The names of addresses as keys of objects, rendered once each.
#[derive(Debug, Default)]
pub(crate) struct AddressJson {
    form: JsonlForm,
    texts: Vec<u8>,
    /// For each address its names, the innermost first.
    known: ByDsoAddress<Known>,
    steps: Vec<(u32, u32)>,
}

/// The indexes of an address' names among the steps, and the name without inlined functions.
#[derive(Clone, Copy, Debug)]
struct Known {
    first: u32,
    count: u32,
    alone: (u32, u32),
}

impl AddressJson {
    /// Nothing is rendered yet.
    pub(crate) fn new(form: JsonlForm) -> AddressJson {
        AddressJson {
            form,
            ..AddressJson::default()
        }
    }

    /// The names that are rendered.
    pub(crate) fn form(&self) -> JsonlForm {
        self.form
    }

    /// The name of an address itself.
    pub(crate) fn alone(&mut self, place: Option<DsoAddress>, lookup: NameLookup<'_, '_>) -> &[u8] {
        let Some(place) = place else { return &[] };
        let known = self.known(place, lookup);
        self.text(known.alone)
    }

    /// Adds a call chain's entry: one frame, or one for each function that was inlined there and for the one that has the
    /// code.
    pub(crate) fn push_entry(
        &mut self,
        ip: u64,
        place: Option<DsoAddress>,
        lookup: NameLookup<'_, '_>,
        items: &mut Items<'_>,
    ) {
        let Some(place) = place else {
            return items.frame(ip, &[]);
        };
        let known = self.known(place, lookup);
        for step in known.first..known.first + known.count {
            items.frame(ip, self.text(self.steps[step as usize]));
        }
    }

    fn text(&self, span: (u32, u32)) -> &[u8] {
        let (start, end) = span;
        self.texts
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    #[inline]
    fn known(&mut self, place: DsoAddress, lookup: NameLookup<'_, '_>) -> Known {
        if let Some(known) = self.known.get(place) {
            return known;
        }
        let known = self.render(place, lookup);
        self.known.insert(place, known)
    }

    #[cold]
    fn render(&mut self, place: DsoAddress, lookup: NameLookup<'_, '_>) -> Known {
        let name = lookup.name(&place);
        let dso = Some(lookup.object(&place));
        let source = if self.form.lines {
            lookup.names.source(lookup.objects, place.dso)
        } else {
            None
        };
        let line = source.and_then(|source| source.line(place.address));
        let own = PlaceName {
            symbol: name.map(|name| name.text),
            offset: name.map(|name| place.address.wrapping_sub(name.start)),
            dso,
            inlined: false,
            line: line.as_ref().map(|line| (line.file.as_ref(), line.line)),
        };
        let alone = self.add(&own);
        let first = self.steps.len() as u32;
        match name.filter(|_| self.form.inlines) {
            Some(name) => self.render_steps(&own, &name, &place, lookup),
            None => self.steps.push(alone),
        }
        Known {
            first,
            count: self.steps.len() as u32 - first,
            alone,
        }
    }

    fn render_steps(
        &mut self,
        own: &PlaceName<'_>,
        name: &Name<'_>,
        place: &DsoAddress,
        lookup: NameLookup<'_, '_>,
    ) {
        for step in lookup.names.steps(lookup.objects, place, name) {
            let line = step.line.as_ref().filter(|_| self.form.lines);
            let line = line.map(|line| (line.file.as_ref(), line.line));
            let shown = match &step.inlined {
                Some(text) => PlaceName {
                    symbol: Some(text),
                    inlined: true,
                    line,
                    ..PlaceName::default()
                },
                None => PlaceName { line, ..*own },
            };
            let text = self.add(&shown);
            self.steps.push(text);
        }
    }

    fn add(&mut self, name: &PlaceName<'_>) -> (u32, u32) {
        let start = self.texts.len() as u32;
        write_name(name, &mut self.texts);
        (start, self.texts.len() as u32)
    }
}
