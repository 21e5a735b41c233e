//! The fields of `-F` behind the head of a sample's line: a table, a file for each.

pub mod bpf_output;
pub mod branch_code;
pub mod branch_stack;
pub mod cgroup;
pub mod code;
pub mod data_address;
pub mod disassembly;
pub mod ipc;
pub mod location;
pub mod mem_access;
pub mod mem_pages;
pub mod registers;
pub mod source_text;
pub mod synth;
pub mod trace;

use oxperf_present::script::FieldSet;

use crate::format::text::TextFormat;
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// A part of a sample's line.
pub struct TextField {
    /// The fields that show it, each alone.
    pub fields: &'static [FieldSet],
    /// Appends it.
    pub write: fn(&mut TextFormat<'_>, &SampleView<'_>, &mut ScriptOutput),
}

impl TextField {
    /// Whether any of its fields is shown.
    #[inline]
    pub fn is_shown(&self, shown: FieldSet) -> bool {
        self.fields.iter().any(|field| shown.contains(*field))
    }
}

/// All parts, in the order of the line.
pub const FIELDS: &[TextField] = &[
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
