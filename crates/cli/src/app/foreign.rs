//! The commands of perf that are not here yet, each with the nearest way to get there.

/// A command, and what to do instead.
const ALL: &[(&str, &str)] = &[
    (
        "bench",
        "'perf bench' of Linux perf; 'PROGRAM record perf bench ...' samples it",
    ),
    (
        "c2c",
        "'PROGRAM report --mem-mode' and 'PROGRAM script -F addr,data_src' of a recording with memory addresses",
    ),
    (
        "daemon",
        "a service of the system that runs 'PROGRAM record -o FILE'",
    ),
    (
        "ftrace",
        "the files of /sys/kernel/tracing; 'PROGRAM record -e ftrace:function' where that event exists",
    ),
    (
        "inject",
        "'report', 'script' and 'annotate' decode traces (--itrace) and read the code that JIT compilers log by themselves",
    ),
    (
        "iostat",
        "'PROGRAM stat -a -e uncore_iio/event=NUMBER/' counts what the I/O units offer",
    ),
    (
        "kmem",
        "'PROGRAM record -e kmem:kmalloc,kmem:kfree -- COMMAND', then 'PROGRAM script'",
    ),
    (
        "kwork",
        "'PROGRAM record -a -e irq:irq_handler_entry,irq:irq_handler_exit -- sleep 5', then 'PROGRAM script'",
    ),
    (
        "lock",
        "'PROGRAM record -e lock:contention_begin,lock:contention_end -g -- COMMAND', then 'PROGRAM report'",
    ),
    (
        "mem",
        "'PROGRAM report --mem-mode' and 'PROGRAM script -F addr,data_src' of a recording with memory addresses",
    ),
    (
        "probe",
        "a line in /sys/kernel/tracing/kprobe_events or uprobe_events, then 'PROGRAM record -e probes:NAME'",
    ),
    (
        "sched",
        "'PROGRAM record -a -e sched:sched_switch,sched:sched_wakeup -- sleep 5', then 'PROGRAM script'",
    ),
    (
        "timechart",
        "'PROGRAM record -a -e sched:sched_switch -- sleep 5', then 'PROGRAM export' for the Firefox Profiler",
    ),
    (
        "top",
        "'PROGRAM record -a -g -- sleep 5', then 'PROGRAM report'",
    ),
    (
        "trace",
        "'PROGRAM record -e raw_syscalls:sys_enter,raw_syscalls:sys_exit -- COMMAND', then 'PROGRAM script'",
    ),
];

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|(name, _)| *name)
}

/// The refusal of one of them; `None` for any other name.
pub(super) fn refusal(program: &str, name: &str) -> Option<String> {
    let (_, way) = ALL.iter().find(|(known, _)| *known == name)?;
    let way = way.replace("PROGRAM", program);
    Some(format!(
        "{program}: {name} command not available: it is one of Linux perf that oxperf does not have yet.\nInstead: {way}"
    ))
}
