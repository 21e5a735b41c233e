//! Kinds of trace, and the state of a machine that decides whether it has them.

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
    pub(super) fn processor(self) -> Processor {
        match self {
            TraceKind::IntelPt | TraceKind::BranchTraceStore => Processor::Intel,
            TraceKind::CoreSight | TraceKind::StatisticalProfiling => Processor::Arm,
        }
    }

    /// The option that the kernel needs, and the modules of its driver; BTS comes with Intel's counters.
    pub(super) fn driver(self) -> Option<(&'static str, &'static str)> {
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
    pub(super) fn vendor(self) -> Option<&'static str> {
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
pub(super) enum KernelOption {
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
        let mut values = text.lines().filter_map(|line| {
            let (option, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
            (option == name).then_some(value)
        });
        match values.next_back() {
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
    pub(super) fn has_flag(&self, name: &str) -> bool {
        self.flags.iter().any(|flag| flag == name)
    }

    pub(super) fn has_pmu(&self, beginning: &str) -> bool {
        self.pmus.iter().any(|pmu| pmu.starts_with(beginning))
    }

    pub(super) fn has_counters(&self) -> bool {
        self.has_pmu("cpu") || self.has_pmu("armv")
    }

    pub(super) fn option(&self, name: &str) -> KernelOption {
        let text = self.configuration.as_deref();
        text.map_or(KernelOption::Unknown, |text| {
            KernelOption::in_configuration(text, name)
        })
    }
}
