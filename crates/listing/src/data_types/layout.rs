//! Layouts of types: their fields, and the fields of these.

use std::sync::Arc;

use oxperf_symbols::{TypeId, TypeKind, TypeReader};

/// Number of fields of a type that are told, those of fields among them.
const FIELDS_LIMIT: usize = 1 << 16;
/// Limit of the depth to which fields may lie in each other.
const DEPTH_LIMIT: usize = 64;

/// A type with its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataLayout {
    /// The name of the type; untrusted.
    pub name: Arc<str>,
    /// Number of bytes that it takes; `None` where debug information does not say it.
    pub size: Option<u64>,
    /// Its fields; each stands before its own.
    pub fields: Vec<DataField>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataField {
    /// Number of fields that are around it.
    pub depth: usize,
    /// Its name, with its number of bits where it has not whole bytes; untrusted.
    pub name: Option<String>,
    /// The name of its type; untrusted.
    pub type_name: Arc<str>,
    /// Offset of its first byte, in bytes from the beginning of the whole.
    pub offset: u64,
    /// Number of bytes that it takes; `None` where debug information does not say it.
    pub size: Option<u64>,
    /// True if fields of its own follow.
    pub has_fields: bool,
}

impl DataField {
    /// Returns whether it takes the byte at an offset of the whole.
    pub fn holds(&self, offset: u64) -> bool {
        let size = self.size.unwrap_or(0);
        offset >= self.offset && offset - self.offset < size
    }
}

impl DataLayout {
    /// The layout of a type.
    pub fn of(reader: &mut TypeReader<'_>, ty: TypeId) -> DataLayout {
        let mut layout = DataLayout {
            name: reader.name(Some(ty)),
            size: reader.size(ty),
            fields: Vec::new(),
        };
        let parts = [TypeKind::Struct, TypeKind::Union, TypeKind::Class];
        if reader.kind(ty).is_some_and(|kind| parts.contains(&kind)) {
            layout.add(reader, ty, 0, 0);
        }
        layout
    }

    /// Adds the fields of a type that begins at an offset.
    fn add(&mut self, reader: &mut TypeReader<'_>, ty: TypeId, depth: usize, base: u64) {
        let Some(real) = reader.real(ty) else { return };
        for member in reader.members(real).iter() {
            if self.fields.len() >= FIELDS_LIMIT {
                return;
            }
            let name = member.name.as_ref().map(|name| match member.bits {
                Some(bits) => format!("{name}:{bits}"),
                None => name.to_string(),
            });
            let offset = base.saturating_add(member.offset);
            let index = self.fields.len();
            self.fields.push(DataField {
                depth,
                name,
                type_name: reader.name(member.ty),
                offset,
                size: match member.bits {
                    Some(bits) => Some(bits.div_ceil(8)),
                    None => member.ty.and_then(|ty| reader.size(ty)),
                },
                has_fields: false,
            });
            // The fields of classes are their own business.
            let Some(inner) = member.ty.filter(|_| depth < DEPTH_LIMIT) else {
                continue;
            };
            if matches!(reader.kind(inner), Some(TypeKind::Struct | TypeKind::Union)) {
                self.add(reader, inner, depth + 1, offset);
            }
            self.fields[index].has_fields = self.fields.len() > index + 1;
        }
    }

    /// The name of the innermost field at an offset, with those around it: `in.un.u`; `None` where there is no field.
    pub fn field_at(&self, offset: u64) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        let (mut depth, mut rest) = (0, &self.fields[..]);
        while let Some(found) = rest
            .iter()
            .take_while(|field| field.depth >= depth)
            .position(|field| field.depth == depth && field.holds(offset))
        {
            names.extend(rest[found].name.as_deref());
            depth += 1;
            rest = &rest[found + 1..];
        }
        (!names.is_empty()).then(|| names.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_names_of_those_around_them() {
        let field = |depth, name: &str, offset, size| DataField {
            depth,
            name: (!name.is_empty()).then(|| name.to_owned()),
            type_name: "int".into(),
            offset,
            size: Some(size),
            has_fields: false,
        };
        let fields = vec![
            field(0, "a", 0, 4),
            field(0, "b", 8, 16),
            field(1, "c", 8, 8),
            field(1, "", 16, 8),
            field(2, "d:3", 16, 4),
            field(0, "e", 24, 4),
            field(1, "f", 0, 4),
        ];
        let layout = DataLayout {
            name: "struct s".into(),
            size: Some(32),
            fields,
        };
        let names = [0, 4, 8, 16, 20, 24, 28].map(|offset| layout.field_at(offset));
        let expected = [
            Some("a"),
            None,
            Some("b.c"),
            Some("b.d:3"),
            Some("b"),
            Some("e"),
            None,
        ];
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
    }
}
