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

use std::fmt;

/// A kind of hardware trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceKind {
    /// Intel Processor Trace.
    IntelPt,
    /// Intel Branch Trace Store.
    BranchTraceStore,
    /// Arm CoreSight: embedded trace.
    CoreSight,
    /// Arm Statistical Profiling Extension.
    StatisticalProfiling,
}

impl TraceKind {
    /// The kind of the PMU with this name, or of the PMUs with this beginning of a name; `None` for other PMUs.
    pub fn of_pmu(name: &str) -> Option<TraceKind> {
        let kinds = [
            ("intel_pt", TraceKind::IntelPt),
            ("intel_bts", TraceKind::BranchTraceStore),
            ("cs_etm", TraceKind::CoreSight),
            ("arm_spe", TraceKind::StatisticalProfiling),
        ];
        let kind = kinds.into_iter().find(|(pmu, _)| name.starts_with(pmu));
        kind.map(|(_, kind)| kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            TraceKind::IntelPt => "Intel PT",
            TraceKind::BranchTraceStore => "Intel BTS",
            TraceKind::CoreSight => "CoreSight",
            TraceKind::StatisticalProfiling => "SPE",
        }
    }

    /// The processors that have it.
    fn processor(self) -> Processor {
        match self {
            TraceKind::IntelPt | TraceKind::BranchTraceStore => Processor::Intel,
            TraceKind::CoreSight | TraceKind::StatisticalProfiling => Processor::Arm,
        }
    }

    /// The option that the kernel needs, and the modules of its driver; BTS comes with Intel's counters.
    fn driver(self) -> Option<(&'static str, &'static str)> {
        match self {
            TraceKind::IntelPt => Some(("PERF_EVENTS_INTEL_PT", "")),
            TraceKind::BranchTraceStore => None,
            TraceKind::CoreSight => Some((
                "CORESIGHT_SOURCE_ETM4X",
                "coresight-etm4x coresight-tmc coresight-funnel coresight-replicator",
            )),
            TraceKind::StatisticalProfiling => Some(("ARM_SPE_PMU", "arm_spe_pmu")),
        }
    }
}

/// A kind of processor, as far as traces differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Processor {
    /// One of Intel.
    Intel,
    /// One of AMD, or of Hygon.
    Amd,
    /// One of the architecture of 64-bit Arm.
    Arm,
    /// Any other one.
    #[default]
    Other,
}

impl Processor {
    /// The kind of a CPU by perf's string for its model; by the architecture of this program where nothing tells the model.
    pub fn of_model(model: Option<&str>) -> Processor {
        /// `0x00000000410fd0c0`, the register of the model.
        const ARM: usize = 18;
        match model {
            Some(model) if model.starts_with("GenuineIntel-") => Processor::Intel,
            Some(model) if model.starts_with("AuthenticAMD-") => Processor::Amd,
            Some(model) if model.starts_with("HygonGenuine-") => Processor::Amd,
            Some(model) if model.starts_with("0x") && model.len() == ARM => Processor::Arm,
            None if cfg!(target_arch = "aarch64") => Processor::Arm,
            _ => Processor::Other,
        }
    }

    /// Its vendor, or who licenses its architecture.
    fn vendor(self) -> Option<&'static str> {
        match self {
            Processor::Intel => Some("Intel"),
            Processor::Amd => Some("AMD"),
            Processor::Arm => Some("Arm"),
            Processor::Other => None,
        }
    }
}

/// Whether the kernel was built with an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum KernelOption {
    /// Nothing tells.
    Unknown,
    /// Without it.
    Off,
    /// With it, as a module.
    Module,
    /// With it.
    BuiltIn,
}

impl KernelOption {
    /// Finds an option, without `CONFIG_` before it, in the kernel's configuration.
    fn in_configuration(text: &str, name: &str) -> KernelOption {
        let values = text.lines().filter_map(|line| {
            let (option, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            (option == name).then_some(value)
        });
        match values.last() {
            Some("y") => KernelOption::BuiltIn,
            Some("m") => KernelOption::Module,
            _ => KernelOption::Off,
        }
    }
}

/// All that decides why there is no trace, and what there is in its place.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TraceFacts {
    /// The kind of CPU.
    pub processor: Processor,
    /// What the CPU calls itself; untrusted.
    pub brand: Option<String>,
    /// The words of the CPU's features, as `/proc/cpuinfo` has them.
    pub flags: Vec<String>,
    /// The machine is a virtual one.
    pub virtual_machine: bool,
    /// The kernel's configuration, where it can be read.
    pub configuration: Option<String>,
    /// The names of the PMUs that the kernel lists.
    pub pmus: Vec<String>,
    /// The counters can record branches.
    pub has_branch_records: bool,
}

impl TraceFacts {
    fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    fn has_pmu(&self, beginning: &str) -> bool {
        self.pmus.iter().any(|pmu| pmu.starts_with(beginning))
    }

    fn has_counters(&self) -> bool {
        self.has_pmu("cpu") || self.has_pmu("armv")
    }

    fn option(&self, name: &str) -> KernelOption {
        let text = self.configuration.as_deref();
        text.map_or(KernelOption::Unknown, |text| {
            KernelOption::in_configuration(text, name)
        })
    }
}

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

impl fmt::Display for MissingTrace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_cause(f)?;
        if self.cause == Cause::NoSysfs {
            return Ok(());
        }
        f.write_str("\n")?;
        self.write_alternatives(f)
    }
}

impl MissingTrace<'_> {
    fn write_cause(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.kind.name();
        match self.cause {
            Cause::NoSysfs => f.write_str(
                "/sys/bus/event_source/devices lists no PMU at all: sysfs is not mounted here, or is hidden, as in some containers.",
            ),
            Cause::OtherProcessor => {
                let vendors = [self.kind.processor(), self.facts.processor].map(Processor::vendor);
                let [own, other] = vendors.map(|vendor| vendor.unwrap_or("another vendor"));
                write!(f, "{name} is a feature of {own} CPUs; this CPU is from {other}")?;
                self.write_brand(f)?;
                f.write_str(".")
            }
            Cause::VirtualMachine => f.write_str(self.words_of_virtual_machine()),
            Cause::NoFeature => {
                f.write_str("This CPU")?;
                self.write_brand(f)?;
                f.write_str(self.words_of_feature())
            }
            Cause::PageTableIsolation => f.write_str(
                "The kernel isolates page tables (flag pti, against Meltdown), and offers no Intel BTS while it does.\n\
                 Booted with pti=off it does, and is open to Meltdown.",
            ),
            Cause::NotBuilt => {
                let (option, _) = self.kind.driver().unwrap_or_default();
                write!(f, "The kernel was built without the driver of {name} (CONFIG_{option}).")
            }
            Cause::NotLoaded => {
                let (_, modules) = self.kind.driver().unwrap_or_default();
                write!(
                    f,
                    "The driver of {name} is not loaded, or found no device.\n\
                     Load it: sudo modprobe -a {modules}\n{}",
                    self.words_of_start()
                )
            }
            Cause::NotStarted => write!(
                f,
                "The kernel has the driver of {name}, but it did not start; dmesg may say why.\n{}",
                self.words_of_start()
            ),
            Cause::NoDriver => {
                let (option, _) = self.kind.driver().unwrap_or_default();
                write!(
                    f,
                    "The kernel has no driver of {name} (CONFIG_{option}), or it did not start; dmesg may say why.\n{}",
                    self.words_of_start()
                )
            }
        }
    }

    fn words_of_virtual_machine(&self) -> &'static str {
        match self.kind {
            TraceKind::IntelPt => {
                "This is a virtual machine, and its hypervisor does not expose Intel PT.\n\
                 KVM does if the host loads it with pt_mode=1 (modprobe kvm_intel pt_mode=1; newer kernels no longer take it)\n\
                 and QEMU runs with -cpu host,intel-pt=on; clouds expose it on bare-metal instances alone. Or record on the host."
            }
            TraceKind::BranchTraceStore => {
                "This is a virtual machine, and its hypervisor does not expose Intel BTS. Record on the host."
            }
            TraceKind::CoreSight => {
                "This is a virtual machine, and hypervisors do not expose CoreSight. Record on the host."
            }
            TraceKind::StatisticalProfiling => {
                "This is a virtual machine, and KVM does not expose SPE. Record on the host."
            }
        }
    }

    /// Words behind "This CPU".
    fn words_of_feature(&self) -> &'static str {
        match self.kind {
            TraceKind::IntelPt => {
                " has no Intel PT (the flag intel_pt of /proc/cpuinfo), or the firmware switches it off.\n\
                 Core CPUs have it from Broadwell on, Atom CPUs from Goldmont on."
            }
            _ => {
                " has no Intel BTS (the flags bts and dtes64 of /proc/cpuinfo), or the firmware switches it off."
            }
        }
    }

    /// What a driver needs to start.
    fn words_of_start(&self) -> &'static str {
        match self.kind {
            TraceKind::IntelPt => {
                "It does not start if firmware or a debugger was tracing when the machine booted, or if the CPU lacks ToPA output."
            }
            TraceKind::BranchTraceStore => "It needs the PMU of the cores (cpu).",
            TraceKind::CoreSight => {
                "It needs firmware (device tree or ACPI) that describes the trace units and where they write to."
            }
            TraceKind::StatisticalProfiling => {
                "It needs a CPU with SPE (from Armv8.2 on), firmware that leaves SPE to the kernel, and kpti=off where the kernel\n\
                 isolates page tables."
            }
        }
    }

    fn write_brand(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.facts.brand {
            Some(brand) => write!(f, " ({brand})"),
            None => Ok(()),
        }
    }

    /// What the CPU's maker offers in place of it, and what works in any case.
    fn write_alternatives(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let facts = self.facts;
        let branches = ("branch records (-b)", facts.has_branch_records);
        let traces: &[_] = match facts.processor {
            Processor::Intel => &[
                ("Intel PT (-e intel_pt//u)", facts.has_pmu("intel_pt")),
                branches,
            ],
            Processor::Amd => &[("IBS (-e ibs_op//)", facts.has_pmu("ibs_op")), branches],
            Processor::Arm => &[
                (
                    "CoreSight (perf record -e cs_etm//u)",
                    facts.has_pmu("cs_etm"),
                ),
                ("SPE (perf record -e arm_spe_0//)", facts.has_pmu("arm_spe")),
                branches,
            ],
            Processor::Other => &[],
        };
        let own = self.kind.name();
        let others = || traces.iter().filter(|(words, _)| !words.starts_with(own));
        let there: Vec<&str> = others()
            .filter(|(_, is)| *is)
            .map(|(words, _)| *words)
            .collect();
        let calls = match facts.has_counters() {
            true => "samples with call chains (-g)",
            false => "samples with call chains by a clock (-e cpu-clock -g)",
        };
        if let (true, Some(vendor)) = (there.is_empty(), facts.processor.vendor()) {
            let all: Vec<&str> = others().map(|(words, _)| *words).collect();
            let machine = match facts.virtual_machine {
                true => "this virtual machine",
                false => "this machine",
            };
            writeln!(
                f,
                "{vendor} CPUs can have instead: {}; {machine} exposes none.",
                all.join(", ")
            )?;
        }
        let here: Vec<&str> = there.into_iter().chain([calls]).collect();
        write!(f, "Available here: {}.", here.join(", "))
    }
}
