//! `ipc`: instructions per cycle, as hardware trace counts them.

use oxperf_present::script::FieldSet;
use oxperf_present::script::traced::write_ipc;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::IPC],
    write: write_ipc_of,
};

/// Appends the instructions per cycle up to a sample.
pub(crate) fn write_ipc_of(_: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    if let Some(traced) = view.traced() {
        write_ipc(traced, out.buffer());
    }
}
