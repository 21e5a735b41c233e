//! The text of places whose source lines or inlined functions are shown: rendered once for each place.

use oxperf_present::script::{FieldSet, SymbolLocation};
use oxperf_present::text::sanitize;
use oxperf_present::text::source_line::{push_line, push_unknown};
use oxperf_resolve::{DsoAddress, InlineStep, Name};
use oxperf_symbols::SourceLine;

use crate::dso_offset::push_dso_offset;
use crate::name_lookup::NameLookup;

/// The source lines and inlined functions that are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceOptions {
    /// Entries of call chains show the functions that were inlined there.
    pub inlines: bool,
    /// LocationText show the whole paths of their files.
    pub whole_paths: bool,
}

/// The text behind an address.
#[derive(Debug)]
pub struct SrclineText {
    /// Behind the address of a sample.
    pub alone: Box<[u8]>,
    /// Behind the address in each line of a call chain's entry.
    pub steps: Vec<Box<[u8]>>,
}

impl SourceOptions {
    /// Renders a place; `None` where neither a line is asked for nor anything was inlined.
    pub(crate) fn render(
        self,
        fields: FieldSet,
        place: &DsoAddress,
        name: Option<&Name<'_>>,
        lookup: NameLookup<'_, '_>,
    ) -> Option<SrclineText> {
        let named = name.filter(|_| self.inlines);
        let steps = named
            .map(|name| lookup.names.steps(lookup.objects, place, name))
            .unwrap_or_default();
        let plain = steps.len() < 2 && steps.iter().all(|step| step.inlined.is_none());
        if plain && !fields.contains(FieldSet::SRCLINE) {
            return None;
        }
        let line = lookup
            .names
            .source(lookup.objects, place.dso)
            .and_then(|source| source.line(place.address));
        let known = Rendering {
            sources: self,
            fields,
            place,
            name,
            lookup,
        };
        let own = [InlineStep {
            inlined: None,
            line,
        }];
        let steps = if plain { &own[..] } else { &steps };
        let steps = steps.iter().map(|step| known.step(step)).collect();
        Some(SrclineText {
            steps,
            alone: known.step(&own[0]),
        })
    }
}

/// A place that is being rendered.
struct Rendering<'r, 's> {
    sources: SourceOptions,
    fields: FieldSet,
    place: &'r DsoAddress,
    name: Option<&'r Name<'r>>,
    lookup: NameLookup<'r, 's>,
}

impl Rendering<'_, '_> {
    fn step(&self, step: &InlineStep) -> Box<[u8]> {
        let mut out = Vec::new();
        let text = step
            .inlined
            .as_deref()
            .or(self.name.map(|name| name.text))
            .map(sanitize);
        let offset = self
            .name
            .map_or(0, |name| self.place.address.wrapping_sub(name.start));
        let dso = sanitize(&self.lookup.objects.dso(self.place.dso).shown);
        let location = SymbolLocation {
            symbol: text.as_deref().map(|text| (text, offset)),
            dso: step.inlined.is_none().then_some(&dso),
        };
        let fields = match step.inlined {
            Some(_) => self.fields.without(FieldSet::DSO),
            None => self.fields,
        };
        location.write(fields, &mut out);
        push_dso_offset(fields, *self.place, self.lookup.objects, &mut out);
        if self.fields.contains(FieldSet::SRCLINE) {
            out.extend_from_slice(b"\n  ");
            self.push_source(step.line.as_ref(), &mut out);
        }
        if step.inlined.is_some() {
            out.extend_from_slice(b" (inlined)");
        }
        out.into()
    }

    fn push_source(&self, line: Option<&SourceLine>, out: &mut Vec<u8>) {
        match line {
            Some(line) => push_line(
                out,
                &sanitize(&line.file),
                line.line,
                self.sources.whole_paths,
            ),
            // As perf has it where the object's tools know the function and have no line.
            None if self
                .lookup
                .names
                .is_known_to_tools(self.lookup.objects, self.place) =>
            {
                out.extend_from_slice(b"??:0");
            }
            None => {
                let address = self
                    .lookup
                    .names
                    .object_address(self.lookup.objects, self.place);
                push_unknown(
                    out,
                    &sanitize(&self.lookup.objects.dso(self.place.dso).short_name),
                    address,
                );
            }
        }
    }
}
