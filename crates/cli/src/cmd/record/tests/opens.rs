//! Options against the calls by which perf opens events, over a kernel that has no hardware counters.

use oxperf_abi::{AttrFlags, Cpu, EventAttr, EventType, Tid};
use oxperf_capture::{CaptureError, MachineInfo, Notice, OpenContext, Purpose, Target, acquire};
use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints};
use oxperf_sys::{Errno, FakeKernel, OpenRequest, OpenedEvent, OpenedTask, Sysfs};

use super::{THREAD, parsed};
use crate::cmd::record::events;

const WORKLOAD: Tid = Tid(7);
const ENOENT: Errno = Errno(2);

/// Hardware events do not exist, as on most virtual machines.
fn without_counters(request: &OpenRequest<'_>) -> Option<Errno> {
    let counters = [EventType::HARDWARE, EventType::HW_CACHE, EventType::RAW];
    counters.contains(&request.attr.kind).then_some(ENOENT)
}

/// The counters' own names on a Skylake.
fn skylake() -> MemoryPmus {
    MemoryPmus::new()
        .pmu("software", 1)
        .pmu("cpu", 4)
        .format("event", "config:0-7")
        .format("umask", "config:8-15")
        .event("branch-instructions", "event=0xc4")
        .event("branch-misses", "event=0xc5")
        .event("bus-cycles", "event=0x3c,umask=0x01")
        .event("cache-misses", "event=0x2e,umask=0x41")
        .event("cache-references", "event=0x2e,umask=0x4f")
        .event("cpu-cycles", "event=0x3c")
        .event("instructions", "event=0xc0")
        .event("ref-cycles", "event=0x00,umask=0x03")
}

/// The events that are open in the end, in the notation of `opens.txt`.
fn opens(case: &str) -> String {
    let (kernel, options) = match case.trim().strip_prefix("[counters]") {
        Some(options) => (FakeKernel::new(), options),
        None => (FakeKernel::new().refusing(without_counters), case),
    };
    let command = parsed(options);
    let pmus = if case.contains("[counters]") {
        skylake()
    } else {
        MemoryPmus::new().pmu("software", 1).pmu("cpu", 4)
    };
    let tracepoints = MemoryTracepoints::default()
        .with("sched", "sched_switch", 0x174)
        .with("syscalls", "sys_enter_write", 0x348)
        .with("syscalls", "sys_exit_write", 0x347);
    let requests = match events::requested_in(&command.events, &Catalogue::new(&pmus, &tracepoints))
    {
        Ok(requests) => requests,
        Err(refused) => return refused.to_string(),
    };
    let target = &command.options.target;
    let names_tasks = matches!(target.target, Target::Processes(_) | Target::Threads(_));
    let machine = MachineInfo {
        online: vec![Cpu(0), Cpu(1)],
        threads: names_tasks.then_some(Tid(THREAD)).into_iter().collect(),
        is_hybrid: false,
    };
    let context = OpenContext {
        kernel: &kernel,
        machine: &machine,
        sysfs: &Sysfs::at("/nonexistent"),
        workload: Some(WORKLOAD),
    };
    let purpose = Purpose::Sampling(&command.options.sampling);
    let mut notices: Vec<Notice> = Vec::new();
    match acquire(target, purpose, requests, context, &mut notices) {
        Ok(acquired) => {
            let names = acquired
                .plan
                .events
                .iter()
                .map(|event| &*event.request.name);
            let count: usize = acquired
                .open
                .events
                .iter()
                .map(|event| event.fds.len())
                .sum();
            let opened = kernel.opened();
            // An attempt that failed left its events closed: those of the last one are open.
            text(names, &opened[opened.len() - count..])
        }
        Err(CaptureError::NoEvent(_)) => "error\n".to_owned(),
        Err(error) => panic!("{case}: {error}"),
    }
}

/// Openings of one attribute in a row are one event's, unless they open it twice at a site.
fn text<'a>(mut names: impl Iterator<Item = &'a str>, opened: &[OpenedEvent]) -> String {
    let mut out = String::new();
    let mut sites: Vec<String> = Vec::new();
    let mut last = String::new();
    for event in opened {
        let (attr, site) = (attr_text(&event.attr), site_text(event));
        if attr != last || sites.contains(&site) {
            push_sites(&mut out, &mut sites);
            out += &format!("{}: {attr}\n", names.next().unwrap_or("?"));
        }
        if sites.is_empty() && event.group.is_some() {
            out += "  member";
        }
        sites.push(site);
        last = attr;
    }
    push_sites(&mut out, &mut sites);
    out
}

fn push_sites(out: &mut String, sites: &mut Vec<String>) {
    if sites.is_empty() {
        return;
    }
    if !out.ends_with("member") {
        out.push(' ');
    }
    *out += &format!(" {}\n", sites.join(" "));
    sites.clear();
}

fn site_text(event: &OpenedEvent) -> String {
    let task = match event.task {
        OpenedTask::Any => "anyone",
        OpenedTask::Thread(WORKLOAD) => "workload",
        OpenedTask::Thread(_) => "thread PID",
        other => panic!("{other:?} is no task of a case"),
    };
    let cpu = event
        .cpu
        .map_or("any".to_owned(), |cpu| format!("cpu{cpu}"));
    format!("{task}@{cpu}")
}

fn attr_text(attr: &EventAttr) -> String {
    let rate = if attr.flags.contains(AttrFlags::FREQ) {
        "freq"
    } else {
        "period"
    };
    let before = [
        ("config1", attr.config1, true),
        ("config2", attr.config2, true),
        (rate, attr.sample_period, false),
        ("bp_type", attr.bp_type.into(), true),
    ];
    let after = [
        ("regs_user", attr.sample_regs_user, true),
        ("stack_user", attr.sample_stack_user.into(), false),
        ("regs_intr", attr.sample_regs_intr, true),
        ("max_stack", attr.sample_max_stack.into(), false),
        ("wakeup", attr.wakeup_events.into(), false),
    ];
    let mut out = format!("type={} config={:#x}", attr.kind.0, attr.config);
    push_numbers(&mut out, &before);
    if attr.flags.contains(AttrFlags::FREQ) && attr.sample_period == 0 {
        out += " freq";
    }
    let branches: Vec<&str> = attr.branch_sample_type.names().collect();
    if !branches.is_empty() {
        out += &format!(" branch={}", branches.join("|"));
    }
    push_numbers(&mut out, &after);
    let names = |names: Vec<&str>| names.join("|");
    out += &format!(
        " sample={} read={}",
        names(attr.sample_type.names().collect()),
        names(attr.read_format.names().collect())
    );
    for flag in attr.flags.names().filter(|name| *name != "freq") {
        out += &format!(" {flag}");
    }
    match attr.flags.precise_ip() {
        0 => out,
        level => format!("{out} precise_ip={level}"),
    }
}

/// Numbers with their names, in hexadecimal or not; those that are zero are left out.
fn push_numbers(out: &mut String, numbers: &[(&str, u64, bool)]) {
    for (name, value, hex) in numbers.iter().filter(|(_, value, _)| *value != 0) {
        *out += &if *hex {
            format!(" {name}={value:#x}")
        } else {
            format!(" {name}={value}")
        };
    }
}

#[test]
fn the_events_that_are_opened_are_those_of_perf() {
    let cases: Vec<(&str, &str)> = include_str!("opens.txt")
        .split("\n$")
        .skip(1)
        .filter_map(|case| case.split_once('\n'))
        .collect();
    let differences: Vec<String> = cases
        .iter()
        .filter_map(|(options, expected)| {
            let (got, expected) = (opens(options), expected.trim_end());
            let got = got.trim_end();
            (got != expected)
                .then(|| format!("record {options}\n  expected\n{expected}\n  got\n{got}\n"))
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
    assert!(cases.len() >= 120, "{} cases", cases.len());
}
