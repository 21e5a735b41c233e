//! The words where a machine has no PMU for a hardware trace that is asked for: what it lacks, what to do about it, and what to
//! use in its place.
//!
//! [`MissingTrace::of`] finds the cause, a pure function of the kind of trace and the state of the machine ([`TraceFacts`]).
//!
//! ```
//! use oxperf_capture::explain::{MissingTrace, Processor, TraceFacts, TraceKind};
//!
//! let facts = TraceFacts {
//!     processor: Processor::Amd,
//!     pmus: vec!["cpu".to_owned(), "ibs_op".to_owned()],
//!     ..TraceFacts::default()
//! };
//! let kind = TraceKind::of_pmu("intel_pt").unwrap();
//! let text = MissingTrace::of(kind, &facts).to_string();
//! assert!(text.starts_with("Intel PT is a feature of Intel CPUs; this CPU is from AMD.") && text.contains("-e ibs_op//"));
//! ```

mod facts;
mod words;

use facts::KernelOption;
pub use facts::{Processor, TraceFacts, TraceKind};

/// The reason why there is no trace of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Cause {
    /// The kernel's list of PMUs cannot be seen.
    NoSysfs,
    /// The CPU is of another kind.
    OtherProcessor,
    /// The hypervisor does not show it.
    VirtualMachine,
    /// The CPU does not say that it has it.
    NoFeature,
    /// Page tables are isolated.
    PageTableIsolation,
    /// The kernel was built without the driver.
    NotBuilt,
    /// The driver is a module, which may not be loaded.
    NotLoaded,
    /// The driver is there, and did not start.
    NotStarted,
    /// The driver is not there, or did not start.
    NoDriver,
}

/// A kind of trace that the machine does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MissingTrace<'f> {
    kind: TraceKind,
    cause: Cause,
    facts: &'f TraceFacts,
}

impl<'f> MissingTrace<'f> {
    /// Finds the cause: of several the one that stands before the others.
    pub fn of(kind: TraceKind, facts: &'f TraceFacts) -> MissingTrace<'f> {
        let cause = if facts.pmus.is_empty() {
            Cause::NoSysfs
        } else if facts.processor != kind.processor() {
            Cause::OtherProcessor
        } else {
            cause(kind, facts)
        };
        MissingTrace { kind, cause, facts }
    }
}

/// The cause on a machine with a processor that may have the trace.
fn cause(kind: TraceKind, facts: &TraceFacts) -> Cause {
    // Arm's CPUs do not say in /proc/cpuinfo what traces they have.
    let has_feature = match kind {
        TraceKind::IntelPt => facts.has_flag("intel_pt"),
        TraceKind::BranchTraceStore => facts.has_flag("bts") && facts.has_flag("dtes64"),
        TraceKind::CoreSight | TraceKind::StatisticalProfiling => !facts.virtual_machine,
    };
    if !has_feature {
        return match facts.virtual_machine {
            true => Cause::VirtualMachine,
            false => Cause::NoFeature,
        };
    }
    if kind == TraceKind::BranchTraceStore && facts.has_flag("pti") {
        return Cause::PageTableIsolation;
    }
    let option = kind.driver().map(|(option, _)| facts.option(option));
    match option {
        Some(KernelOption::Off) => Cause::NotBuilt,
        Some(KernelOption::Module) => Cause::NotLoaded,
        Some(KernelOption::Unknown) => Cause::NoDriver,
        Some(KernelOption::BuiltIn) | None => Cause::NotStarted,
    }
}
