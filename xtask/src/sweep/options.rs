//! Options of `report`, `script` and `annotate` are compared with perf7, each over the recordings where it matters.

/// Some options and the recordings that they are tried with; `/` stands before those of perf 6.1.
pub(super) struct Trial {
    /// Names of cases.
    pub(super) cases: &'static [&'static str],
    /// The words behind the command, a text each.
    pub(super) words: &'static [&'static str],
}

/// What stands before every report: text, and no functions that were inlined, which need debug files of this machine.
pub(super) const REPORT: [&str; 3] = ["report", "--stdio", "--no-inline"];
/// Words of `script`.
pub(super) const SCRIPT: [&str; 2] = ["script", "--no-inline"];

/// One event, several, a group, tracepoints, with and without call chains.
const EVENTS: &[&str] = &[
    "default-cycles",
    "fp-forks",
    "group-S-g",
    "multi-events",
    "sched-g-wakeup",
];
const CHAINS: &[&str] = &["fp-forks", "group-S-g", "sched-g-wakeup"];
const MEMORY: &[&str] = &["data-phys-weight", "page-sizes"];

/// Recordings of every other kind: whole machines, copies of stacks, compressed ones, other clocks, streams, registers,
/// groups, tracepoints with arguments, breakpoints, attached processes.
const OTHERS: &[&str] = &[
    "attach-pid",
    "bpf-output",
    "cpuclock-g-threads",
    "dwarf-sort-u",
    "group-S",
    "jit-node-interp",
    "kernel-callchains",
    "mem-breakpoint-x",
    "page-faults-g",
    "per-thread-attach",
    "period-c",
    "pipe-group",
    "pipe-tracepoint",
    "regs",
    "syscalls-few",
    "systemwide-g",
    "threads-dir",
    "time-period",
    "zstd-dwarf",
    "/clock-raw",
    "/raw-events",
    "/raw-R",
    "/two-groups",
    "/uprobe-args",
];

pub(super) const REPORTS: [Trial; 13] = [
    Trial {
        cases: OTHERS,
        words: &[
            "--no-children",
            "-n -g caller,0.5,callee,count",
            "-g none -s pid,cpu,sym -F +period,sample",
            "-g none --hierarchy --no-children -s comm,dso,sym",
            "-g none --sort= --show-cpu-utilization",
            "-g none --no-children -s time,comm --time-quantum 1ms",
            "--stats",
        ],
    },
    Trial {
        cases: EVENTS,
        words: &[
            "-g none -s pid,tgid",
            "-g none -s cpu,dso",
            "-g none -s comm,dso,sym,symbol_size",
            "-g none -s comm_nodigit,cpu",
            "-g none -s socket,cgroup --no-children",
            "-g none -s trace",
            "-g none -s parent --parent ^do_",
            "-g none -F overhead,sample,period,dso",
            "-g none -F overhead_sys,overhead_us,comm",
            "-g none -F +period,cpu",
            "-g none --pid 1",
            "-g none -C 0",
            "-g none -U",
            "-g none -n --show-total-period --show-cpu-utilization",
            "-g none -t ,",
            "-g none -w 10,20,30",
            "-g none -q",
            "-g none --header -I",
            "-g none --skip-empty",
            "-g none --no-skip-empty",
            "-g none --no-demangle",
            "-g none --demangle-kernel --samples 3 --objdump objdump --prefix /src -M intel",
            "-g none --socket-filter 0",
            "-g none --show-ref-call-graph --no-quiet",
            "-g none -T",
            "-g none --raw-trace",
            "-g none --no-children -v",
            "-g none --hierarchy",
            "-g none --hierarchy --no-children --percent-limit 2",
            "-g none --hierarchy --no-children -s {comm,dso},sym -n",
            "-g none --hierarchy --no-children -t , -s dso,cpu",
            "-g none --percent-limit 5",
            "-g none --time 10%-50%",
            "-g none --time 10%/2",
            "-g none --time 0%-0%",
            "-g none --no-children --stdio-color always",
            "--stats",
            "--tasks",
            "--mmaps",
        ],
    },
    Trial {
        cases: CHAINS,
        words: &[
            "--children",
            "--no-children",
            "--no-call-graph",
            "-g graph,2,5",
            "-g fractal,0.5,callee --no-children",
            "-g flat,0.5 --no-children",
            "-g folded --no-children",
            "-g caller --no-children",
            "-g callee --children",
            "-g count",
            "-g period --no-children",
            "-G --no-children",
            "--ignore-callees ^do_ --no-children",
            "--ignore-callees ^do_",
            "-g none -p ^do_",
            "-g none -p ^do_ -x",
            "-p ^do_ --no-children",
            "--max-stack 4",
            "--percent-limit 5",
            "--stdio-color always",
            "-t , -g folded",
            "-s dso,sym",
        ],
    },
    Trial {
        cases: &["default-cycles", "fp-forks", "multi-events"],
        words: &[
            "-g none -d libc.so.6",
            "-g none -d libc.so.6 -s comm,dso_size",
            "-g none --time 20%-60% -c deep",
            "-g none -c deep,cat",
            "-g none -c cat",
            "-g none -S main,do_syscall_64",
            "-g none --tid 1",
            "-g none --percentage relative -d libc.so.6",
            "-g none -s time,comm --no-children",
            "-g none -s time --time-quantum 10ms --ns --no-children",
        ],
    },
    Trial {
        cases: MEMORY,
        words: &[
            "-s weight,local_weight",
            "-s ins_lat,retire_lat,local_p_stage_cyc",
            "-s code_page_size,simd,transaction",
            "-s addr",
            "-s dso,symoff",
            "-F weight1,weight2,weight3,comm",
            "-F overhead,ins_lat,retire_lat,p_stage_cyc,dso",
            "--mem-mode",
            "--mem-mode -s mem,tlb,snoop,locked,blocked -n",
            "--mem-mode -s phys_daddr,data_page_size,dso_daddr",
            "--mem-mode -s comm,symbol_daddr,symbol_iaddr -t ,",
            "--mem-mode --hierarchy",
            "--mem-mode -F overhead,op,cache,memory,snoop,dtlb,sym",
            "--mem-mode -F +op -t ,",
            "--mem-mode -s symbol_daddr",
        ],
    },
    Trial {
        cases: &["cgroup", "namespaces-cgroups"],
        words: &[
            "-g none -s cgroup,comm --no-children",
            "-g none -s cgroup_id --no-children",
        ],
    },
    Trial {
        cases: &["group-S-g", "group-S"],
        words: &[
            "-g none --group",
            "-g none --no-group",
            "-g none --group-sort-idx 1",
            "-g none --hierarchy --no-children",
        ],
    },
    Trial {
        cases: &["sched-g-wakeup", "sched", "exclude-perf"],
        words: &[
            "-g none --switch-on sched:sched_wakeup",
            "-g none --switch-on sched:sched_switch --switch-off sched:sched_wakeup --show-on-off-events",
            "-g none -s next_comm,comm",
            "-g none -s trace_fields --no-children",
            "-g none -s next_pid/raw --no-children",
            "-g none --hierarchy -s comm,next_comm --no-children",
        ],
    },
    Trial {
        cases: &["context-switch-events"],
        words: &[
            "--latency",
            "--latency -s sym",
            "--latency -F +latency,sample",
            "-s parallelism,comm",
            "--parallelism 1",
            "-F overhead,latency,comm",
        ],
    },
    Trial {
        cases: &["/inherit-stat"],
        words: &["-T", "-T -s comm"],
    },
    Trial {
        cases: &["default-cycles", "multi-events"],
        words: &[
            "-g none --group --no-children",
            "-g none --no-group",
            "-g none -s trace_fields",
            "-g caller,branch",
        ],
    },
    Trial {
        cases: &["syscalls-few", "/uprobe-args"],
        words: &[
            "-g none --raw-trace",
            "-g none --raw-trace -s trace",
            "-g none -s trace_fields",
        ],
    },
    Trial {
        // In the others perf shows one symbol as several rows.
        cases: &["group-S-g", "cpuclock-g-threads"],
        words: &[
            "-F overhead,overhead_children,period,sym -s sym",
            "-F overhead,overhead_children,sample,sym",
        ],
    },
];

pub(super) const SCRIPTS: [Trial; 7] = [
    Trial {
        cases: OTHERS,
        words: &[
            "-F comm,pid,tid,cpu,time,event,ip,sym,dso",
            "-F +period,+misc",
            "-G --reltime --ns",
            "--show-task-events --show-mmap-events --show-lost-events",
            "--max-stack 2 --time 20%-70%",
            "--dump-unsorted-raw-trace",
        ],
    },
    Trial {
        cases: &["default-cycles", "fp-forks", "group-S-g", "sched"],
        words: &[
            "-F comm,tid,pid,time,cpu,event,ip,sym,dso",
            "-F +period,+cpu",
            "-F -comm,-tid",
            "-F +misc",
            "-F +dsoff",
            "-F +synth",
            "-F +flags",
            "-F ip,sym",
            "-F comm,ip,dsoff",
            "-F comm,srcline",
            "-F trace:comm,trace",
            "-F sw:comm,ip",
            "-F +machine_pid,+vcpu",
            "-F +comm,tid",
            "-F sw:+addr",
            "-F hw:comm,addr",
            "-F hw:comm,trace",
            "-F hw:+bpf-output",
            "-F trace:",
            "-F sw:",
            "-F trace",
            "-F flags",
            "-F ,",
            "--time 0%-0%",
            "-G",
            "--ns",
            "--reltime",
            "--deltatime",
            "-L",
            "-v",
            "-d",
            "--time 10%-50%",
            "--time 10%/2",
            "--comms deep,cat",
            "--pid 1",
            "--tid 1",
            "-S main",
            "-C 0",
            "--dsos libc.so.6",
            "--no-demangle",
            "--demangle-kernel",
            "--show-kernel-path",
            "--full-source-path",
            "--header",
            "--header-only -I",
            "--show-task-events",
            "--show-mmap-events",
            "--show-round-events",
            "--show-lost-events",
            "--show-bpf-events",
        ],
    },
    Trial {
        cases: CHAINS,
        words: &[
            "--stop-bt main",
            "--max-stack 3",
            "--no-merge-callchains",
            "-F ip,sym,symoff,dso",
        ],
    },
    Trial {
        cases: MEMORY,
        words: &[
            "-F +addr",
            "-F +phys_addr,+data_src,+weight",
            "-F +data_page_size,+code_page_size",
            "-F +ins_lat,+retire_lat",
        ],
    },
    Trial {
        cases: &["cgroup", "namespaces-cgroups", "context-switch-events"],
        words: &[
            "-F +cgroup",
            "--show-namespace-events",
            "--show-cgroup-events",
            "--show-switch-events",
            "--show-text-poke-events",
        ],
    },
    Trial {
        cases: &["regs"],
        words: &["-F +iregs", "-F +uregs", "-F ip,iregs,uregs"],
    },
    Trial {
        cases: &["sched-g-wakeup", "exclude-perf"],
        words: &[
            "--switch-on sched:sched_wakeup",
            "--switch-on sched:sched_switch --switch-off sched:sched_wakeup --show-on-off-events",
        ],
    },
];

/// Words of `annotate`; `-d` leaves out libraries, whose debug files perf takes from this machine. Types of data are
/// not compared: with `--symfs` perf finds none.
pub(super) const ANNOTATE: [&str; 1] = ["annotate"];

/// Programs of one function and several, of one event and several.
const PROGRAMS: &[&str] = &["default-cycles", "multi-events", "group-S-g", "period-c"];

pub(super) const ANNOTATIONS: [Trial; 1] = [Trial {
    cases: PROGRAMS,
    words: &[
        "--stdio",
        "--stdio -n",
        "--stdio --show-total-period",
        "--stdio -l",
        "--stdio -P",
        "--stdio --group",
        "--stdio -M intel",
        "--stdio --asm-raw",
        "--stdio --asm-raw -l -n",
        "--stdio --no-source",
        "--stdio --percent-type local-hits",
        "--stdio --percent-limit 5",
        "--stdio -d deep,mt",
        "--stdio -s leaf",
        "--stdio -q -f -m",
        "--stdio --skip-empty --skip-missing",
        "--stdio -C 0",
        "--stdio --type-stat --insn-stat",
        "--stdio --stdio-color always",
        "--stdio --stdio-color always -l --asm-raw",
        "--stdio2",
        "--stdio2 -n",
        "--stdio2 --show-total-period",
        "--stdio2 -l",
        "--stdio2 -P --group",
        "--stdio2 -M intel",
        "--stdio2 --asm-raw",
        "--stdio2 --percent-type period-local",
        "--stdio2 --percent-limit 5",
        "--stdio2 -d deep,mt",
        "--stdio -s nosuch",
    ],
}];
