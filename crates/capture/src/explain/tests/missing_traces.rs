//! Machines without a trace, and what the words must say.

use crate::explain::{MissingTrace, Processor, TraceFacts, TraceKind};

/// The machine in a few words, the kind that is asked for, what is known, and parts of the text.
type Row = (&'static str, TraceKind, TraceFacts, &'static [&'static str]);

fn machine(
    processor: Processor,
    brand: &str,
    flags: &str,
    pmus: &[&str],
    configuration: Option<&str>,
) -> TraceFacts {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let flags: Vec<&str> = flags.split_whitespace().collect();
    TraceFacts {
        processor,
        brand: (!brand.is_empty()).then(|| brand.to_owned()),
        virtual_machine: flags.contains(&"hypervisor"),
        has_branch_records: pmus.contains(&"cpu"),
        flags: owned(&flags),
        configuration: configuration.map(str::to_owned),
        pmus: owned(&[pmus, &["software"]].concat()),
    }
}

fn intel(flags: &str, configuration: Option<&str>) -> TraceFacts {
    let brand = "Intel(R) Core(TM) i7-6700";
    machine(Processor::Intel, brand, flags, &["cpu"], configuration)
}

fn intel_guest() -> TraceFacts {
    machine(
        Processor::Intel,
        "Intel(R) Xeon(R)",
        "hypervisor bts",
        &[],
        None,
    )
}

fn amd(pmus: &[&str], flags: &str) -> TraceFacts {
    machine(Processor::Amd, "AMD EPYC", flags, pmus, None)
}

fn arm(flags: &str, pmus: &[&str], configuration: Option<&str>) -> TraceFacts {
    machine(Processor::Arm, "", flags, pmus, configuration)
}

pub(super) fn rows() -> Vec<Row> {
    use TraceKind::{BranchTraceStore, CoreSight, IntelPt, StatisticalProfiling};
    vec![
        (
            "An AMD machine",
            IntelPt,
            amd(&["cpu", "ibs_op"], ""),
            &[
                "feature of Intel CPUs; this CPU is from AMD (AMD EPYC).",
                "-e ibs_op//",
                "(-b)",
                "(-g)",
            ],
        ),
        (
            "A virtual machine on an AMD one",
            IntelPt,
            amd(&[], "hypervisor"),
            &[
                "from AMD",
                "AMD CPUs can have instead: IBS",
                "this virtual machine exposes none",
                "-e cpu-clock -g",
            ],
        ),
        (
            "A virtual machine on an Intel one",
            IntelPt,
            intel_guest(),
            &[
                "hypervisor",
                "pt_mode=1",
                "-cpu host,intel-pt=on",
                "metal",
                "cpu-clock",
            ],
        ),
        (
            "An Intel CPU without the feature",
            IntelPt,
            intel("bts dtes64", None),
            &[
                "(Intel(R) Core(TM) i7-6700) has no Intel PT",
                "flag intel_pt",
                "firmware",
                "(-b)",
            ],
        ),
        (
            "A kernel without the driver",
            IntelPt,
            intel(
                "intel_pt",
                Some("CONFIG_PERF_EVENTS=y\n# CONFIG_PERF_EVENTS_INTEL_PT is not set\n"),
            ),
            &["built without", "CONFIG_PERF_EVENTS_INTEL_PT", "(-b)"],
        ),
        (
            "A driver that did not start",
            IntelPt,
            intel("intel_pt", Some("CONFIG_PERF_EVENTS_INTEL_PT=y\n")),
            &["did not start", "dmesg", "ToPA"],
        ),
        (
            "A CPU with Intel PT, and a kernel of which nothing is known",
            IntelPt,
            intel("intel_pt", None),
            &[
                "no driver",
                "CONFIG_PERF_EVENTS_INTEL_PT",
                "or it did not start",
                "dmesg",
            ],
        ),
        (
            "An Arm machine",
            IntelPt,
            arm("", &["armv8_pmuv3_0", "cs_etm", "arm_spe_0"], None),
            &["from Arm.", "-e cs_etm//u", "-e arm_spe_0//", "(-g)"],
        ),
        (
            "A container without sysfs",
            IntelPt,
            TraceFacts::default(),
            &["/sys/bus/event_source/devices", "container"],
        ),
        (
            "An AMD machine",
            BranchTraceStore,
            amd(&["cpu", "ibs_op"], ""),
            &["Intel BTS is a feature of Intel CPUs", "-e ibs_op//"],
        ),
        (
            "A virtual machine on an Intel one",
            BranchTraceStore,
            intel_guest(),
            &[
                "does not expose Intel BTS",
                "on the host",
                "CPUs can have instead: Intel PT",
            ],
        ),
        (
            "A CPU without the feature",
            BranchTraceStore,
            intel("dtes64", None),
            &["flags bts and dtes64"],
        ),
        (
            "Isolated page tables",
            BranchTraceStore,
            intel("bts dtes64 pti", None),
            &["flag pti", "pti=off"],
        ),
        (
            "A driver that did not start",
            BranchTraceStore,
            machine(Processor::Intel, "", "bts dtes64", &["intel_pt"], None),
            &["did not start", "-e intel_pt//u"],
        ),
        (
            "An Intel machine",
            CoreSight,
            machine(Processor::Intel, "", "", &["cpu", "intel_pt"], None),
            &[
                "CoreSight is a feature of Arm CPUs; this CPU is from Intel.",
                "-e intel_pt//u",
            ],
        ),
        (
            "A virtual machine on an Arm one",
            CoreSight,
            arm("hypervisor", &["armv8_pmuv3_0"], None),
            &[
                "do not expose CoreSight",
                "SPE (perf record -e arm_spe_0//)",
                "(-g)",
            ],
        ),
        (
            "A kernel without the driver",
            CoreSight,
            arm("", &["arm_spe_0"], Some("CONFIG_ARM_SPE_PMU=m\n")),
            &["CONFIG_CORESIGHT_SOURCE_ETM4X", "-e arm_spe_0//"],
        ),
        (
            "A driver as a module",
            CoreSight,
            arm("", &[], Some("CONFIG_CORESIGHT_SOURCE_ETM4X=m\n")),
            &[
                "modprobe -a coresight-etm4x coresight-tmc",
                "device tree or ACPI",
            ],
        ),
        (
            "A CPU of neither",
            StatisticalProfiling,
            machine(Processor::Other, "", "", &["cpu"], None),
            &[
                "SPE is a feature of Arm CPUs; this CPU is from another vendor.",
                "(-g)",
            ],
        ),
        (
            "A virtual machine on an Arm one",
            StatisticalProfiling,
            arm("hypervisor", &[], None),
            &[
                "KVM does not expose SPE",
                "CoreSight (perf record -e cs_etm//u)",
            ],
        ),
        (
            "A driver that did not start",
            StatisticalProfiling,
            arm("", &[], Some("CONFIG_ARM_SPE_PMU=y\n")),
            &["Armv8.2", "kpti=off"],
        ),
    ]
}

#[test]
fn each_machine_is_told_what_it_lacks_and_what_to_use() {
    for (machine, kind, facts, parts) in rows() {
        let text = MissingTrace::of(kind, &facts).to_string();
        for part in parts {
            assert!(text.contains(part), "{machine}: '{part}' is not in: {text}");
        }
        let longest = text.lines().map(str::len).max();
        assert!(longest.is_some_and(|length| length <= 140), "{text}");
    }
}

#[test]
fn kinds_are_known_by_their_pmus() {
    assert_eq!(
        TraceKind::of_pmu("arm_spe_0"),
        Some(TraceKind::StatisticalProfiling)
    );
    assert_eq!(TraceKind::of_pmu("cs_etm"), Some(TraceKind::CoreSight));
    assert_eq!(
        TraceKind::of_pmu("intel_bts"),
        Some(TraceKind::BranchTraceStore)
    );
    assert_eq!(TraceKind::of_pmu("cpu"), None);
}

#[test]
fn the_vendor_of_a_cpu_is_known_by_its_model() {
    let models = [
        ("GenuineIntel-6-5E-3", Processor::Intel),
        ("AuthenticAMD-25-11-1", Processor::Amd),
        ("0x00000000413fd0c1", Processor::Arm),
        ("004b0000", Processor::Other),
        ("0x004b0201", Processor::Other),
    ];
    for (model, processor) in models {
        assert_eq!(Processor::of_model(Some(model)), processor, "{model}");
    }
}

/// The part of the page about them.
pub(super) fn section() -> String {
    let mut section = String::from(
        "\n## Traces that a machine does not have\n\n\
         An event of a hardware trace that no PMU is there for is refused before the kernel is asked. What the machine lacks is\n\
         said behind perf's words, with what to use in its place.\n",
    );
    let mut heading = None;
    for (machine, kind, facts, _) in rows() {
        if heading.replace(kind) != Some(kind) {
            section.push_str(&format!("\n### {}\n", kind.name()));
        }
        let words = MissingTrace::of(kind, &facts);
        section.push_str(&format!("\n{machine}:\n\n```text\n{words}\n```\n"));
    }
    section
}
