//! `srccode`: the text of source lines between samples.

use oxperf_abi::CpuMode;
use oxperf_present::text::number::push_number;
use oxperf_present::text::sanitize;

use crate::text_context::TextContext;
use crate::view::AddressContext;

/// Appends the text of the source line of an address, unless the thread showed it last.
pub(crate) fn write_source_text(
    text: &mut TextContext<'_>,
    context: AddressContext<'_>,
    address: (CpuMode, u64),
    out: &mut Vec<u8>,
) {
    let (mode, ip) = address;
    let Some(located) = context.locate(mode, ip) else {
        return;
    };
    let source = text.names.source(context.machine.objects(), located.dso);
    let Some(line) = source.and_then(|source| source.line(located.address)) else {
        return;
    };
    if let Some(shown) = text.source_texts.next(context.thread, &line) {
        out.push(b'|');
        let start = out.len();
        push_number(out, u64::from(line.line), 1, b' ');
        out.resize(out.len().max(start + 8), b' ');
        out.push(b' ');
        push_source(&String::from_utf8_lossy(shown), out);
        out.push(b'\n');
    }
}

/// Appends a line of source text, with its tabs; what else would steer a terminal is spelled out.
fn push_source(line: &str, out: &mut Vec<u8>) {
    for (nth, part) in line.split('\t').enumerate() {
        if nth > 0 {
            out.push(b'\t');
        }
        out.extend_from_slice(sanitize(part).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_of_source_text_stay_and_other_controls_are_spelled_out() {
        let mut out = Vec::new();
        push_source("\t\tx += 1;\t\x1b[31m", &mut out);
        assert_eq!(out, b"\t\tx += 1;\t\\x1b[31m");
    }
}
