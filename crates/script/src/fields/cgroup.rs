//! `cgroup`: the path of a sample's cgroup, as records name it.

use oxperf_present::script::FieldSet;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::CGROUP],
    write,
};

fn write(text: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    let Some(id) = view.sample().cgroup else {
        return;
    };
    let path = text.cgroups.path(id).unwrap_or("unknown");
    out.buffer().push(b' ');
    out.buffer().extend_from_slice(path.as_bytes());
}
