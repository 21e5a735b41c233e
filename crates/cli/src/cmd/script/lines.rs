//! The text of locations: a line for each located address.

use oxperf_machine::Machine;
use oxperf_present::script::{FieldSet, Location};
use oxperf_present::visible::visible;
use oxperf_resolve::{FrameId, FrameTable, Names};

use crate::frame_texts::FrameTexts;

/// Rendered locations.
#[derive(Debug, Default)]
pub(super) struct Lines {
    fields: FieldSet,
    texts: FrameTexts,
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
        let fields = self.fields;
        self.texts.get(id, |out| render(id, fields, (frames, names, machine), out))
    }
}

#[cold]
fn render(
    id: FrameId,
    fields: FieldSet,
    (frames, names, machine): (&FrameTable, &mut Names<'_>, &Machine),
    out: &mut Vec<u8>,
) {
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
    location.write(fields, out);
}
