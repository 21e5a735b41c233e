//! The reactions to a refused event: ask for less, take another event, or do without.
//!
//! [`step`] decides and changes nothing; [`apply`] changes the inputs of the next [`Plan`](crate::plan::Plan).

use oxperf_abi::{AttrFlags, EventType, HardwareId, SoftwareId};
use oxperf_sys::OpenError;

use crate::event::EventRequest;
use crate::explain::Permissions;
use crate::notice::Notice;
use crate::plan::PlannedEvent;
use crate::unsupported::{KernelFeature, Unsupported};

/// The next thing to try.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FallbackStep {
    /// EventChange the event.
    Change(EventChange),
    /// Do without a feature of newer kernels, in all events.
    Without(Unsupported, KernelFeature),
    /// Nothing is left to try; the event cannot be recorded.
    GiveUp,
}

/// A change to an event that makes it ask for less.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventChange {
    /// Allow one more instruction of skid.
    LessPrecise,
    /// Count time in place of cycles.
    Clock(SoftwareId),
    /// Leave the kernel out.
    UserOnly,
    /// Leave guests out.
    HostOnly,
    /// Leave the group, which says that it may be taken apart.
    LeaveGroup,
}

/// Decides what to try after `event` was refused with `error`.
pub fn step(
    event: &PlannedEvent,
    error: OpenError,
    cpu_wide: bool,
    unsupported: Unsupported,
    permissions: Permissions,
) -> FallbackStep {
    let flags = event.attr.flags;
    let adaptable = event.request.max_precise && flags.precise_ip() > 0;
    // Chains that come later are asked for by the user and known to few kernels: nothing else has to go for them.
    if error == OpenError::Invalid && flags.contains(AttrFlags::DEFER_CALLCHAIN) {
        let without = unsupported.without(KernelFeature::DeferredChains);
        return FallbackStep::Without(without, KernelFeature::DeferredChains);
    }
    match error {
        OpenError::NoSuchEvent | OpenError::NoDevice if is_cycles(&event.request) => {
            FallbackStep::Change(EventChange::Clock(clock_for(cpu_wide)))
        }
        OpenError::Invalid | OpenError::Unsupported if is_weak_member(&event.request) => {
            FallbackStep::Change(EventChange::LeaveGroup)
        }
        OpenError::Unsupported | OpenError::Invalid | OpenError::NoSuchEvent if adaptable => {
            FallbackStep::Change(EventChange::LessPrecise)
        }
        OpenError::AccessDenied if may_drop_kernel(flags, permissions) => {
            FallbackStep::Change(EventChange::UserOnly)
        }
        OpenError::Unsupported if !flags.contains(AttrFlags::EXCLUDE_GUEST) => {
            FallbackStep::Change(EventChange::HostOnly)
        }
        OpenError::Invalid | OpenError::TooNew => {
            match unsupported.without_newest_of(&event.attr) {
                Some((unsupported, feature)) => FallbackStep::Without(unsupported, feature),
                None => FallbackStep::GiveUp,
            }
        }
        _ => FallbackStep::GiveUp,
    }
}

fn is_cycles(request: &EventRequest) -> bool {
    request.attr.kind == EventType::HARDWARE && request.attr.config == HardwareId::CpuCycles as u64
}

fn is_weak_member(request: &EventRequest) -> bool {
    request.weak_group && request.leader.is_some()
}

/// An event of the kernel alone would have nothing left.
fn may_drop_kernel(flags: AttrFlags, permissions: Permissions) -> bool {
    let forbidden = permissions.paranoid.is_some_and(|value| value > 1);
    forbidden && !flags.intersects(AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_USER)
}

/// Changes the request, and returns what the user should know.
pub fn apply(change: EventChange, request: &mut EventRequest) -> Option<Notice> {
    match change {
        EventChange::LessPrecise => {
            let level = request.attr.flags.precise_ip();
            request.attr.flags.set_precise_ip(level.saturating_sub(1));
            None
        }
        EventChange::Clock(clock) => Some(use_clock(clock, request)),
        EventChange::UserOnly => {
            request.attr.flags |= AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
            add_modifier(&mut request.name, 'u');
            Some(Notice::UserModeOnly {
                event: request.name.clone(),
            })
        }
        EventChange::HostOnly => {
            request.attr.flags |= AttrFlags::EXCLUDE_GUEST;
            add_modifier(&mut request.name, 'H');
            Some(Notice::HostOnly {
                event: request.name.clone(),
            })
        }
        EventChange::LeaveGroup => {
            request.leader = None;
            None
        }
    }
}

/// Time that runs for the CPU, or for the task.
fn clock_for(cpu_wide: bool) -> SoftwareId {
    if cpu_wide {
        SoftwareId::CpuClock
    } else {
        SoftwareId::TaskClock
    }
}

fn use_clock(clock: SoftwareId, request: &mut EventRequest) -> Notice {
    let asked = std::mem::take(&mut request.name);
    request.attr.kind = EventType::SOFTWARE;
    request.attr.config = clock as u64;
    request.pmu = "software".into();
    request.unit = Some("msec".into());
    request.scale = Some(1e-6);
    request.name = format!("{}{}", clock.names()[0], request.attr.flags.modifiers());
    Notice::EventReplaced {
        asked,
        used: request.name.clone(),
    }
}

/// Letters stand behind a colon, or behind the terms of a PMU.
fn add_modifier(name: &mut String, letter: char) {
    if !name.contains([':', '/']) {
        name.push(':');
    }
    name.push(letter);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{SamplingOptions, Target, TargetOptions};
    use crate::plan::{MachineInfo, Plan, Purpose};
    use oxperf_abi::Cpu;

    const OPEN: Permissions = Permissions {
        paranoid: Some(-1),
        privileged: true,
        seccomp: false,
        open_files: None,
    };
    const CLOSED: Permissions = Permissions {
        paranoid: Some(2),
        privileged: false,
        ..OPEN
    };

    fn cycles(precise: u8) -> EventRequest {
        let mut request = EventRequest::software(SoftwareId::CpuClock, "cycles");
        request.attr.kind = EventType::HARDWARE;
        request.attr.flags.set_precise_ip(precise);
        request.max_precise = precise > 0;
        request
    }

    fn planned(request: EventRequest, target: Target) -> PlannedEvent {
        let target = TargetOptions {
            target,
            ..TargetOptions::default()
        };
        let machine = MachineInfo {
            online: vec![Cpu(0)],
            threads: Vec::new(),
            is_hybrid: false,
        };
        let sampling = SamplingOptions::default();
        let purpose = Purpose::Sampling(&sampling);
        Plan::new(
            &target,
            purpose,
            &[request],
            &machine,
            Unsupported::default(),
        )
        .events
        .remove(0)
    }

    fn after(request: EventRequest, error: OpenError, permissions: Permissions) -> FallbackStep {
        step(
            &planned(request, Target::Workload),
            error,
            false,
            Unsupported::default(),
            permissions,
        )
    }

    #[test]
    fn no_counter_means_time() {
        let mut request = cycles(3);
        assert_eq!(
            after(request.clone(), OpenError::NoSuchEvent, OPEN),
            FallbackStep::Change(EventChange::Clock(SoftwareId::TaskClock))
        );
        let notice = apply(EventChange::Clock(SoftwareId::TaskClock), &mut request);
        assert_eq!(request.name, "task-clock:ppp");
        assert_eq!(
            (request.attr.kind, request.attr.config),
            (EventType::SOFTWARE, 1)
        );
        assert!(matches!(notice, Some(Notice::EventReplaced { asked, .. }) if asked == "cycles"));
        let wide = planned(cycles(0), Target::AllCpus);
        let chosen = step(
            &wide,
            OpenError::NoDevice,
            true,
            Unsupported::default(),
            OPEN,
        );
        assert_eq!(
            chosen,
            FallbackStep::Change(EventChange::Clock(SoftwareId::CpuClock))
        );
    }

    #[test]
    fn a_forbidden_kernel_is_left_out_once() {
        let mut request = EventRequest::software(SoftwareId::CpuClock, "cpu-clock:ppp");
        let denied = |request: &EventRequest, rights| {
            after(request.clone(), OpenError::AccessDenied, rights)
        };
        assert_eq!(denied(&request, OPEN), FallbackStep::GiveUp);
        assert_eq!(
            denied(&request, CLOSED),
            FallbackStep::Change(EventChange::UserOnly)
        );
        apply(EventChange::UserOnly, &mut request);
        assert_eq!(request.name, "cpu-clock:pppu");
        assert_eq!(denied(&request, CLOSED), FallbackStep::GiveUp);
        let mut kernel_only = EventRequest::software(SoftwareId::CpuClock, "cpu-clock:k");
        kernel_only.attr.flags |= AttrFlags::EXCLUDE_USER;
        assert_eq!(denied(&kernel_only, CLOSED), FallbackStep::GiveUp);
    }

    #[test]
    fn deferred_chains_go_before_precision() {
        let mut event = planned(cycles(3), Target::Workload);
        event.attr.flags |= AttrFlags::DEFER_CALLCHAIN;
        let (error, unsupported) = (OpenError::Invalid, Unsupported::default());
        let FallbackStep::Without(without, KernelFeature::DeferredChains) =
            step(&event, error, false, unsupported, OPEN)
        else {
            panic!("something else goes");
        };
        assert!(!without.may_have(KernelFeature::DeferredChains));
        assert!(without.may_have(KernelFeature::ReadLost));
    }

    #[test]
    fn precision_goes_down_before_features_go() {
        assert_eq!(
            after(cycles(2), OpenError::Unsupported, OPEN),
            FallbackStep::Change(EventChange::LessPrecise)
        );
        assert_eq!(
            after(cycles(0), OpenError::Unsupported, OPEN),
            FallbackStep::Change(EventChange::HostOnly)
        );
        assert!(matches!(
            after(cycles(0), OpenError::Invalid, OPEN),
            FallbackStep::Without(_, KernelFeature::ReadLost)
        ));
    }

    #[test]
    fn letters_stand_behind_a_colon_or_behind_terms() {
        let with_letter = |name: &str| {
            let mut name = name.to_owned();
            add_modifier(&mut name, 'u');
            name
        };
        let names = ["cycles", "cycles:p", "intel_pt//", "cpu/cycles/p"].map(with_letter);
        assert_eq!(
            names,
            ["cycles:u", "cycles:pu", "intel_pt//u", "cpu/cycles/pu"]
        );
    }
}
