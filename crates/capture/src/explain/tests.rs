//! Every answer of the kernel, with the state that decides its cause, and what the words must say.

mod answers;
mod missing_traces;

use oxperf_abi::{AttrFlags, Cpu, EventAttr, EventType};
use oxperf_sys::{Errno, OpenError, RingError, RingPages};

use super::*;
use answers::{Row, machines, requests, resources, rights};

/// What was asked, and where.
struct Case {
    attr: EventAttr,
    pmu: &'static str,
    task: AttemptTask,
    cpu: Option<Cpu>,
    group: Option<usize>,
    facts: OpenFacts,
}

/// A hardware event in user mode that samples, of the recorder's child, for an ordinary user of an ordinary machine.
fn ordinary() -> Case {
    Case {
        attr: EventAttr {
            kind: EventType::HARDWARE,
            sample_period: 1000,
            flags: AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV,
            ..EventAttr::default()
        },
        pmu: "cpu",
        task: AttemptTask::Child,
        cpu: None,
        group: None,
        facts: OpenFacts {
            permissions: Permissions {
                paranoid: Some(2),
                privileged: false,
                seccomp: false,
                open_files: Some(1024),
            },
            online: vec![Cpu(0), Cpu(1)],
            max_sample_rate: Some(100_000),
            max_stack: Some(127),
            ..OpenFacts::default()
        },
    }
}

fn with(change: impl FnOnce(&mut Case)) -> Case {
    let mut case = ordinary();
    change(&mut case);
    case
}

fn attr(change: impl FnOnce(&mut EventAttr)) -> Case {
    with(|case| change(&mut case.attr))
}

fn facts(change: impl FnOnce(&mut OpenFacts)) -> Case {
    with(|case| change(&mut case.facts))
}

fn root(change: impl FnOnce(&mut Case)) -> Case {
    with(|case| {
        case.facts.permissions.privileged = true;
        change(case);
    })
}

fn everybody(case: &mut Case) {
    case.task = AttemptTask::Everybody;
    case.cpu = Some(Cpu(0));
}

fn uncore(case: &mut Case) {
    case.attr.kind = EventType(30);
    case.pmu = "uncore_imc_0";
    case.facts.pmu_is_uncore = true;
    case.attr.sample_period = 0;
    case.attr.flags = AttrFlags::EMPTY;
}

fn explained(case: &Case, errno: i32) -> Explanation {
    let attempt = OpenAttempt {
        event: "event",
        pmu: case.pmu,
        attr: &case.attr,
        task: case.task,
        cpu: case.cpu,
        group: case.group,
    };
    Explanation::new(&attempt, OpenError::from(Errno(errno)), &case.facts)
}

const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const ESRCH: i32 = 3;
const EINTR: i32 = 4;
const EIO: i32 = 5;
const ENXIO: i32 = 6;
const E2BIG: i32 = 7;
const EBADF: i32 = 9;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const EFAULT: i32 = 14;
const EBUSY: i32 = 16;
const ENODEV: i32 = 19;
const EINVAL: i32 = 22;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const ENOSYS: i32 = 38;
const ENODATA: i32 = 61;
const EOVERFLOW: i32 = 75;
const EOPNOTSUPP: i32 = 95;

#[test]
fn each_answer_has_its_words() {
    for (errno, case, parts) in [rights(), machines(), requests(), resources()]
        .into_iter()
        .flatten()
    {
        let explanation = explained(&case, errno);
        let text = explanation.to_string();
        let first = format!("Failure to open event 'event': {}.\n", Errno(errno));
        assert!(text.starts_with(&first), "{text}");
        for part in parts {
            assert!(
                text.contains(part),
                "'{part}' is not in the text for {errno}: {text} ({:?})",
                explanation.reason
            );
        }
    }
}

/// Every number that the manual page lists, and a few that drivers add, has more than the kernel's own words.
#[test]
fn no_number_is_left_without_words() {
    let listed = [
        E2BIG, EACCES, EBADF, EBUSY, EFAULT, EINTR, EINVAL, EMFILE, ENODEV, ENOENT, ENOSPC, ENOSYS,
        EOPNOTSUPP, EOVERFLOW, EPERM, ESRCH, ENOMEM, ENFILE, ENXIO, ENODATA,
    ];
    let deep = attr(|attr| attr.sample_max_stack = 200);
    for errno in listed {
        assert_ne!(explained(&deep, errno).reason, Reason::Unknown);
    }
}

#[test]
fn a_members_group_is_counted_up_to_it() {
    use crate::event::EventRequest;
    use crate::options::{SamplingOptions, Target, TargetOptions};
    use crate::plan::{MachineInfo, Plan, Purpose};
    use crate::unsupported::Unsupported;
    use oxperf_abi::SoftwareId;

    let member = EventRequest {
        leader: Some(1),
        ..EventRequest::software(SoftwareId::PageFaults, "member")
    };
    let requests = [
        EventRequest::software(SoftwareId::Dummy, "alone"),
        EventRequest::software(SoftwareId::CpuClock, "leader"),
        member.clone(),
        member,
    ];
    let target = TargetOptions {
        target: Target::AllCpus,
        ..TargetOptions::default()
    };
    let machine = MachineInfo {
        online: vec![Cpu(1)],
        threads: Vec::new(),
        is_hybrid: false,
    };
    let sampling = SamplingOptions::default();
    let purpose = Purpose::Sampling(&sampling);
    let plan = Plan::new(
        &target,
        purpose,
        &requests,
        &machine,
        Unsupported::default(),
    );
    let attempt = |event: usize| {
        let site = plan.events[event].sites[0];
        OpenAttempt::of_plan(&plan, event, site).unwrap()
    };
    let groups = [0, 1, 2, 3].map(|event| attempt(event).group);
    assert_eq!(groups, [None, None, Some(2), Some(3)]);
    assert_eq!(
        (attempt(2).task, attempt(2).cpu),
        (AttemptTask::Everybody, Some(Cpu(1)))
    );
    assert_eq!((attempt(2).event, attempt(2).pmu), ("member", "software"));
}

#[test]
fn rings_name_their_limit() {
    let text = |error| {
        let ring = RingExplanation {
            error,
            sizes: RingPages::new(1024).unwrap().into(),
            limit_kb: Some(516),
        };
        ring.to_string()
    };
    let locked = text(RingError::LockedMemory { bytes: 4 << 20 });
    for part in ["1024 pages", "516 kB", "perf_event_mlock_kb=65536", "-m"] {
        assert!(locked.contains(part), "{locked}");
    }
    let other = text(RingError::Map {
        bytes: 4096,
        errno: Errno(EINVAL),
    });
    assert!(other.contains("Invalid argument"), "{other}");
}

/// The names of the numbers, in the order of the page.
const NAMES: [(i32, &str); 20] = [
    (E2BIG, "E2BIG"),
    (EACCES, "EACCES"),
    (EBADF, "EBADF"),
    (EBUSY, "EBUSY"),
    (EFAULT, "EFAULT"),
    (EINTR, "EINTR"),
    (EINVAL, "EINVAL"),
    (EMFILE, "EMFILE"),
    (ENFILE, "ENFILE"),
    (ENODATA, "ENODATA"),
    (ENODEV, "ENODEV"),
    (ENOENT, "ENOENT"),
    (ENOMEM, "ENOMEM"),
    (ENOSPC, "ENOSPC"),
    (ENOSYS, "ENOSYS"),
    (ENXIO, "ENXIO"),
    (EOPNOTSUPP, "EOPNOTSUPP"),
    (EOVERFLOW, "EOVERFLOW"),
    (EPERM, "EPERM"),
    (ESRCH, "ESRCH"),
];

/// `docs/refused-events.md` holds the words of the table's rows.
#[test]
fn the_page_has_all_words() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/refused-events.md");
    let (page, found) = (page(), std::fs::read_to_string(path).unwrap());
    if found != page {
        let renewed = std::env::temp_dir().join("oxperf-refused-events.md");
        std::fs::write(&renewed, page).unwrap();
        panic!("the page is {} now: copy it to docs", renewed.display());
    }
}

fn page() -> String {
    let rows: Vec<Row> = [rights(), machines(), requests(), resources()]
        .into_iter()
        .flatten()
        .collect();
    let mut page = String::from(
        "# Refused events\n\n\
         The kernel answers with a number alone. The reason follows from it, from what was asked and from the state of the\n\
         machine; these are the words for each that oxperf knows, with made-up figures. The first line always names the event\n\
         and the kernel's own words. The page is made of the tests of `crates/capture/src/explain`.\n",
    );
    for (number, name) in NAMES {
        page.push_str(&format!("\n## {name}: {}\n", Errno(number)));
        let mut told = Vec::new();
        for (_, case, _) in rows.iter().filter(|(errno, _, _)| *errno == number) {
            let words = explained(case, number).reason.to_string();
            if !told.contains(&words) {
                page.push_str(&format!("\n```text\n{words}\n```\n"));
                told.push(words);
            }
        }
    }
    page + &missing_traces::section()
}
