//! `phys_addr`, `data_page_size`, `code_page_size`: the pages of an access.

use oxperf_present::script::FieldSet;

use super::TextField;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

pub(crate) const FIELD: TextField = TextField {
    fields: &[
        FieldSet::PHYS_ADDR,
        FieldSet::DATA_PAGE_SIZE,
        FieldSet::CODE_PAGE_SIZE,
    ],
    write,
};

fn write(_: &mut TextContext<'_>, view: &SampleView<'_>, out: &mut ScriptOutput) {
    view.access().write_pages(view.fields(), out.buffer());
}
