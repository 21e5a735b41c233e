//! The text of a tracepoint's `format` file as a value.

use crate::bytes::until_nul;
use crate::error::TracepointError;
use crate::field::{Anchor, FieldKind, FormatField};

/// A tracepoint's name, number, fields and print expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// The event's name, without its system.
    pub name: String,
    /// The event's number: `attr.config`, and the `common_type` at the start of its records.
    pub id: u64,
    /// Fields that every event begins with (`common_type`, `common_pid`, ...).
    pub common: Vec<FormatField>,
    /// The event's own fields, in the order of the text.
    pub fields: Vec<FormatField>,
    /// The text after `print fmt:`; empty when there is none.
    pub print: Vec<u8>,
}

impl EventFormat {
    /// Parses a format text; bytes after a NUL are ignored.
    ///
    /// # Errors
    /// `name:` or `ID:` is missing, or a `field:` line is malformed.
    pub fn parse(text: &[u8]) -> Result<EventFormat, TracepointError> {
        let text = until_nul(text);
        let (head, print) = split_print(text);
        let mut parser = Parser::default();
        for (number, line) in head.split(|&byte| byte == b'\n').enumerate() {
            parser.line(number + 1, &String::from_utf8_lossy(line))?;
        }
        parser.finish(print.trim_ascii().to_vec())
    }

    /// All fields, the common ones first.
    pub fn all_fields(&self) -> impl Iterator<Item = &FormatField> {
        self.common.iter().chain(&self.fields)
    }

    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&FormatField> {
        self.all_fields().find(|field| field.name == name)
    }
}

fn split_print(text: &[u8]) -> (&[u8], &[u8]) {
    const MARK: &[u8] = b"\nprint fmt:";
    match text.windows(MARK.len()).position(|window| window == MARK) {
        Some(at) => (
            text.get(..at).unwrap_or_default(),
            text.get(at + MARK.len()..).unwrap_or_default(),
        ),
        None => (text, &[]),
    }
}

#[derive(Default)]
struct Parser {
    name: Option<String>,
    id: Option<u64>,
    common: Vec<FormatField>,
    fields: Vec<FormatField>,
}

impl Parser {
    fn line(&mut self, number: usize, line: &str) -> Result<(), TracepointError> {
        let line = line.trim();
        if let Some(name) = line.strip_prefix("name:") {
            self.name = Some(name.trim().to_owned());
        } else if let Some(id) = line.strip_prefix("ID:") {
            self.id = id.trim().parse().ok();
        } else if let Some(field) = line
            .strip_prefix("field:")
            .or_else(|| line.strip_prefix("field special:"))
        {
            let field = parse_field(field).ok_or(TracepointError::Field { line: number })?;
            let list = if field.name.starts_with("common_") {
                &mut self.common
            } else {
                &mut self.fields
            };
            list.push(field);
        }
        Ok(())
    }

    fn finish(self, print: Vec<u8>) -> Result<EventFormat, TracepointError> {
        Ok(EventFormat {
            name: self
                .name
                .ok_or(TracepointError::Heading { line: "name:" })?,
            id: self.id.ok_or(TracepointError::Heading { line: "ID:" })?,
            common: self.common,
            fields: self.fields,
            print,
        })
    }
}

fn parse_field(text: &str) -> Option<FormatField> {
    let mut parts = text.split(';').map(str::trim);
    let declaration = Declaration::parse(parts.next()?)?;
    let (mut offset, mut size, mut signed) = (None, None, false);
    for part in parts {
        match part.split_once(':') {
            Some(("offset", number)) => offset = number.trim().parse().ok(),
            Some(("size", number)) => size = number.trim().parse().ok(),
            Some(("signed", flag)) => signed = flag.trim() != "0",
            _ => {}
        }
    }
    let (offset, size) = (offset?, size?);
    let kind = declaration.kind(size);
    Some(FormatField {
        name: declaration.name.to_owned(),
        declared: declaration.declared,
        offset,
        size,
        signed,
        kind,
    })
}

/// `unsigned long name[4]`, taken apart.
struct Declaration<'a> {
    name: &'a str,
    /// Without name and bounds.
    declared: String,
    /// The text between the brackets, if there are any.
    bounds: Option<&'a str>,
}

impl<'a> Declaration<'a> {
    fn parse(text: &'a str) -> Option<Declaration<'a>> {
        let text = text.trim();
        let (before, bounds) = match text
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once('['))
        {
            Some((before, bounds)) => (before.trim_end(), Some(bounds)),
            None => (text, None),
        };
        let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
        let start = before
            .rfind(|character| !is_name(character))
            .map_or(0, |at| at + 1);
        let (declared, name) = (before.get(..start)?.trim(), before.get(start..)?);
        let declared = declared.to_owned();
        (!name.is_empty() && name.starts_with(|c: char| !c.is_ascii_digit())).then_some(
            Declaration {
                name,
                declared,
                bounds,
            },
        )
    }

    fn kind(&self, size: usize) -> FieldKind {
        if let Some((anchor, element)) = self.dynamic() {
            return match element {
                "char" => FieldKind::DynamicText(anchor),
                _ => FieldKind::DynamicArray {
                    anchor,
                    element: type_size(element).unwrap_or(1),
                },
            };
        }
        match self.bounds {
            Some(_) if is_text(&self.declared) => FieldKind::Text,
            Some(bounds) => FieldKind::Array {
                element: element_size(&self.declared, bounds, size),
            },
            None if self.declared.contains('*') => FieldKind::Pointer,
            None => FieldKind::Integer,
        }
    }

    /// For `__data_loc T[] name` and its kin: the anchor and `T`.
    fn dynamic(&self) -> Option<(Anchor, &str)> {
        let (word, rest) = self.declared.split_once(' ')?;
        let anchor = match word {
            "__data_loc" => Anchor::Record,
            "__rel_loc" => Anchor::FieldEnd,
            _ => return None,
        };
        Some((anchor, rest.trim_end_matches("[]").trim()))
    }
}

/// Returns whether an array of this type is shown as text.
fn is_text(declared: &str) -> bool {
    matches!(
        declared,
        "char" | "const char" | "unsigned char" | "signed char" | "__data_loc char" | "uchar"
    )
}

fn element_size(declared: &str, bounds: &str, size: usize) -> usize {
    let by_count = bounds
        .trim()
        .parse::<usize>()
        .ok()
        .filter(|&count| count > 0)
        .map(|count| size / count);
    by_count
        .or_else(|| type_size(declared))
        .filter(|&element| element > 0)
        .unwrap_or(1)
}

/// The size of a C type by its name; `long` and pointers count as eight bytes. `None` for unknown types.
pub(crate) fn type_size(name: &str) -> Option<usize> {
    if name.ends_with('*') {
        return Some(8);
    }
    let name = name
        .trim()
        .trim_start_matches("const ")
        .trim_start_matches("unsigned ")
        .trim_start_matches("signed ");
    Some(match name {
        "char" | "u8" | "s8" | "__u8" | "__s8" | "uint8_t" | "int8_t" | "bool" => 1,
        "short" | "short int" | "u16" | "s16" | "__u16" | "__s16" | "uint16_t" | "int16_t"
        | "__be16" | "__le16" => 2,
        "int" | "unsigned" | "signed" | "u32" | "s32" | "__u32" | "__s32" | "uint32_t"
        | "int32_t" | "__be32" | "__le32" | "pid_t" | "gfp_t" | "dev_t" => 4,
        "long" | "long int" | "long long" | "long long int" | "u64" | "s64" | "__u64" | "__s64"
        | "uint64_t" | "int64_t" | "__be64" | "__le64" | "size_t" | "ssize_t" | "loff_t"
        | "sector_t" | "ino_t" => 8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(line: &str) -> FieldKind {
        parse_field(line).expect("a field").kind
    }

    #[test]
    fn the_kernels_text_becomes_a_format() {
        let text = "name: sched_switch\nID: 372\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
            \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
            \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\n\
            print fmt: \"%s\", REC->prev_comm\n";
        let format = EventFormat::parse(text.as_bytes()).expect("a format");
        assert_eq!((format.name.as_str(), format.id), ("sched_switch", 372));
        assert_eq!(format.common.len(), 1);
        assert_eq!(format.fields[0].kind, FieldKind::Text);
        assert_eq!(
            (format.fields[1].offset, format.fields[1].signed),
            (32, true)
        );
        assert_eq!(format.print, b"\"%s\", REC->prev_comm");
    }

    #[test]
    fn declarations_tell_what_a_field_is() {
        assert_eq!(
            kind("void * p; offset:8; size:8; signed:0;"),
            FieldKind::Pointer
        );
        assert_eq!(
            kind("const char *name; offset:8; size:8; signed:0;"),
            FieldKind::Pointer
        );
        assert_eq!(
            kind("u32 w[2]; offset:8; size:8; signed:0;"),
            FieldKind::Array { element: 4 }
        );
        assert_eq!(
            kind("char comm[TASK_COMM_LEN]; offset:8; size:16; signed:0;"),
            FieldKind::Text
        );
        assert_eq!(
            kind("enum x mode; offset:8; size:4; signed:0;"),
            FieldKind::Integer
        );
        let dynamic = FieldKind::DynamicText(Anchor::Record);
        assert_eq!(
            kind("__data_loc char[] name; offset:8; size:4; signed:0;"),
            dynamic
        );
        let relative = FieldKind::DynamicArray {
            anchor: Anchor::FieldEnd,
            element: 8,
        };
        assert_eq!(
            kind("__rel_loc u64[] list; offset:8; size:4; signed:0;"),
            relative
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(matches!(
            EventFormat::parse(b""),
            Err(TracepointError::Heading { line: "name:" })
        ));
        assert!(matches!(
            EventFormat::parse(b"name: x\n"),
            Err(TracepointError::Heading { line: "ID:" })
        ));
        let cut = b"name: x\nID: 1\n\tfield:int a;\toffset:;\n";
        assert!(matches!(
            EventFormat::parse(cut),
            Err(TracepointError::Field { line: 3 })
        ));
    }
}
