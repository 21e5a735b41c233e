//! Calls for programs: an object a line. docs/commands.md describes the objects; [`VERSION`] counts their shapes.

use oxperf_analysis::calls::totals::FunctionTotal;
use oxperf_analysis::calls::{Amounts, CallEnd, Ended, Entry};

use super::{Caller, FunctionText, Summary};
use crate::json::object::{Object, null, object};

/// The shape of the objects. It grows by one when a key changes its meaning or goes; new keys may come without.
const VERSION: u32 = 1;

/// The kind of the lines between the first and the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// Calls.
    Calls,
    /// Functions.
    Functions,
}

/// The first line.
pub fn write_head(rows: Rows, out: &mut Vec<u8>) {
    line(out, |object| {
        object.number("oxperf_call_tree", VERSION);
        object.text(
            "rows",
            match rows {
                Rows::Calls => "calls",
                Rows::Functions => "functions",
            },
        );
    });
}

/// A call, when it has ended.
pub fn write_call(ended: &Ended, caller: &Caller<'_>, text: &FunctionText<'_>, out: &mut Vec<u8>) {
    let call = &ended.call;
    line(out, |object| {
        object.number("call", call.number);
        object.count("parent", call.parent);
        object.number("depth", call.depth);
        object.text("comm", caller.comm);
        object.number("pid", caller.pid);
        object.number("tid", caller.tid);
        name(text, object);
        object.count("entered", call.entered.map(|time| time.0));
        object.count("left", ended.left.map(|time| time.0));
        let timed = call.entered.is_some();
        object.count("duration", timed.then_some(ended.total.time));
        object.count("self_duration", timed.then_some(ended.own.time));
        counts(&ended.total, &ended.own, object);
        object.number("calls", ended.calls);
        object.text("begin", begin_word(call.entry));
        object.text("end", end_word(ended.end));
    });
}

/// A function with all its calls.
pub fn write_function(
    total: &FunctionTotal,
    text: &FunctionText<'_>,
    timed: bool,
    out: &mut Vec<u8>,
) {
    line(out, |object| {
        name(text, object);
        object.number("calls", total.calls);
        object.number("incomplete", total.incomplete);
        object.count("duration", timed.then_some(total.total.time));
        object.count("self_duration", timed.then_some(total.own.time));
        object.count("shortest", timed.then_some(total.shortest));
        object.count("longest", timed.then_some(total.longest));
        counts(&total.total, &total.own, object);
    });
}

/// The last line.
pub fn write_summary(sum: &Summary, out: &mut Vec<u8>) {
    line(out, |line| {
        line.key("summary", |out| {
            object(out, |object| {
                object.number("calls", sum.calls);
                object.number("instructions", sum.own.instructions);
                object.count("cycles", counted(&sum.own));
                object.number("begin_unseen", sum.begin_unseen);
                object.number("end_unseen", sum.end_unseen);
                object.number("gaps", sum.remarks.gaps);
                object.number("too_deep", sum.remarks.too_deep);
                object.number("unplaced_instructions", sum.remarks.unplaced);
                object.number("errors", sum.errors);
            });
        });
    });
}

fn line(out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
    object(out, fill);
    out.push(b'\n');
}

fn name(text: &FunctionText<'_>, object: &mut Object<'_>) {
    object.text("function", text.name);
    object.text("object", text.object);
}

fn counts(total: &Amounts, own: &Amounts, object: &mut Object<'_>) {
    object.number("instructions", total.instructions);
    object.number("self_instructions", own.instructions);
    object.count("cycles", counted(total));
    object.count("self_cycles", counted(own));
    object.key("ipc", |out| match super::Ipc(*total).to_string() {
        ipc if ipc.is_empty() => null(out),
        ipc => out.extend_from_slice(ipc.as_bytes()),
    });
}

fn counted(amounts: &Amounts) -> Option<u64> {
    Some(amounts.cycles).filter(|cycles| *cycles > 0)
}

fn begin_word(entry: Entry) -> &'static str {
    match entry {
        Entry::Called => "call",
        Entry::Jumped => "jump",
        Entry::Interrupted => "interrupt",
        Entry::Unseen => "unseen",
    }
}

fn end_word(end: CallEnd) -> &'static str {
    match end {
        CallEnd::Returned => "return",
        CallEnd::Jumped => "jump",
        CallEnd::Unwound => "unwound",
        CallEnd::Replaced => "exec",
        CallEnd::Exited => "exit",
        CallEnd::Lost => "lost",
        CallEnd::Open => "unseen",
    }
}
