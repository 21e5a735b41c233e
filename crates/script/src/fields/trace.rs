//! `trace`: a tracepoint's record as text.

use oxperf_present::script::FieldSet;
use oxperf_resolve::KernelNames;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::TRACE],
    write,
};

fn write(text: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    if let Some(raw) = view.trace() {
        let symbols = KernelNames::new(&text.names, view.machine.objects());
        text.formatters.format(raw, &symbols, out.buffer());
    }
}
