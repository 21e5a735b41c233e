//! The fields of `-F` behind the head of a sample's line: a table, a file for each.

pub(crate) mod bpf_output;
pub(crate) mod branch_code;
pub(crate) mod branch_stack;
pub(crate) mod cgroup;
pub(crate) mod code;
pub(crate) mod data_address;
pub(crate) mod disassembly;
pub(crate) mod ipc;
pub(crate) mod location;
pub(crate) mod mem_access;
pub(crate) mod mem_pages;
pub(crate) mod registers;
pub(crate) mod source_text;
pub(crate) mod synth;
pub(crate) mod trace;

use oxperf_present::script::FieldSet;

use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::SampleView;

/// A part of a sample's line.
pub(crate) struct TextField {
    /// The fields that show it, each alone.
    pub(crate) fields: &'static [FieldSet],
    /// Appends it.
    pub(crate) write: fn(&mut TextContext<'_>, &SampleView<'_>, &mut ScriptOutput),
}

impl TextField {
    /// Whether any of its fields is shown.
    #[inline]
    pub(crate) fn is_shown(&self, shown: FieldSet) -> bool {
        self.fields.iter().any(|field| shown.contains(*field))
    }
}

/// All parts, in the order of the line.
pub(crate) const FIELDS: &[TextField] = &[
    trace::FIELD,
    synth::FIELD,
    data_address::FIELD,
    mem_access::FIELD,
    cgroup::FIELD,
    location::FIELD,
    registers::FIELD,
    branch_stack::FIELD,
    bpf_output::FIELD,
    code::FIELD,
    mem_pages::FIELD,
    ipc::FIELD,
];
