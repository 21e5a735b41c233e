//! The line of a branch: the function that it enters or leaves, where it comes from and where it goes.

use oxperf_present::script::FieldSet;
use oxperf_present::script::traced::write_flags;
use oxperf_present::text::number::push_hex;
use oxperf_present::text::sanitize;
use oxperf_session::SampleFlags;

use super::TextFormat;
use crate::fields::code;
use crate::fields::data_address::write_data_address;
use crate::fields::ipc::write_ipc_of;
use crate::fields::location::write_location;
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// The column where the text behind indented functions begins: it moves seldom, so that lines stay below each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct IndentColumn {
    /// Characters that every line has at least.
    column: usize,
}

impl IndentColumn {
    const STEP: usize = 32;

    /// The characters to fill a text of this length up to.
    fn fill(&mut self, length: usize) -> usize {
        if length > self.column || length != 0 && length + 52 < self.column {
            self.column = (length + 4).next_multiple_of(IndentColumn::STEP);
        }
        self.column
    }
}

impl TextFormat<'_> {
    /// Appends the flags, which have a column of their own when any event shows them.
    pub fn write_flags(&self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        if self.context.options.with_flags {
            write_flags(view.flags(), out);
        }
    }

    /// Appends the rest of the line of a branch.
    pub fn write_branch(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) {
        let fields = view.fields();
        if fields.contains(FieldSet::CALLINDENT) {
            self.write_indented(view, out.buffer());
        }
        if fields.contains(FieldSet::IP) {
            if view.chain.is_some() {
                write_location(&mut self.context, view, out);
            } else {
                out.buffer().push(b' ');
                self.context
                    .push_code_location(view, view.ip_or_zero(), out.buffer());
            }
        }
        if view.style.shows_target {
            out.buffer().extend_from_slice(b" => ");
            write_data_address(&mut self.context, view, out);
        }
        if fields.contains(FieldSet::IPC) {
            write_ipc_of(&mut self.context, view, out);
        }
        if code::FIELD.is_shown(fields) {
            (code::FIELD.write)(&mut self.context, view, out);
        }
    }

    /// Appends the function that is called or returned from, indented by how deep in calls the thread is.
    fn write_indented(&mut self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        let Some(traced) = view.traced() else { return };
        let fields = view.fields();
        let from_object = fields.contains(FieldSet::DSO)
            && !fields.contains(FieldSet::IP)
            && !fields.contains(FieldSet::ADDR);
        if from_object {
            self.write_object(view, out);
        }
        // A return has already left its function.
        let left = u32::from(traced.flags.contains(SampleFlags::RETURN));
        let indent = 4 * traced.depth.saturating_add(left) as usize;
        let start = out.len();
        if let Some(address) = view.entered_or_left() {
            self.write_function(view, address, indent, out);
        }
        let width = self.indent.fill(out.len() - start);
        out.resize(out.len().max(start + width), b' ');
    }

    /// Appends the object of the branching instruction.
    fn write_object(&self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        let located = view.context().locate(view.mode(), view.ip_or_zero());
        let name = located.map(|address| sanitize(&view.machine.dso(address.dso).shown));
        let name = name.as_deref().unwrap_or("[unknown]");
        let width = self.context.options.object_width;
        out.push(b'(');
        out.extend_from_slice(name.as_bytes());
        out.resize(out.len() + width.saturating_sub(name.chars().count()), b' ');
        out.extend_from_slice(b")\t");
    }

    fn write_function(
        &mut self,
        view: &SampleView<'_>,
        address: u64,
        indent: usize,
        out: &mut Vec<u8>,
    ) {
        let context = &mut self.context;
        let (mode, thread) = (view.mode_at(address), view.event.thread);
        let located = context
            .addresses
            .locate(view.machine, thread, mode, address);
        let name = located.and_then(|(_, located)| context.lookup(view.machine).name(&located));
        match name {
            Some(name) => {
                out.resize(out.len() + indent, b' ');
                out.extend_from_slice(sanitize(name.text).as_bytes());
            }
            None if address != 0 => {
                out.resize(out.len() + indent, b' ');
                push_hex(out, address, 16);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_moves_seldom() {
        let mut indent = IndentColumn::default();
        assert_eq!(
            [0, 10, 20, 33, 10, 0].map(|length| indent.fill(length)),
            [0, 32, 32, 64, 32, 32]
        );
        assert_eq!(
            [100, 60, 50].map(|length| indent.fill(length)),
            [128, 64, 64]
        );
    }
}
