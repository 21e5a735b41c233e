//! The words for each cause, and for what there is in place of the trace.

use std::fmt;

use super::{Cause, MissingTrace, Processor, TraceKind};

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
