//! What the events of a kind hold: declared in the metadata, written into packets.

use std::collections::HashSet;
use std::fmt::Write;

use super::names::{identifier, quoted};

/// The integers that events are made of, little-endian.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Integer {
    U32,
    S32,
    U64,
    S64,
    /// Shown in hexadecimal.
    Hex64,
    Hex32,
}

impl Integer {
    pub(super) const ALL: [Integer; 6] = [
        Integer::U32,
        Integer::S32,
        Integer::U64,
        Integer::S64,
        Integer::Hex32,
        Integer::Hex64,
    ];

    /// Its name in the metadata.
    pub(super) fn alias(self) -> &'static str {
        match self {
            Integer::U32 => "u32",
            Integer::S32 => "s32",
            Integer::U64 => "u64",
            Integer::S64 => "s64",
            Integer::Hex32 => "hex32",
            Integer::Hex64 => "hex64",
        }
    }

    pub(super) fn bytes(self) -> usize {
        match self {
            Integer::U32 | Integer::S32 | Integer::Hex32 => 4,
            Integer::U64 | Integer::S64 | Integer::Hex64 => 8,
        }
    }

    pub(super) fn signed(self) -> bool {
        matches!(self, Integer::S32 | Integer::S64)
    }

    pub(super) fn base(self) -> u32 {
        if matches!(self, Integer::Hex32 | Integer::Hex64) {
            16
        } else {
            10
        }
    }

    /// Appends a value, of which the low bytes count.
    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>, value: u64) {
        out.extend_from_slice(&value.to_le_bytes()[..self.bytes()]);
    }
}

/// Appends a text with its end.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(crate::text::sanitize(text).as_bytes());
    out.push(0);
}

/// The content of one field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Integer(Integer),
    Text,
    Array(Integer, usize),
    /// As many as the 32-bit field before it says, which has this name.
    Sequence(Integer, String),
}

/// A kind of event: its name and fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EventClass {
    name: String,
    members: Vec<(String, Kind)>,
    taken: HashSet<String>,
}

impl EventClass {
    pub(super) fn new(name: &str) -> EventClass {
        EventClass {
            name: name.to_owned(),
            members: Vec::new(),
            taken: HashSet::new(),
        }
    }

    /// Adds a field; its name becomes an identifier that no other field has.
    pub(super) fn add(&mut self, name: &str, kind: Kind) {
        let kind = match kind {
            Kind::Sequence(of, length) => {
                let length = self.free_name(&length);
                self.members
                    .push((length.clone(), Kind::Integer(Integer::U32)));
                Kind::Sequence(of, length)
            }
            other => other,
        };
        let name = self.free_name(name);
        self.members.push((name, kind));
    }

    fn free_name(&mut self, name: &str) -> String {
        let wanted = identifier(name);
        let numbered = (1..).map(|number| format!("{wanted}_dupl_{number}"));
        let free = std::iter::once(wanted.clone())
            .chain(numbered)
            .find(|name| !self.taken.contains(name));
        let free = free.unwrap_or(wanted);
        self.taken.insert(free.clone());
        free
    }

    /// Writes the declaration.
    pub(super) fn declare(&self, id: usize, out: &mut String) {
        let name = quoted(&self.name);
        let _ = writeln!(
            out,
            "event {{\n\tid = {id};\n\tname = {name};\n\tstream_id = 0;\n\tfields := struct {{"
        );
        for (name, kind) in &self.members {
            let _ = match kind {
                Kind::Integer(integer) => writeln!(out, "\t\t{} {name};", integer.alias()),
                Kind::Text => writeln!(out, "\t\tstring {{ encoding = UTF8; }} {name};"),
                Kind::Array(of, count) => writeln!(out, "\t\t{} {name}[{count}];", of.alias()),
                Kind::Sequence(of, length) => writeln!(out, "\t\t{} {name}[{length}];", of.alias()),
            };
        }
        out.push_str("\t} align(8);\n};\n\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_name_of_its_own() {
        let mut class = EventClass::new("a\"b");
        class.add("pid", Kind::Integer(Integer::U32));
        class.add("pid", Kind::Text);
        class.add("p-id", Kind::Array(Integer::S64, 3));
        class.add("data", Kind::Sequence(Integer::Hex64, "pid".into()));
        let mut out = String::new();
        class.declare(7, &mut out);
        let expected = "event {\n\tid = 7;\n\tname = \"a\\\"b\";\n\tstream_id = 0;\n\tfields := struct {\n\
            \t\tu32 pid;\n\t\tstring { encoding = UTF8; } pid_dupl_1;\n\t\ts64 p_id[3];\n\
            \t\tu32 pid_dupl_2;\n\t\thex64 data[pid_dupl_2];\n\t} align(8);\n};\n\n";
        assert_eq!(out, expected);
    }
}
