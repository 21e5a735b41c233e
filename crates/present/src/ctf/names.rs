//! Identifiers and quoted texts of TSDL, the language of the metadata.

use crate::text::sanitize;

/// Words that TSDL keeps for itself.
const RESERVED: [&str; 29] = [
    "align",
    "callsite",
    "char",
    "clock",
    "const",
    "double",
    "enum",
    "env",
    "event",
    "float",
    "floating_point",
    "int",
    "integer",
    "long",
    "short",
    "signed",
    "stream",
    "string",
    "struct",
    "trace",
    "typealias",
    "typedef",
    "unsigned",
    "variant",
    "void",
    "_Bool",
    "_Complex",
    "_Imaginary",
    "_Sequence",
];

/// The name as an identifier: other characters become `_`, and reserved words begin with it; readers take that away.
pub(super) fn identifier(name: &str) -> String {
    let allowed = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(allowed).collect();
    let begins_well = name.starts_with(|c: char| !c.is_ascii_digit());
    if begins_well && !RESERVED.contains(&name.as_str()) {
        name
    } else {
        format!("_{name}")
    }
}

/// The text between quotes; what could steer a terminal is spelled out.
pub(super) fn quoted(text: &str) -> String {
    let escaped = sanitize(text).replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        let names = ["pid", "event", "a-b.c", "1st", "", "größe"];
        let expected = ["pid", "_event", "a_b_c", "_1st", "_", "gr__e"];
        assert_eq!(names.map(identifier), expected);
    }

    #[test]
    fn nothing_ends_a_quoted_text() {
        assert_eq!(quoted("a\"b\\c\n"), r#""a\"b\\c\\n""#);
    }
}
