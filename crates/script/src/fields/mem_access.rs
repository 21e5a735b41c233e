//! `data_src`, `weight`, `ins_lat`, `retire_lat`: where data came from, and what that cost.

use oxperf_present::script::FieldSet;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[
        FieldSet::DATA_SRC,
        FieldSet::WEIGHT,
        FieldSet::INS_LAT,
        FieldSet::RETIRE_LAT,
    ],
    write,
};

fn write(text: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    text.access_columns
        .write_source(&view.access(), view.fields(), out.buffer());
}
