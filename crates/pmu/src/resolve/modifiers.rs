//! Modifier letters into attribute flags.

use super::event::{ResolvedEvent, SideLetters};
use crate::SyntaxProblem;
use crate::syntax::{EventSpec, GroupSpec, MAX_PRECISE, Modifiers};
use oxperf_abi::AttrFlags;

/// The meaning of the letters for one event.
pub(super) fn apply(event: &mut ResolvedEvent, modifiers: Modifiers) {
    let flags = &mut event.attr.flags;
    let any_level = modifiers.user || modifiers.kernel || modifiers.hypervisor;
    flags.set(AttrFlags::EXCLUDE_USER, any_level && !modifiers.user);
    flags.set(AttrFlags::EXCLUDE_KERNEL, any_level && !modifiers.kernel);
    flags.set(AttrFlags::EXCLUDE_HV, any_level && !modifiers.hypervisor);
    let any_side = modifiers.guest || modifiers.host;
    flags.set(AttrFlags::EXCLUDE_GUEST, any_side && !modifiers.guest);
    flags.set(AttrFlags::EXCLUDE_HOST, any_side && !modifiers.host);
    flags.set(AttrFlags::EXCLUDE_IDLE, modifiers.exclude_idle);
    flags.set(AttrFlags::PINNED, modifiers.pinned);
    flags.set(AttrFlags::EXCLUSIVE, modifiers.exclusive);
    flags.set_precise_ip(if modifiers.max_precise {
        MAX_PRECISE
    } else {
        modifiers.precise
    });
    event.side_letters = match modifiers {
        _ if any_side => SideLetters::Named,
        _ if modifiers == Modifiers::default() => SideLetters::Bare,
        _ => SideLetters::Unnamed,
    };
    event.max_precise = modifiers.max_precise;
    event.sample_read = modifiers.sample_read;
    event.retire_latency = modifiers.retire_latency;
    event.bpf_counter = modifiers.bpf;
    event.keep_order = modifiers.keep_order;
}

/// An event's letters with its group's: both hold, and precision adds up.
pub(super) fn combine(
    event: &EventSpec<'_>,
    group: &GroupSpec<'_>,
) -> Result<Modifiers, SyntaxProblem> {
    let (own, shared) = (event.modifiers, group.modifiers);
    let precise = own.precise + shared.precise;
    if precise > MAX_PRECISE {
        let name = event.name;
        let message = format!(
            "Maximum combined precise value is {MAX_PRECISE}, adding precision to \"{name}\""
        );
        return Err(SyntaxProblem::new(group.modifiers_position, message));
    }
    Ok(Modifiers {
        user: own.user || shared.user,
        kernel: own.kernel || shared.kernel,
        hypervisor: own.hypervisor || shared.hypervisor,
        guest: own.guest || shared.guest,
        host: own.host || shared.host,
        precise,
        max_precise: own.max_precise || shared.max_precise,
        exclude_idle: own.exclude_idle || shared.exclude_idle,
        sample_read: own.sample_read || shared.sample_read,
        pinned: own.pinned || shared.pinned,
        exclusive: own.exclusive || shared.exclusive,
        weak: shared.weak,
        keep_order: own.keep_order || shared.keep_order,
        bpf: own.bpf || shared.bpf,
        retire_latency: own.retire_latency || shared.retire_latency,
    })
}

/// A group is pinned and exclusive through its leader: what the group's letters say of that is not for members.
pub(super) fn for_member(combined: Modifiers, own: Modifiers, leads: bool) -> Modifiers {
    if leads {
        combined
    } else {
        Modifiers {
            pinned: own.pinned,
            exclusive: own.exclusive,
            ..combined
        }
    }
}
