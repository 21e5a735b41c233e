//! Events as lines of JSON: one object each, what `docs/jsonl.md` calls `oxperf-events`.
//!
//! Values come in and bytes go out into the caller's buffer, so that a recording of any size streams through. What a
//! place is called is rendered once by [`write_name`] and copied into every event that was there.

use oxperf_abi::{BranchEntry, CpuMode};

use crate::json::string;
use crate::text::number::{push_hex, push_number};
use crate::text::sanitize;

/// The name of the lines' format, and its version: a new one where a key changes its meaning.
pub const FORMAT: (&str, u32) = ("oxperf-events", 1);

/// An object that stays on one line.
pub struct EventLine<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> EventLine<'o> {
    /// Begins an object of a type.
    pub fn begin(kind: &str, out: &'o mut Vec<u8>) -> EventLine<'o> {
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind.as_bytes());
        out.push(b'"');
        EventLine { out }
    }

    /// Ends it, and the line.
    pub fn end(self) {
        self.out.extend_from_slice(b"}\n");
    }

    /// The text before the next item.
    pub fn written(&self) -> &[u8] {
        self.out
    }

    fn key(&mut self, name: &str) -> &mut Vec<u8> {
        self.out.push(b',');
        string::write(name, self.out);
        self.out.push(b':');
        self.out
    }

    /// Adds a text.
    pub fn text(&mut self, name: &str, text: &str) {
        string::write(text, self.key(name));
    }

    /// Adds a number.
    pub fn number(&mut self, name: &str, number: u64) {
        push_number(self.key(name), number, 1, b' ');
    }

    /// Adds a number that may be below zero.
    pub fn signed(&mut self, name: &str, number: i64) {
        push_signed(self.key(name), number);
    }

    /// Adds an address or a word of flags, as a text in hexadecimal: numbers of 64 bits are not safe in JSON.
    #[inline]
    pub fn address(&mut self, name: &str, address: u64) {
        push_address(self.key(name), address);
    }

    /// Adds what a place is called, as [`write_name`] has rendered it.
    #[inline]
    pub fn name(&mut self, name: &[u8]) {
        self.out.extend_from_slice(name);
    }

    /// Adds an array whose items `fill` appends, each through [`Items`].
    pub fn array(&mut self, name: &str, fill: impl FnOnce(&mut Items<'_>)) {
        self.key(name).push(b'[');
        fill(&mut Items::new(self.out));
        self.out.push(b']');
    }

    /// Adds an object whose keys `fill` adds.
    pub fn object(&mut self, name: &str, fill: impl FnOnce(&mut EventLine<'_>)) {
        fields(self.key(name), fill);
    }
}

/// An array on its way out.
pub struct Items<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> Items<'o> {
    /// The items of an array that has none yet, to be appended to a text.
    pub fn new(out: &'o mut Vec<u8>) -> Items<'o> {
        Items {
            out,
            is_empty: true,
        }
    }

    /// The text before the next item.
    pub fn written(&self) -> &[u8] {
        self.out
    }

    fn next(&mut self) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(b',');
        }
        self.out
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        string::write(text, self.next());
    }

    /// Adds an entry of a call chain: its address, and what [`write_name`] has rendered.
    #[inline]
    pub fn frame(&mut self, ip: u64, name: &[u8]) {
        let out = self.next();
        out.extend_from_slice(b"{\"ip\":");
        push_address(out, ip);
        out.extend_from_slice(name);
        out.push(b'}');
    }

    /// Adds a branch, with what both of its ends are called.
    pub fn branch(&mut self, entry: &BranchEntry, from: &[u8], to: &[u8]) {
        let out = self.next();
        for (key, address, name) in [
            ("{\"from\":{\"ip\":", entry.from, from),
            (",\"to\":{\"ip\":", entry.to, to),
        ] {
            out.extend_from_slice(key.as_bytes());
            push_address(out, address);
            out.extend_from_slice(name);
            out.push(b'}');
        }
        for (bit, name) in ["mispredicted", "predicted", "in_tx", "abort"]
            .into_iter()
            .enumerate()
        {
            if entry.flags >> bit & 1 != 0 {
                out.extend_from_slice(b",\"");
                out.extend_from_slice(name.as_bytes());
                out.extend_from_slice(b"\":true");
            }
        }
        out.extend_from_slice(b",\"cycles\":");
        push_number(out, entry.flags >> 4 & 0xffff, 1, b' ');
        out.push(b'}');
    }

    /// Adds an object whose keys `fill` adds.
    pub fn object(&mut self, fill: impl FnOnce(&mut EventLine<'_>)) {
        fields(self.next(), fill);
    }
}

/// The names of an address.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlaceName<'a> {
    /// The symbol around it, or the function that was inlined there.
    pub symbol: Option<&'a str>,
    /// Bytes from the symbol's start.
    pub offset: Option<u64>,
    /// The object that is mapped there.
    pub dso: Option<&'a str>,
    /// The symbol is a function that was inlined.
    pub inlined: bool,
    /// The source file and line.
    pub line: Option<(&'a str, u32)>,
}

/// Appends what a place is called: the keys behind its address.
pub fn write_name(name: &PlaceName<'_>, out: &mut Vec<u8>) {
    let mut line = EventLine { out };
    if let Some(symbol) = name.symbol {
        line.text("symbol", symbol);
    }
    if let Some(offset) = name.offset {
        line.number("offset", offset);
    }
    if let Some(dso) = name.dso {
        line.text("dso", dso);
    }
    if name.inlined {
        line.name(b",\"inlined\":true");
    }
    if let Some((file, number)) = name.line {
        line.text("file", file);
        line.number("line", number.into());
    }
}

/// The word for a privilege.
pub fn mode_name(mode: CpuMode) -> &'static str {
    match mode {
        CpuMode::Kernel => "kernel",
        CpuMode::User => "user",
        CpuMode::Hypervisor => "hypervisor",
        CpuMode::GuestKernel => "guest-kernel",
        CpuMode::GuestUser => "guest-user",
        CpuMode::Unknown => "unknown",
    }
}

/// An object in another one.
fn fields(out: &mut Vec<u8>, fill: impl FnOnce(&mut EventLine<'_>)) {
    let start = out.len();
    fill(&mut EventLine { out });
    match out.get_mut(start) {
        // The comma before the first key.
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

/// Appends a value of a row whose values have commas between: in quotes where it needs them.
pub fn push_cell(out: &mut Vec<u8>, text: &str) {
    let text = sanitize(text);
    if !text.contains([',', '"', '\n', '\r']) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

fn push_address(out: &mut Vec<u8>, address: u64) {
    out.extend_from_slice(b"\"0x");
    push_hex(out, address, 1);
    out.push(b'"');
}

fn push_signed(out: &mut Vec<u8>, number: i64) {
    if number < 0 {
        out.push(b'-');
    }
    push_number(out, number.unsigned_abs(), 1, b' ');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_sample_is_a_line() {
        let mut name = Vec::new();
        let place = PlaceName {
            symbol: Some("f\""),
            offset: Some(3),
            dso: Some("/bin/a"),
            ..PlaceName::default()
        };
        write_name(&place, &mut name);
        let written = text(|out| {
            let mut line = EventLine::begin("sample", out);
            line.text("event", "cycles\n");
            line.signed("pid", -1);
            line.number("period", 7);
            line.address("ip", 0xffff_ffff_8000_0000);
            line.name(&name);
            line.array("callchain", |items| {
                items.frame(0x10, &name);
                items.frame(0, &[]);
            });
            line.object("trace", |fields| fields.text("comm", "x"));
            line.object("nothing", |_| {});
            line.end();
        });
        let expected = concat!(
            r#"{"type":"sample","event":"cycles\n","pid":-1,"period":7,"ip":"0xffffffff80000000","#,
            r#""symbol":"f\"","offset":3,"dso":"/bin/a","callchain":[{"ip":"0x10","symbol":"f\"","#,
            r#""offset":3,"dso":"/bin/a"},{"ip":"0x0"}],"trace":{"comm":"x"},"nothing":{}}"#,
            "\n"
        );
        assert_eq!(written, expected);
    }

    #[test]
    fn cells_are_quoted_where_they_must() {
        assert_eq!(text(|out| push_cell(out, "f(int)")), "f(int)");
        assert_eq!(
            text(|out| push_cell(out, "f(int, \"x\")")),
            "\"f(int, \"\"x\"\")\""
        );
        assert_eq!(text(|out| push_cell(out, "\u{1b}")), "\\x1b");
    }

    #[test]
    fn a_branch_tells_both_ends_and_its_flags() {
        let entry = BranchEntry {
            from: 1,
            to: 2,
            flags: 0b10 | 9 << 4,
        };
        let written = text(|out| {
            let mut line = EventLine::begin("sample", out);
            line.array("branches", |items| {
                items.branch(&entry, b",\"dso\":\"a\"", b"")
            });
            line.end();
        });
        assert_eq!(
            written,
            "{\"type\":\"sample\",\"branches\":[{\"from\":{\"ip\":\"0x1\",\"dso\":\"a\"},\"to\":{\"ip\":\"0x2\"},\"predicted\":true,\"cycles\":9}]}\n"
        );
    }
}
