//! What is recorded when nobody says what.

use crate::syntax::Modifiers;
use crate::{Catalogue, ResolvedEvent, SyntaxError, parse, resolve};
use oxperf_abi::{AttrFlags, EventType, HardwareId, SoftwareId};

/// perf's default selection: cycles as precisely as possible on every core PMU; user mode alone when the kernel
/// may not be measured.
///
/// # Errors
/// None in practice: the name is known everywhere.
pub fn default_events(catalogue: &Catalogue<'_>, user_only: bool) -> Result<Vec<ResolvedEvent>, SyntaxError> {
    resolve(&parse(if user_only { "cycles:Pu" } else { "cycles:P" })?, catalogue)
}

/// The software clock that takes the place of cycles on a machine without a cycle counter: `cpu-clock` for whole
/// CPUs, `task-clock` for tasks. `None` for any other event.
pub fn clock_instead_of(event: &ResolvedEvent, whole_cpus: bool) -> Option<ResolvedEvent> {
    let is_cycles =
        event.attr.kind == EventType::HARDWARE && event.attr.config as u32 == HardwareId::CpuCycles as u32;
    let id = if whole_cpus { SoftwareId::CpuClock } else { SoftwareId::TaskClock };
    is_cycles.then(|| clock(event, id))
}

fn clock(event: &ResolvedEvent, id: SoftwareId) -> ResolvedEvent {
    let mut clock = event.clone();
    clock.attr.kind = EventType::SOFTWARE;
    clock.attr.config = id as u64;
    clock.pmu = "software".to_owned();
    clock.cpus = None;
    let letters = letters(event);
    let name = id.names().first().copied().unwrap_or_default();
    clock.name = if letters.is_empty() { name.to_owned() } else { format!("{name}:{letters}") };
    clock
}

/// The modes and the precision that an attribute has, as perf writes them after a name that it makes up.
fn letters(event: &ResolvedEvent) -> String {
    let flags = event.attr.flags;
    let excluded =
        [('k', AttrFlags::EXCLUDE_KERNEL), ('u', AttrFlags::EXCLUDE_USER), ('h', AttrFlags::EXCLUDE_HV)];
    let restricted = excluded.iter().any(|(_, bit)| flags.contains(*bit));
    let modes =
        excluded.iter().filter(|(_, bit)| restricted && !flags.contains(*bit)).map(|(letter, _)| *letter);
    let precise = std::iter::repeat_n('p', flags.precise_ip().into());
    modes.chain(precise).collect()
}

/// A software event by its id, for recorders that need one of their own (`dummy` for sideband records).
pub fn software(id: SoftwareId, modifiers: Modifiers) -> ResolvedEvent {
    let name = id.names().first().copied().unwrap_or_default();
    let mut event = ResolvedEvent::new(name, "software").with_modifiers(modifiers);
    event.attr.kind = EventType::SOFTWARE;
    event.attr.config = id as u64;
    event
}
