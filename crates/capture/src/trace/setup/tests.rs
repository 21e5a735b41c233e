//! Requests with a trace beside what perf 7.2.13 opens for them, as it was seen on a described machine.

use super::*;
use crate::options::{AuxOptions, SamplingOptions, SnapshotOptions, Target, TargetOptions};
use crate::plan::{MachineInfo, Plan, Purpose};
use crate::trace::testing::{FakeSysfs, SKYLAKE};
use crate::unsupported::Unsupported;
use oxperf_abi::{Cpu, Tid};
use oxperf_sys::clock::KernelClock;
use oxperf_sys::{Errno, FakeKernel};

const PRIVILEGED: Permissions = Permissions {
    paranoid: Some(2),
    privileged: true,
    seccomp: false,
    open_files: None,
};

/// `intel_pt//` with these modes left out.
fn trace(name: &str, left_out: AttrFlags) -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::CpuClock, name);
    request.pmu = intel_pt::NAME.into();
    request.attr.kind = EventType(10);
    request.attr.config = 0;
    request.attr.flags |= left_out;
    request.aux.is_traced = true;
    request
}

fn user_trace() -> EventRequest {
    trace(
        "intel_pt//u",
        AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
    )
}

fn cycles() -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::CpuClock, "cycles");
    request.attr.kind = EventType::HARDWARE;
    request
}

fn options(target: Target) -> RecordOptions {
    RecordOptions {
        target: TargetOptions {
            target,
            ..TargetOptions::default()
        },
        ..RecordOptions::default()
    }
}

fn set_up_on_skylake(
    requests: Vec<EventRequest>,
    options: &RecordOptions,
) -> Result<SetUp, TraceError> {
    let machine = FakeSysfs::new(SKYLAKE);
    let inputs = TraceInputs {
        options,
        sysfs: &machine.sysfs(),
        permissions: PRIVILEGED,
        kernel_tells_switches: true,
    };
    set_up(requests, inputs, &mut Vec::<Notice>::new())
}

/// What is opened on a machine of two CPUs, a line for each event and one for where it is.
fn plan(requests: Vec<EventRequest>, mut options: RecordOptions) -> (String, TraceSetup) {
    let (requests, setup) = set_up_on_skylake(requests, &options).unwrap();
    let setup = setup.unwrap();
    setup.complete(&mut options);
    let machine = MachineInfo {
        online: vec![Cpu(0), Cpu(1)],
        threads: vec![Tid(42)],
        is_hybrid: false,
    };
    let purpose = Purpose::Sampling(&options.sampling);
    let target = &options.target;
    let plan = Plan::new(target, purpose, &requests, &machine, Unsupported::default());
    (plan.to_string(), setup)
}

#[test]
fn a_workload_is_traced_on_every_cpu() {
    let (plan, setup) = plan(vec![user_trace()], options(Target::Workload));
    assert_eq!(
        plan,
        "\
intel_pt//u: type=10 config=0x300e601 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST disabled inherit exclude_kernel exclude_hv enable_on_exec sample_id_all aux_watermark=1048576
  workload@cpu0 workload@cpu1
dummy:u: type=1 config=0x9 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST inherit exclude_kernel exclude_hv mmap comm task sample_id_all exclude_guest mmap2 comm_exec context_switch ksymbol bpf_event build_id
  workload@cpu0 workload@cpu1
"
    );
    assert_eq!(
        (setup.switches, setup.per_cpu),
        (SwitchInfo::OfTarget, true)
    );
}

#[test]
fn a_thread_is_traced_without_times_in_its_records() {
    let mut options = options(Target::Threads(vec![Tid(42)]));
    options.target.per_thread = true;
    let (plan, setup) = plan(vec![user_trace()], options);
    assert_eq!(
        plan,
        "\
intel_pt//u: type=10 config=0x300e601 period=1 sample=IP|TID|IDENTIFIER read=ID|LOST disabled exclude_kernel exclude_hv sample_id_all aux_watermark=1048576
  thread 42@any
dummy:u: type=1 config=0x9 period=1 sample=IP|TID|IDENTIFIER read=ID|LOST disabled exclude_kernel exclude_hv mmap comm task sample_id_all exclude_guest mmap2 comm_exec ksymbol bpf_event build_id
  thread 42@any
"
    );
    assert_eq!((setup.switches, setup.per_cpu), (SwitchInfo::None, false));
}

#[test]
fn changes_of_the_kernels_code_are_told_beside_its_trace() {
    let request = trace(
        "intel_pt//k",
        AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_HV,
    );
    let (plan, setup) = plan(vec![request], options(Target::Cpus(vec![Cpu(1)])));
    assert_eq!(
        plan,
        "\
intel_pt//k: type=10 config=0x300e601 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST disabled exclude_user exclude_hv sample_id_all aux_watermark=1048576
  anyone@cpu1
dummy:u: type=1 config=0x9 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST exclude_kernel exclude_hv mmap comm task sample_id_all exclude_guest mmap2 comm_exec context_switch bpf_event build_id
  anyone@cpu1
dummy:u: type=1 config=0x9 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST exclude_kernel exclude_hv sample_id_all exclude_guest ksymbol text_poke
  anyone@cpu0 anyone@cpu1
"
    );
    assert_eq!(setup.switches, SwitchInfo::OfCpu);
}

#[test]
fn a_trace_without_times_has_no_use_for_changes_of_code_and_guests_are_in_it() {
    let flags = AttrFlags::EXCLUDE_USER | AttrFlags::EXCLUDE_HV | AttrFlags::EXCLUDE_GUEST;
    let mut request = trace("intel_pt/tsc=0/kH", flags);
    request.aux.named_bits = 0x400;
    let (plan, setup) = plan(vec![request], options(Target::Cpus(vec![Cpu(1)])));
    assert!(!plan.contains("text_poke"), "{plan}");
    let first = plan.lines().next().unwrap_or_default();
    assert!(first.contains("config=0x300e201") && !first.contains("exclude_guest"));
    assert_eq!(setup.switches, SwitchInfo::None);
}

#[test]
fn the_switches_of_all_tasks_have_an_event_of_their_own() {
    let mut options = options(Target::Workload);
    options.trace.switches = TraceSwitches::OfAll;
    let (plan, setup) = plan(vec![user_trace()], options);
    let behind: Vec<&str> = plan.lines().skip(2).collect();
    assert_eq!(
        behind,
        [
            "dummy:u: type=1 config=0x9 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST inherit exclude_kernel exclude_hv sample_id_all exclude_guest context_switch",
            "  anyone@cpu0 anyone@cpu1",
            "dummy:u: type=1 config=0x9 period=1 sample=IP|TID|TIME|CPU|IDENTIFIER read=ID|LOST disabled inherit exclude_kernel exclude_hv mmap comm enable_on_exec task sample_id_all exclude_guest mmap2 comm_exec ksymbol bpf_event build_id",
            "  workload@cpu0 workload@cpu1",
        ]
    );
    assert_eq!(setup.switches, SwitchInfo::OfCpu);
}

#[test]
fn samples_hold_trace_of_the_leader_which_comes_first() {
    let mut sampled = cycles();
    sampled.aux.sample_size = Some(8192);
    let requests = vec![cycles(), user_trace(), sampled];
    let (plan, setup) = plan(requests, options(Target::Workload));
    let lines: Vec<&str> = plan.lines().collect();
    assert!(lines[0].starts_with("intel_pt//u: type=10 config=0xe601 "));
    assert!(lines[0].ends_with(" sample_id_all"), "no watermark");
    assert!(
        lines[2].contains("|AUX ") && lines[2].ends_with(" aux_sample_size=8192"),
        "{plan}"
    );
    assert!(lines[3].contains(" member of 0 "), "{plan}");
    assert!(!lines[4].contains("AUX"), "{plan}");
    assert_eq!((setup.kept, setup.area), (TraceKept::InSamples, 8192));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |requests: Vec<EventRequest>, options: &RecordOptions| {
        set_up_on_skylake(requests, options).unwrap_err()
    };
    let plain = options(Target::Workload);
    let two = vec![user_trace(), user_trace()];
    assert_eq!(refused(two, &plain), TraceError::Several);
    let with_clock = RecordOptions {
        sampling: SamplingOptions {
            clock: Some(KernelClock::Monotonic),
            ..SamplingOptions::default()
        },
        ..plain.clone()
    };
    assert_eq!(refused(vec![user_trace()], &with_clock), TraceError::Clock);
    let snapshot = RecordOptions {
        trace: AuxOptions {
            snapshot: Some(SnapshotOptions::default()),
            ..AuxOptions::default()
        },
        ..plain.clone()
    };
    assert_eq!(
        refused(vec![cycles()], &snapshot),
        TraceError::NothingToSnapshot
    );
    let mut sampled = cycles();
    (sampled.leader, sampled.aux.sample_size) = (Some(0), Some(8));
    let both = vec![user_trace(), sampled];
    assert_eq!(refused(both, &snapshot), TraceError::SnapshotAndSamples);
    let mut newest = cycles();
    newest.overwrite = Some(true);
    assert_eq!(
        refused(vec![user_trace(), newest], &plain),
        TraceError::Overwrite
    );
}

#[test]
fn an_old_kernel_is_known_by_its_answer() {
    const EINVAL: Errno = Errno(22);
    assert!(tells_switches(&FakeKernel::new()));
    let refuses = |request: &OpenRequest<'_>| {
        let asked = request.attr.flags.contains(AttrFlags::CONTEXT_SWITCH);
        asked.then_some(EINVAL)
    };
    assert!(!tells_switches(&FakeKernel::new().refusing(refuses)));
    let machine = FakeSysfs::new(SKYLAKE);
    let options = options(Target::Workload);
    let inputs = TraceInputs {
        options: &options,
        sysfs: &machine.sysfs(),
        permissions: PRIVILEGED,
        kernel_tells_switches: false,
    };
    let (requests, setup) = set_up(vec![user_trace()], inputs, &mut Vec::<Notice>::new()).unwrap();
    let setup = setup.unwrap();
    assert_eq!(setup.switches, SwitchInfo::Tracepoint);
    let watcher = requests.iter().find(|request| request.watches_system);
    let name = watcher.map(|watcher| watcher.name.as_str());
    let is_seen =
        SystemTracefs::find().is_ok_and(|tracefs| tracefs.id("sched", "sched_switch").is_ok());
    assert_eq!(name, is_seen.then_some("sched:sched_switch"));
    assert!(requests.iter().any(|request| request.tracks));
}
