//! Attributes and ids as quipper's fields.

use oxperf_abi::AttrFlags;
use oxperf_data::{EventEntry, Reader};

use super::Leaf;

/// One message for each event.
pub(super) fn messages(reader: &Reader<'_>) -> Vec<Vec<Leaf>> {
    reader.events().iter().map(leaves).collect()
}

fn leaves(event: &EventEntry) -> Vec<Leaf> {
    let attr = &event.stored.attr;
    let mut leaves: Vec<Leaf> = [
        ("type", u64::from(attr.kind.0)),
        ("size", u64::from(event.stored.size)),
        ("config", attr.config),
        ("sample_period", attr.sample_period),
        ("sample_type", attr.sample_type.0),
        ("read_format", attr.read_format.0),
        ("precise_ip", u64::from(attr.flags.precise_ip())),
        ("wakeup_events", u64::from(attr.wakeup_events)),
        ("bp_type", u64::from(attr.bp_type)),
        ("bp_addr", attr.config1),
        ("bp_len", attr.config2),
        ("branch_sample_type", attr.branch_sample_type.0),
        ("sample_regs_user", attr.sample_regs_user),
        ("sample_stack_user", u64::from(attr.sample_stack_user)),
    ]
    .into_iter()
    .map(|(name, value)| (format!("attr.{name}"), value.to_string()))
    .collect();
    let flags = AttrFlags::NAMES.iter();
    leaves.extend(flags.map(|(flag, name)| {
        (
            format!("attr.{name}"),
            attr.flags.contains(*flag).to_string(),
        )
    }));
    leaves.extend(
        event
            .ids
            .iter()
            .map(|id| ("ids".to_owned(), id.0.to_string())),
    );
    leaves
}
