//! The text of locations, each rendered once: a line depends on the address and its mapping alone.

use oxperf_machine::Machine;
use oxperf_present::script::{FieldSet, Location};
use oxperf_present::visible::visible;
use oxperf_resolve::{FrameId, FrameTable, Names};

/// Rendered locations, one after another, found by frame.
#[derive(Debug, Default)]
pub(super) struct Lines {
    fields: FieldSet,
    text: Vec<u8>,
    /// Where each frame's text begins and ends; empty for one not rendered yet.
    spans: Vec<(usize, usize)>,
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

    /// The text of a frame.
    #[inline]
    pub(super) fn get(
        &mut self,
        id: FrameId,
        frames: &FrameTable,
        names: &mut Names<'_>,
        machine: &Machine,
    ) -> &[u8] {
        let index = id.0 as usize;
        if self.spans.len() <= index {
            self.spans.resize(frames.len(), (0, 0));
        }
        if self.spans[index].1 == 0 {
            self.spans[index] = self.render(id, frames, names, machine);
        }
        let (start, end) = self.spans[index];
        &self.text[start..end]
    }

    #[cold]
    fn render(
        &mut self,
        id: FrameId,
        frames: &FrameTable,
        names: &mut Names<'_>,
        machine: &Machine,
    ) -> (usize, usize) {
        names.grow(machine);
        let frame = frames.get(id);
        let dso = frame.place.map(|place| machine.dso(place.dso));
        let dso = dso.map(|dso| visible(&dso.shown));
        let address = frame.place.map_or(frame.ip, |place| place.address);
        let name = frame.place.and_then(|place| names.name(machine, &place));
        let symbol = name.map(|name| (visible(name.text), address.wrapping_sub(name.start)));
        let location = Location {
            ip: frame.ip,
            symbol: symbol.as_ref().map(|(name, offset)| (name.as_ref(), *offset)),
            dso: dso.as_deref(),
        };
        let start = self.text.len();
        location.write(self.fields, &mut self.text);
        (start, self.text.len())
    }
}
