//! `ip`: the address of a sample with its symbol, or its call chain.

use std::io::Write;

use oxperf_abi::{Pid, Tid};
use oxperf_present::script::{FieldSet, SymbolLocation};
use oxperf_present::text::number::push_hex;
use oxperf_resolve::Chain;
use oxperf_wire::open_chain;

use super::TextField;
use crate::deferred_symbols::DeferredForm;
use crate::output::ScriptOutput;
use crate::text_context::TextContext;
use crate::view::{AddressContext, RecordView, SampleView};

pub(crate) const FIELD: TextField = TextField {
    fields: &[FieldSet::IP],
    write: write_location,
};

/// Appends the address of a sample with its symbol, or its call chain: symbols are looked up later, many at a time.
pub(crate) fn write_location(
    _: &mut TextContext<'_>,
    view: &SampleView<'_>,
    out: &mut ScriptOutput,
) {
    if let Some(chain) = &view.chain {
        return write_chain(view, chain, out);
    }
    let form = DeferredForm::Line(view.style.location);
    let address = (view.mode(), view.ip_or_zero());
    out.defer_address(form, view.context(), address);
}

fn write_chain(view: &SampleView<'_>, chain: &Chain<'_>, out: &mut ScriptOutput) {
    let form = view.style.location;
    out.buffer().push(b'\n');
    out.defer_chain(DeferredForm::Line(form), view.context(), chain.addresses);
    let out = out.buffer();
    let shows_end = view.fields().contains(FieldSet::UNWIND);
    if let Some(end) = chain.end.filter(|_| shows_end) {
        let _ = writeln!(out, "\t[stack: {end}]");
    }
    if let Some(cookie) = view.sample().callchain.and_then(open_chain) {
        let fields = form.fields.without(FieldSet::SYMOFF);
        out.push(b'\t');
        if fields.contains(FieldSet::IP) {
            push_hex(out, cookie, 16);
        }
        let location = SymbolLocation {
            symbol: Some(("(cookie)", 0)),
            dso: None,
        };
        location.write(fields, out);
        out.push(b'\n');
    }
}

/// Appends the user callers of samples, which came in a record of their own.
pub(crate) fn write_user_callers(view: &mut RecordView<'_>, out: &mut ScriptOutput) {
    let Some(chain) = view.chain else { return };
    let id = &view.event.id;
    let thread = view
        .machine
        .thread(id.pid.unwrap_or(Pid(-1)), id.tid.unwrap_or(Tid(-1)));
    let context = AddressContext {
        machine: view.machine,
        thread,
    };
    out.defer_chain(DeferredForm::Line(view.style.location), context, chain);
    out.buffer().push(b'\n');
}
