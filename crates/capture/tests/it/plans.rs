//! The events that reach the kernel, for counting and for sampling, against those that perf opens.

use oxperf_abi::{AttrFlags, Cpu, Pid, SampleType, SoftwareId, Tid};
use oxperf_capture::plan::{PlannedEvent, RingKey};
use oxperf_capture::{
    EventRequest, MachineInfo, Notice, OpenContext, Plan, Privilege, Purpose, Rate,
    SamplingOptions, Start, Target, TargetOptions, Unsupported, acquire,
};
use oxperf_sys::{FakeCall, FakeKernel, OpenedEvent, OpenedTask, RingPages, Sysfs};
use std::time::Duration;

const WORKLOAD: Tid = Tid(7);
const THREAD: Tid = Tid(4242);

/// The options of perf that the cases use.
struct Case {
    target: TargetOptions,
    sampling: SamplingOptions,
    requests: Vec<EventRequest>,
}

impl Case {
    fn parse(options: &str) -> Case {
        let mut case = Case {
            target: TargetOptions::default(),
            sampling: SamplingOptions::default(),
            requests: Vec::new(),
        };
        let mut words = options.split(" -- ").next().unwrap().split_whitespace();
        while let Some(option) = words.next() {
            case.take(option, &mut words);
        }
        case
    }

    fn take<'a>(&mut self, option: &str, words: &mut impl Iterator<Item = &'a str>) {
        let target = &mut self.target;
        let mut value = || words.next().unwrap();
        match option {
            "-e" => self.requests = requests(value()),
            "-c" => self.sampling.rate = Some(Rate::Period(value().parse().unwrap())),
            "-i" => target.inherit = false,
            "-a" => target.target = Target::AllCpus,
            "-C" => target.target = Target::Cpus(vec![Cpu(value().parse().unwrap())]),
            "-p" => {
                assert_eq!(value(), "PID");
                target.target = Target::Processes(vec![Pid(THREAD.0)]);
            }
            "-t" => {
                assert_eq!(value(), "PID");
                target.target = Target::Threads(vec![THREAD]);
            }
            "-D" => {
                let delay = Duration::from_millis(value().parse().unwrap());
                target.start = Start::After(delay);
            }
            "--per-thread" => target.per_thread = true,
            "--all-user" => target.privilege = Privilege::UserOnly,
            other => panic!("{other} is not known here"),
        }
    }

    /// The events that the kernel saw, in the notation of the goldens.
    fn opened(&self, purpose: Purpose<'_>) -> String {
        let names_tasks = matches!(
            self.target.target,
            Target::Processes(_) | Target::Threads(_)
        );
        let machine = MachineInfo {
            online: vec![Cpu(0), Cpu(1)],
            threads: names_tasks.then_some(THREAD).into_iter().collect(),
            is_hybrid: false,
        };
        let kernel = FakeKernel::new();
        let context = OpenContext {
            kernel: &kernel,
            machine: &machine,
            sysfs: &Sysfs::at("/nonexistent"),
            workload: Some(WORKLOAD),
        };
        let mut notices: Vec<Notice> = Vec::new();
        let requests = self.requests.clone();
        let acquired = acquire(&self.target, purpose, requests, context, &mut notices).unwrap();
        assert!(notices.is_empty());
        let descriptors = acquired.open.events.iter().map(|event| event.fds.len());
        assert_eq!(descriptors.sum::<usize>(), kernel.opened().len());
        let lines = kernel.opened().into_iter().enumerate();
        lines
            .map(|(number, event)| line(number, &event))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// `a,b` or the group `{a,b}`, of software events, with `:u` or `/overwrite/` behind them.
fn requests(text: &str) -> Vec<EventRequest> {
    let members = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    let names = members.unwrap_or(text).split(',');
    let request = |(index, name)| {
        let mut request = request(name);
        request.leader = (members.is_some() && index > 0).then_some(0);
        request
    };
    names.enumerate().map(request).collect()
}

fn request(name: &str) -> EventRequest {
    let (named, modifier) = name.split_once(':').unwrap_or((name, ""));
    let plain = named.strip_suffix("/overwrite/");
    let event = plain.unwrap_or(named);
    let id = match event {
        "cpu-clock" => SoftwareId::CpuClock,
        "task-clock" => SoftwareId::TaskClock,
        "page-faults" => SoftwareId::PageFaults,
        other => panic!("{other} is not known here"),
    };
    let mut request = EventRequest::software(id, name);
    request.overwrite = plain.map(|_| true);
    match modifier {
        "" => {}
        "u" => request.attr.flags |= AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
        other => panic!("{other} is not known here"),
    }
    request
}

fn line(number: usize, event: &OpenedEvent) -> String {
    let attr = &event.attr;
    let is_frequency = attr.flags.contains(AttrFlags::FREQ);
    let rate = match (attr.sample_period, is_frequency) {
        (0, _) => String::new(),
        (frequency, true) => format!(" freq={frequency}"),
        (period, false) => format!(" period={period}"),
    };
    let flags = attr.flags.names().filter(|name| *name != "freq");
    let task = match event.task {
        OpenedTask::Any => "anyone",
        OpenedTask::Thread(WORKLOAD) => "workload",
        OpenedTask::Thread(THREAD) => "thread",
        other => panic!("{other:?} is no task of a case"),
    };
    let cpu = match event.cpu {
        Some(cpu) => format!("cpu{cpu}"),
        None => "any".to_owned(),
    };
    let leader = event.group.map(|leader| format!(" leader={leader}"));
    format!(
        "{number}: type={} config={:#x}{rate} sample={} read={} {} @ {task}@{cpu}{}",
        attr.kind.0,
        attr.config,
        sorted(attr.sample_type.names(), "|"),
        sorted(attr.read_format.names(), "|"),
        sorted(flags, " "),
        leader.unwrap_or_default()
    )
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>, between: &str) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.join(between)
}

/// Compares every case of a golden file; returns how many there were.
fn compare(golden: &str, opened: impl Fn(&Case) -> String) -> usize {
    let cases = golden.split("\n$ ").skip(1);
    cases
        .map(|case| {
            let (options, expected) = case.split_once('\n').unwrap();
            let got = opened(&Case::parse(options));
            assert_eq!(got, expected.trim_end(), "{options}");
        })
        .count()
}

#[test]
fn counted_events_are_those_of_perf() {
    let golden = include_str!("plans/counting.txt");
    let compared = compare(golden, |case| case.opened(Purpose::Counting));
    assert_eq!(compared, 10);
}

#[test]
fn sampled_events_are_those_of_perf() {
    let golden = include_str!("plans/sampling.txt");
    let compared = compare(golden, |case| {
        case.opened(Purpose::Sampling(&case.sampling))
    });
    assert_eq!(compared, 8);
}

/// Whatever an event's own terms say about samples, a counted one has no rate and no fields of a sample.
#[test]
fn counted_events_take_no_samples() {
    let mut request = request("task-clock");
    request.rate = Some(Rate::Period(1));
    request.time = Some(true);
    let case = Case {
        target: TargetOptions::default(),
        sampling: SamplingOptions::default(),
        requests: vec![request],
    };
    let kernel = FakeKernel::new();
    let machine = MachineInfo::default();
    let context = OpenContext {
        kernel: &kernel,
        machine: &machine,
        sysfs: &Sysfs::at("/nonexistent"),
        workload: Some(WORKLOAD),
    };
    let mut notices: Vec<Notice> = Vec::new();
    let acquired = acquire(
        &case.target,
        Purpose::Counting,
        case.requests,
        context,
        &mut notices,
    );
    assert!(acquired.unwrap().plan.rings.is_empty());
    let attr = kernel.opened()[0].attr;
    assert_eq!(attr.sample_period, 0);
    assert_eq!(attr.sample_type, SampleType::IDENTIFIER);
    assert!(!attr.flags.contains(AttrFlags::FREQ));
}

/// A ring keeps the oldest records or the newest, and takes those events that want the same.
#[test]
fn events_share_the_ring_of_their_kind() {
    let case = Case::parse("-e cpu-clock/overwrite/,page-faults,task-clock/overwrite/");
    let kernel = FakeKernel::new();
    let machine = MachineInfo {
        online: vec![Cpu(0), Cpu(1)],
        threads: Vec::new(),
        is_hybrid: false,
    };
    let context = OpenContext {
        kernel: &kernel,
        machine: &machine,
        sysfs: &Sysfs::at("/nonexistent"),
        workload: Some(WORKLOAD),
    };
    let mut notices: Vec<Notice> = Vec::new();
    let purpose = Purpose::Sampling(&case.sampling);
    let mut acquired =
        acquire(&case.target, purpose, case.requests, context, &mut notices).unwrap();
    let page = RingPages::new(1).unwrap();
    let owners = acquired.plan.rings;
    assert_eq!(owners, [RingKey::Cpu(Cpu(0)), RingKey::Cpu(Cpu(1))]);
    let rings = acquired
        .open
        .map_rings(&kernel, &owners, page.into())
        .unwrap();
    assert_eq!(rings.forward.len(), 2);
    let backward: Vec<RingKey> = rings.backward.iter().map(|(key, _)| *key).collect();
    assert_eq!(backward, owners);
    let calls = [
        FakeCall::MapRing(2, page),
        FakeCall::MapBackwardRing(0, page),
        FakeCall::SetOutput(4, 0),
        FakeCall::MapRing(3, page),
        FakeCall::MapBackwardRing(1, page),
        FakeCall::SetOutput(5, 1),
    ];
    assert_eq!(kernel.calls(), calls);
}

/// Where each event counts on one kind of core, one more event sees every task on all of them.
#[test]
fn tasks_are_tracked_on_cores_of_every_kind() {
    let on = |name: &str, cpus: [u32; 2]| EventRequest {
        cpus: Some(cpus.map(Cpu).to_vec()),
        ..EventRequest::software(SoftwareId::CpuClock, name)
    };
    let requests = [on("of-two", [2, 3]), on("of-others", [0, 1])];
    let machine = MachineInfo {
        online: [0, 1, 2, 3].map(Cpu).to_vec(),
        threads: Vec::new(),
        is_hybrid: true,
    };
    let (target, sampling) = (TargetOptions::default(), SamplingOptions::default());
    let purpose = Purpose::Sampling(&sampling);
    let plan = Plan::new(
        &target,
        purpose,
        &requests,
        &machine,
        Unsupported::default(),
    );
    let rings = [0, 1, 2, 3].map(|cpu| RingKey::Cpu(Cpu(cpu)));
    assert_eq!(plan.rings, rings);
    let [first, _, tracker] = &plan.events[..] else {
        panic!("{plan}");
    };
    assert!(tracker.tracking && tracker.sites.len() == 4);
    // It runs from the first moment, and the others from exec.
    let has = |event: &PlannedEvent, flag| event.attr.flags.contains(flag);
    let tracks_and_waits = |event| (has(event, AttrFlags::MMAP), has(event, AttrFlags::DISABLED));
    assert_eq!(tracks_and_waits(tracker), (true, false));
    assert_eq!(tracks_and_waits(first), (false, true));
}
