//! `bpf-output`: the bytes that a BPF program wrote into a sample.

use oxperf_present::script::{FieldSet, write_bpf_output};

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::BPF_OUTPUT],
    write,
};

fn write(_: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    if let Some(raw) = view.sample().raw.filter(|_| view.style.bpf_output) {
        write_bpf_output(raw, out.buffer());
    }
}
