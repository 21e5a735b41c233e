//! `addr`: the data address, with its symbol and object where the event's addresses lie in mapped memory.

use oxperf_present::script::FieldSet;
use oxperf_present::text::number::push_hex;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::ADDR],
    write: write_data_address,
};

/// Appends the data address; of a branch, its target.
pub(crate) fn write_data_address(
    text: &mut TextContext<'_>,
    view: &SampleView<'_>,
    out: &mut ScriptOutput,
) {
    let address = view.sample().addr.unwrap_or(0);
    push_hex(out.buffer(), address, 16);
    text.push_data_location(view, address, out.buffer());
}
