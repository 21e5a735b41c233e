//! `mem:ADDRESS`.

use super::event::ResolvedEvent;
use crate::SyntaxProblem;
use crate::syntax::{BreakpointAccess, EventSpec};
use oxperf_abi::EventType;

const READ: u32 = 1;
const WRITE: u32 = 2;
const EXECUTE: u32 = 4;

/// Bytes watched when the text does not say.
const DEFAULT_LENGTH: u64 = 4;

/// The breakpoint. Reads and writes are watched when the text does not say.
pub(super) fn resolve(
    event: &EventSpec<'_>,
    address: u64,
    length: Option<u64>,
    access: Option<BreakpointAccess>,
) -> Result<ResolvedEvent, SyntaxProblem> {
    let access = access.unwrap_or(BreakpointAccess {
        read: true,
        write: true,
        execute: false,
    });
    let mut resolved = ResolvedEvent::new(event.name.to_owned(), "breakpoint".into());
    resolved.attr.kind = EventType::BREAKPOINT;
    resolved.attr.bp_type = bits(access);
    resolved.attr.config1 = address;
    resolved.attr.config2 = length.unwrap_or_else(|| default_length(access));
    for term in &event.terms {
        if term.name == "name" {
            super::value::text(term)?.clone_into(&mut resolved.name);
        } else if !resolved.terms.take(term)? {
            return Err(SyntaxProblem::new(
                term.position,
                format!("a breakpoint has no term '{}'", term.name),
            ));
        }
    }
    Ok(resolved)
}

fn bits(access: BreakpointAccess) -> u32 {
    let when = |on: bool, bit: u32| if on { bit } else { 0 };
    when(access.read, READ) | when(access.write, WRITE) | when(access.execute, EXECUTE)
}

/// An execution breakpoint has the length of a `long`.
fn default_length(access: BreakpointAccess) -> u64 {
    let execute_only = BreakpointAccess {
        read: false,
        write: false,
        execute: true,
    };
    if access == execute_only {
        size_of::<usize>() as u64
    } else {
        DEFAULT_LENGTH
    }
}
