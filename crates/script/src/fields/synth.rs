//! `synth`: the values of an event that was made of hardware trace and is no place of code alone.

use oxperf_present::script::FieldSet;
use oxperf_present::script::traced::write_payload;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::SYNTH],
    write,
};

fn write(_: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    if let Some(payload) = view.traced().and_then(|traced| traced.payload.as_ref()) {
        write_payload(payload, out.buffer());
    }
}
