//! Texts against a catalogue of every kind of PMU.

use super::*;
use crate::{MemoryPmus, MemoryTracepoints, parse};

fn pmus() -> MemoryPmus {
    MemoryPmus::new()
        .pmu("cpu", 4)
        .format("event", "config:0-7,32-35")
        .format("umask", "config:8-15")
        .format("inv", "config:23")
        .format("ldlat", "config1:0-15")
        .event("instructions", "event=0xc0")
        .event("mem-loads", "event=0xcd,umask=0x1,ldlat=3")
        .event("param-ev", "event=0xcd,ldlat=?")
        .event("broken", "event=zz,,=")
        .pmu("uncore_imc_0", 12)
        .format("event", "config:0-7")
        .event("cas_count_read", "event=0x4")
        .event("cas_count_read.scale", "6.103515625e-5")
        .event("cas_count_read.unit", "MiB")
        .file("cpumask", "0")
        .pmu("uncore_imc_1", 13)
        .format("event", "config:0-7")
        .event("cas_count_read", "event=0x4")
        .pmu("software", 1)
}

fn tracepoints() -> MemoryTracepoints {
    MemoryTracepoints::default()
        .with("sched", "sched_switch", 0x174)
        .with("sched", "sched_swap_numa", 0x166)
        .with("irq", "irq_handler_entry", 7)
}

fn resolved_on(pmus: &MemoryPmus, text: &str) -> Result<Vec<ResolvedEvent>, SyntaxError> {
    let tracepoints = tracepoints();
    resolve(&parse(text)?, &Catalogue::new(pmus, &tracepoints))
}

/// One event a line: name, type, config words in use, flags that are set, and what else is special.
fn shown_on(pmus: &MemoryPmus, text: &str) -> String {
    let line = |event: ResolvedEvent| {
        let attr = event.attr;
        let mut line = format!("{} {}:{:#x}", event.name, attr.kind.0, attr.config);
        let words = [
            ("c1", attr.config1),
            ("c2", attr.config2),
            ("bp", attr.bp_type.into()),
        ];
        for (name, word) in words.iter().filter(|(_, word)| *word != 0) {
            line += &format!(" {name}={word:#x}");
        }
        line += &attr
            .flags
            .names()
            .map(|name| format!(" {name}"))
            .collect::<String>();
        let extra = [
            event.leader.map(|leader| format!("leader={leader}")),
            event.group_name.map(|name| format!("group={name}")),
            event.sample_read.then(|| "read".into()),
            event.weak_group.then(|| "weak".into()),
            (attr.flags.precise_ip() > 0).then(|| format!("precise={}", attr.flags.precise_ip())),
            event.max_precise.then(|| "max".into()),
            event.terms.rate.map(|rate| format!("{rate:?}")),
            event
                .unit
                .zip(event.scale)
                .filter(|_| attr.kind != EventType::SOFTWARE)
                .map(|(unit, scale)| format!("{scale}{unit}")),
            event.cpus.map(|cpus| format!("cpus={cpus}")),
        ];
        line + &extra
            .into_iter()
            .flatten()
            .map(|text| format!(" {text}"))
            .collect::<String>()
    };
    resolved_on(pmus, text)
        .unwrap()
        .into_iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn shown(text: &str) -> String {
    shown_on(&pmus(), text)
}

fn refused(text: &str) -> String {
    resolved_on(&pmus(), text).unwrap_err().to_string()
}

#[test]
fn generic_names_and_codes() {
    for (text, expected) in [
        ("cycles:u", "cycles:u 0:0x0 exclude_kernel exclude_hv"),
        ("cpu-clock", "cpu-clock 1:0x0"),
        ("FAULTS:k", "FAULTS:k 1:0x2 exclude_user exclude_hv"),
        ("L1-dcache-load-misses", "L1-dcache-load-misses 3:0x10000"),
        ("r1a8", "r1a8 4:0x1a8"),
        (
            "r5/period=9/u",
            "r5/period=9/u 4:0x5 exclude_kernel exclude_hv Period(9)",
        ),
        ("99:5", "99:5 99:0x5"),
        ("1:2/name=x/", "x 1:0x2"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn terms_of_a_pmu() {
    for (text, expected) in [
        (
            "cpu/event=0xc0,umask=0x1/u",
            "cpu/event=0xc0,umask=0x1/u 4:0x1c0 exclude_kernel exclude_hv",
        ),
        ("cpu/event=0x1c0/", "cpu/event=0x1c0/ 4:0x1000000c0"),
        ("cpu/inv/", "cpu/inv/ 4:0x800000"),
        ("cpu/umask=010/", "cpu/umask=010/ 4:0xa00"),
        (
            "cpu/mem-loads,ldlat=5/",
            "cpu/mem-loads,ldlat=5/ 4:0x1cd c1=0x7",
        ),
        (
            "cpu/param-ev,ldlat=7/",
            "cpu/param-ev,ldlat=7/ 4:0xcd c1=0x7",
        ),
        (
            "cpu/config=5,config2=7/",
            "cpu/config=5,config2=7/ 4:0x5 c2=0x7",
        ),
        ("cpu/r0x1c0/", "cpu/r0x1c0/ 4:0x1c0"),
        ("cpu//", "cpu// 4:0x0"),
        ("cpu/cycles/", "cpu/cycles/ 0:0x0"),
        (
            "cpu/period=5,freq=7/",
            "cpu/period=5,freq=7/ 4:0x0 Frequency(7)",
        ),
        ("software/cs/", "software/cs/ 1:0x3"),
        ("software/config=1/", "software/config=1/ 1:0x1"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn event_names_find_their_pmus() {
    assert_eq!(shown("instructions"), "instructions 4:0xc0");
    assert_eq!(
        shown("INSTRUCTIONS/period=3/"),
        "INSTRUCTIONS/period=3/ 4:0xc0 Period(3)"
    );
    assert_eq!(
        shown("cpu-clock/period=1000,name=foo/u"),
        "foo 1:0x0 exclude_kernel exclude_hv Period(1000)"
    );
    let both = "cas_count_read 12:0x4 0.00006103515625MiB cpus=0\ncas_count_read 13:0x4";
    assert_eq!(shown("cas_count_read"), both);
    let both = "imc/event=1/ 12:0x1 cpus=0\nimc/event=1/ 13:0x1";
    assert_eq!(shown("imc/event=1/"), both);
}

#[test]
fn clocks_have_a_unit_when_asked_for_by_name_or_number() {
    let unit = |text: &str| resolved_on(&pmus(), text).unwrap().remove(0).unit;
    for text in [
        "cpu-clock",
        "software/task-clock/",
        "1:0",
        "cpu-clock/name=foo/",
    ] {
        assert_eq!(unit(text).as_deref(), Some("msec"), "{text}");
    }
    assert_eq!(unit("page-faults").or(unit("software/config=0/")), None);
}

#[test]
fn hybrid_cores_each_count() {
    let pmus = MemoryPmus::new()
        .pmu("cpu_atom", 10)
        .file("cpus", "4-7")
        .format("event", "config:0-7")
        .pmu("cpu_core", 4)
        .file("cpus", "0-3")
        .format("event", "config:0-7");
    let expected = "cpu_atom/cycles/u 0:0xa00000000 exclude_kernel exclude_hv cpus=4-7\n\
                    cpu_core/cycles/u 0:0x400000000 exclude_kernel exclude_hv cpus=0-3";
    assert_eq!(shown_on(&pmus, "cycles:u"), expected);
    assert_eq!(
        shown_on(&pmus, "cpu_core/cycles/"),
        "cpu_core/cycles/ 0:0x400000000 cpus=0-3"
    );
    let expected = "cpu_core/r5/ 4:0x5 cpus=0-3";
    assert_eq!(shown_on(&pmus, "r5"), expected);
    assert_eq!(
        shown_on(&pmus, "cpu_core/event=3/"),
        "cpu_core/event=3/ 4:0x3 cpus=0-3"
    );
    assert!(resolved_on(&pmus, "cpu/event=3/").is_err());
}

#[test]
fn modifiers() {
    for (text, expected) in [
        (
            "cpu-clock:ukG",
            "cpu-clock:ukG 1:0x0 exclude_hv exclude_host",
        ),
        ("cpu-clock:H", "cpu-clock:H 1:0x0 exclude_guest"),
        ("cpu-clock:GH", "cpu-clock:GH 1:0x0"),
        ("cpu-clock:pp", "cpu-clock:pp 1:0x0 precise=2"),
        ("cpu-clock:pP", "cpu-clock:pP 1:0x0 precise=3 max"),
        (
            "cpu-clock:IDe",
            "cpu-clock:IDe 1:0x0 pinned exclusive exclude_idle",
        ),
        ("cpu-clock:S", "cpu-clock:S 1:0x0 read"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn groups() {
    let expected = "task-clock 1:0x1\n\
                    cpu-clock:u 1:0x0 exclude_hv group=g read\n\
                    page-faults 1:0x2 exclude_user exclude_hv leader=1 read";
    assert_eq!(shown("task-clock,g{cpu-clock:u,page-faults}:kS"), expected);
    let expected =
        "cpu-clock 1:0x0 pinned exclusive weak\npage-faults:D 1:0x2 pinned leader=0 weak";
    assert_eq!(shown("{cpu-clock,page-faults:D}:DeW"), expected);
    let both = "sched:sched_swap_numa 2:0x166\nsched:sched_switch 2:0x174 leader=0";
    assert_eq!(shown("{sched:sched_*}"), both);
}

#[test]
fn tracepoints_and_breakpoints() {
    for (text, expected) in [
        (
            "sched:sched_switch:u",
            "sched:sched_switch 2:0x174 exclude_kernel exclude_hv",
        ),
        ("*:irq_*", "irq:irq_handler_entry 2:0x7"),
        (
            "mem:0x1000/8:rw:u",
            "mem:0x1000 5:0x0 c1=0x1000 c2=0x8 bp=0x3 exclude_kernel exclude_hv",
        ),
        ("mem:0x1000:x", "mem:0x1000:x 5:0x0 c1=0x1000 c2=0x8 bp=0x4"),
        ("mem:0x1000", "mem:0x1000 5:0x0 c1=0x1000 c2=0x4 bp=0x3"),
        (
            "mem:0x1000:wx",
            "mem:0x1000:wx 5:0x0 c1=0x1000 c2=0x4 bp=0x6",
        ),
        ("mem:0x1000:w/name=a/", "a 5:0x0 c1=0x1000 c2=0x4 bp=0x2"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn refusals_look_like_perfs() {
    assert_eq!(
        refused("nosuch,cpu-clock"),
        "event syntax error: 'nosuch,cpu-clock'\n                     \\___ Bad event name\n\
         Unable to find event on a PMU of 'nosuch'"
    );
    assert_eq!(
        refused("cpu/event=0x1ffff/"),
        "event syntax error: 'cpu/event=0x1ffff/'\n                     \\___ Bad event or PMU\n\
         Unable to find PMU or event on a PMU of 'cpu'\n\
         event syntax error: 'cpu/event=0x1ffff/'\n                               \
         \\___ value too big for format (event), maximum is 4095"
    );
    for (text, ending) in [
        ("cpu/event/", "no value assigned for term"),
        ("cpu/event=zz/", "expected numeric value"),
        ("cpu/name/", "expected string value"),
        ("cpu-clock/time=5/", "expected 0 or 1"),
        (
            "cpu/param-ev/",
            "event 'param-ev' needs a value for 'ldlat'",
        ),
        ("broken", "cannot read 'event=zz' of event 'broken'"),
        (
            "{cpu-clock:p,page-faults}:ppp",
            "Maximum combined precise value is 3, adding precision to \"cpu-clock:p\"",
        ),
    ] {
        let refused = refused(text);
        assert!(refused.ends_with(ending), "{text}: {refused}");
    }
    assert!(
        refused("cpu/foo/").contains(
            "unknown term 'foo' for pmu 'cpu'\nvalid terms: event,inv,ldlat,umask,config"
        )
    );
    assert!(
        refused("sched:nosuch*").contains(
            "unknown tracepoint\nError:\tFile /sys/kernel/tracing/events/sched/nosuch* not"
        )
    );
    assert!(refused("sched:sched_switch/period=5/").contains("valid terms: nr,aux-output"));
}

#[test]
fn a_closed_tracefs_says_how_to_open_it() {
    let (pmus, tracepoints) = (pmus(), MemoryTracepoints::refused());
    let catalogue = Catalogue::new(&pmus, &tracepoints);
    let error = resolve(&parse("sched:sched_switch").unwrap(), &catalogue)
        .unwrap_err()
        .to_string();
    assert!(error.contains("can't access trace events") && error.contains("remount,mode=755"));
}
