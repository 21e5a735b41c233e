//! Names of types: in C's words, without qualifiers, as perf writes them.

use std::sync::Arc;

use super::{TypeId, TypeKind, TypeReader};

/// Number of types that may stand in each other in one name.
const STEPS_LIMIT: usize = 64;

impl TypeReader<'_> {
    /// The name of a type: `struct node*`, `int[]`; untrusted. `None` is C's `void`.
    pub fn name(&mut self, ty: Option<TypeId>) -> Arc<str> {
        let mut behind = Vec::new();
        let mut next = ty;
        for _ in 0..STEPS_LIMIT {
            let Some(id) = next else {
                return join("", "void", &behind);
            };
            let Some(facts) = self.facts(id) else { break };
            let before = match facts.kind {
                TypeKind::Struct => "struct ",
                TypeKind::Union => "union ",
                TypeKind::Enumeration => "enum ",
                _ => "",
            };
            match facts.kind {
                TypeKind::Qualified => {}
                // Rust has names for pointers, which are left aside.
                TypeKind::Pointer => behind.push("*"),
                TypeKind::Array => behind.push("[]"),
                TypeKind::Reference => behind.push("&"),
                TypeKind::Function => return join("", "(function_type)", &behind),
                _ => return join(before, facts.name.as_deref().unwrap_or(""), &behind),
            }
            next = facts.target;
        }
        "(unknown type)".into()
    }
}

/// A name with what its outer types put behind it.
fn join(before: &str, name: &str, behind: &[&str]) -> Arc<str> {
    let behind: String = behind.iter().rev().copied().collect();
    format!("{before}{name}{behind}").into()
}
