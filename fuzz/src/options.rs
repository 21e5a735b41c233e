//! Command lines: the options of the commands that read a recording, and values for them, likely and hostile ones.

/// A command with its options, each with the values that it is tried with; none for a switch.
pub struct Command {
    /// The words that it begins with.
    pub words: &'static [&'static str],
    options: &'static [&'static [(&'static str, Values)]],
    /// True if it takes `--symfs` and `--kallsyms`.
    pub reads_names: bool,
    /// How often the recording is named, and whether `-i` stands before it.
    pub input: Input,
}

/// How a command takes recordings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// `-i FILE`.
    Option,
    /// `FILE FILE`.
    Two,
}

type Values = &'static [&'static str];

const NUMBERS: Values = &[
    "0",
    "1",
    "2",
    "127",
    "65536",
    "4294967295",
    "18446744073709551616",
    "-1",
    "0x10",
    "x",
];
const PERCENT: Values = &["0", "5", "0.5", "100", "1e308", "nan", "-1"];
const TIMES: Values = &[
    "10%-50%",
    "10%/2",
    "0%-0%",
    "0,1",
    ",0.5",
    "1.000000001,2",
    "100%/9",
    "10%/2,20%/3",
    ",",
    "9e9,",
];
const LISTS: Values = &["0", "7", "0-3,9", "0-4294967295", "3-1", "1,,2", "-"];
const NAMES: Values = &[
    "main",
    "p",
    "prog,more",
    ",",
    "[kernel.kallsyms]",
    "a\u{1b}[31m",
    "\u{e9}",
];
const REGEX: Values = &["^do_", ".*", "(a|b)*c", "(", "x{1000}", ""];
const EVENTS: Values = &["cycles", "sched:sched_switch", "x:y", "0"];
const ITRACE: Values = &[
    "i1tbpwxeIo",
    "g16l64",
    "be",
    "i0nse",
    "crwpxIoe",
    "qqi1us",
    "s1000",
    "d+a-o",
    "i",
    "z",
    "g1024l1024i1",
];
const SORT: Values = &[
    "comm,dso,sym",
    "pid,tid,cpu",
    "sym,symoff,dso",
    "srcline,srcfile",
    "time,comm",
    "trace",
    "trace_fields",
    "addr",
    "weight,local_weight,ins_lat",
    "mem,tlb,snoop,locked,blocked",
    "symbol_daddr,dso_daddr,phys_daddr,dcacheline",
    "symbol_from,symbol_to,dso_from,dso_to,mispredict",
    "cycles,in_tx,abort,srcline_from",
    "cgroup,cgroup_id",
    "parent",
    "socket,simd,transaction",
    "code_page_size,data_page_size",
    "next_comm/raw",
    "+sym",
    "",
    ",",
    "{comm,dso},sym",
    "dso_size,symbol_size",
    "parallelism,comm",
    "type,typeoff,typecln",
    "nosuch",
    "comm_nodigit,tgid",
];
const COLUMNS: Values = &[
    "overhead,sample,period,dso",
    "+period,cpu",
    "overhead_sys,overhead_us,comm",
    "overhead,overhead_children,sym",
    "weight1,weight2,weight3,comm",
    "+latency,sample",
    "overhead,op,cache,memory,snoop,dtlb",
    "",
    "nosuch",
];
const GRAPHS: Values = &[
    "none",
    "graph,2,5",
    "fractal,0.5,callee",
    "flat,0.5",
    "folded",
    "caller",
    "caller,branch",
    "count",
    "period",
    "caller,address",
    "callee,srcline",
    "caller,0.5,callee,count",
    "graph,-1,0",
    "x",
    ",",
];
const FIELDS: Values = &[
    "comm,tid,pid,time,cpu,event,ip,sym,dso",
    "+period,+cpu",
    "-comm,-tid",
    "+misc",
    "+dsoff",
    "+synth,+flags",
    "ip,sym,symoff",
    "comm,ip,dsoff",
    "comm,srcline",
    "trace:comm,trace",
    "sw:comm,ip",
    "+machine_pid,+vcpu",
    "+addr",
    "+phys_addr,+data_src,+weight",
    "+data_page_size,+code_page_size",
    "+cgroup",
    "+iregs,+uregs",
    "brstack,brstacksym,brstackoff",
    "brstackinsn,brstackinsnlen",
    "+brcntr",
    "insn,insnlen",
    "+disasm",
    "+bpf-output",
    "+metric",
    "trace",
    ",",
    "trace:",
    "+callindent,+srccode",
    "+ipc",
];

/// Options for samples that count, whose names, and what is shown of traces: of most commands.
const COMMON: &[(&str, Values)] = &[
    ("-f", &[]),
    ("--pid", LISTS),
    ("--tid", LISTS),
    ("--time", TIMES),
    ("--itrace", ITRACE),
    ("--no-itrace", &[]),
    ("--decode-threads", &["1", "2"]),
    ("--no-demangle", &[]),
    ("--demangle-kernel", &[]),
    ("--no-inline", &[]),
    ("--full-source-path", &[]),
    ("--guest-code", &[]),
    ("-D", &[]),
];
const REPORT: &[(&str, Values)] = &[
    ("-s", SORT),
    ("-F", COLUMNS),
    ("-g", GRAPHS),
    ("--group-sort-idx", NUMBERS),
    ("--latency", &[]),
    ("--time-quantum", &["1ms", "0", "1", "99999999999s"]),
    ("--ns", &[]),
    ("--raw-trace", &[]),
    ("--show-cpu-utilization", &[]),
    ("--no-call-graph", &[]),
    ("-G", &[]),
    ("--children", &[]),
    ("--no-children", &[]),
    ("-n", &[]),
    ("--show-total-period", &[]),
    ("-t", &[",", "", "\t", "ab"]),
    ("-w", &["10,20,30", "0", "65535,65536", "1"]),
    ("--percent-limit", PERCENT),
    ("--max-stack", NUMBERS),
    ("--group", &[]),
    ("--no-group", &[]),
    ("--skip-empty", &[]),
    ("-H", &[]),
    ("-T", &[]),
    ("--show-ref-call-graph", &[]),
    ("--stdio-color", &["always"]),
    ("-v", &[]),
    ("-q", &[]),
    ("-b", &[]),
    ("--branch-history", &[]),
    ("--mem-mode", &[]),
    ("--no-branch-stack", &[]),
    ("--total-cycles", &[]),
    ("--stitch-lbr", &[]),
    ("-C", LISTS),
    ("-c", NAMES),
    ("-d", NAMES),
    ("-S", NAMES),
    ("--symbol-filter", NAMES),
    ("--percentage", &["relative", "absolute"]),
    ("--socket-filter", NUMBERS),
    ("--parallelism", LISTS),
    ("-U", &[]),
    ("-p", REGEX),
    ("-x", &[]),
    ("--ignore-callees", REGEX),
    ("--switch-on", EVENTS),
    ("--switch-off", EVENTS),
    ("--show-on-off-events", &[]),
    ("--html", &["/dev/null"]),
    ("--json", &[]),
    ("--csv", &[]),
    ("--stats", &[]),
    ("--tasks", &[]),
    ("--mmaps", &[]),
    ("--disable-order", &[]),
    ("--header", &[]),
    ("--header-only", &[]),
    ("-I", &[]),
    ("--pretty", &["raw"]),
    ("--samples", NUMBERS),
];
const SCRIPT: &[(&str, Values)] = &[
    ("-F", FIELDS),
    ("-G", &[]),
    ("--max-stack", NUMBERS),
    ("--stitch-lbr", &[]),
    ("--max-blocks", NUMBERS),
    ("--max-events", NUMBERS),
    ("-L", &[]),
    ("--ns", &[]),
    ("--reltime", &[]),
    ("--deltatime", &[]),
    ("--no-merge-callchains", &[]),
    ("-d", &[]),
    (
        "--format",
        &["text", "json", "csv", "chrome", "folded", "x"],
    ),
    ("--json", &[]),
    ("--csv", &[]),
    ("-C", LISTS),
    ("-c", NAMES),
    ("-S", NAMES),
    ("--dsos", NAMES),
    ("--stop-bt", NAMES),
    ("--addr-range", NUMBERS),
    ("--graph-function", NAMES),
    ("--switch-on", EVENTS),
    ("--switch-off", EVENTS),
    ("--show-on-off-events", &[]),
    ("--show-task-events", &[]),
    ("--show-mmap-events", &[]),
    ("--show-switch-events", &[]),
    ("--show-namespace-events", &[]),
    ("--show-cgroup-events", &[]),
    ("--show-lost-events", &[]),
    ("--show-bpf-events", &[]),
    ("--show-text-poke-events", &[]),
    ("--show-round-events", &[]),
    ("--dump-unsorted-raw-trace", &[]),
    ("--insn-trace", &[]),
    ("--insn-trace", &["disasm", "raw"]),
    ("--call-trace", &[]),
    ("--call-ret-trace", &[]),
    ("--call-tree", &[]),
    ("--header", &[]),
    ("--header-only", &[]),
    ("-I", &[]),
    ("-v", &[]),
];
const ANNOTATE: &[(&str, Values)] = &[
    ("-s", NAMES),
    ("-d", NAMES),
    ("--percent-limit", PERCENT),
    ("--data-type", &[]),
    ("--data-type", NAMES),
    ("--type-stat", &[]),
    ("--insn-stat", &[]),
    ("-C", LISTS),
    ("--group", &[]),
    ("--skip-missing", &[]),
    ("--stdio2", &[]),
    ("--stdio-color", &["always"]),
    ("-P", &[]),
    ("-n", &[]),
    ("--show-total-period", &[]),
    (
        "--percent-type",
        &["local-hits", "period-local", "global-period", "x"],
    ),
    ("-M", &["intel", "att"]),
    ("--asm-raw", &[]),
    ("--no-source", &[]),
    ("-l", &[]),
    ("--prefix", &["/src"]),
    ("--prefix-strip", NUMBERS),
    ("--code-with-type", &[]),
    ("-q", &[]),
    ("-m", &[]),
    ("--skip-empty", &[]),
    ("--disable-order", &[]),
];
const DIFF: &[(&str, Values)] = &[
    (
        "-c",
        &[
            "delta",
            "delta-abs",
            "ratio",
            "wdiff:1,2",
            "wdiff:0,0",
            "cycles",
            "cycles-hist",
            "x",
            "wdiff:",
        ],
    ),
    ("-o", NUMBERS),
    ("-s", SORT),
    ("-b", &[]),
    ("-p", &[]),
    ("-F", &[]),
    ("-t", &[",", ""]),
    ("--cycles-hist", &[]),
    ("-q", &[]),
    ("--cpu", LISTS),
    ("-C", NAMES),
    ("-d", NAMES),
    ("-S", NAMES),
    ("--percentage", &["relative"]),
    ("--json", &[]),
    ("--stream", &[]),
    ("--flamegraph", &["/dev/null"]),
    ("-v", &[]),
    ("-m", &[]),
];
const EVLIST: &[(&str, Values)] = &[
    ("-F", &[]),
    ("-v", &[]),
    ("--trace-fields", &[]),
    ("-g", &[]),
    ("-f", &[]),
];
const STAT_REPORT: &[(&str, Values)] = &[
    ("--per-core", &[]),
    ("--per-socket", &[]),
    ("--per-cache", &[]),
    ("--per-thread", &[]),
    ("-A", &[]),
    ("-x", &[",", ";"]),
    ("-j", &[]),
    ("-v", &[]),
];
const EXPORT: &[(&str, Values)] = &[
    (
        "--format",
        &[
            "folded",
            "pprof",
            "speedscope",
            "firefox",
            "chrome",
            "html",
            "x",
        ],
    ),
    ("-e", EVENTS),
    ("--max-stack", NUMBERS),
    ("-C", LISTS),
    ("-c", NAMES),
];
const CONVERT: &[(&str, Values)] = &[("--all", &[]), ("--tod", &[]), ("-v", &[])];

/// The commands.
pub const COMMANDS: [Command; 11] = [
    reading(&["report", "--stdio"], &[REPORT, COMMON]),
    reading(&["script"], &[SCRIPT, COMMON]),
    reading(&["annotate", "--stdio"], &[ANNOTATE, COMMON]),
    Command {
        words: &["diff"],
        options: &[DIFF, COMMON],
        reads_names: true,
        input: Input::Two,
    },
    Command {
        words: &["evlist"],
        options: &[EVLIST],
        reads_names: false,
        input: Input::Option,
    },
    reading(&["export", "-o", "/dev/null"], &[EXPORT, COMMON]),
    reading(
        &["data", "convert", "--force", "--to-json", "/dev/null"],
        &[CONVERT],
    ),
    reading(&["symbols"], &[&[("--json", &[])]]),
    Command {
        words: &["buildid-list"],
        options: &[EVLIST],
        reads_names: false,
        input: Input::Option,
    },
    Command {
        words: &["data", "check"],
        options: &[&[("--json", &[])]],
        reads_names: false,
        input: Input::Option,
    },
    Command {
        words: &["stat", "report"],
        options: &[STAT_REPORT],
        reads_names: false,
        input: Input::Option,
    },
];

const fn reading(
    words: &'static [&'static str],
    options: &'static [&'static [(&'static str, Values)]],
) -> Command {
    Command {
        words,
        options,
        reads_names: true,
        input: Input::Option,
    }
}

impl Command {
    /// The words of the option that two numbers choose.
    pub fn option(&self, which: u8, value: u8) -> Vec<String> {
        let all: usize = self.options.iter().map(|group| group.len()).sum();
        let chosen = self
            .options
            .iter()
            .copied()
            .flatten()
            .nth(usize::from(which) % all);
        let Some((name, values)) = chosen else {
            return Vec::new();
        };
        match (
            values.get(usize::from(value) % values.len().max(1)),
            name.starts_with("--"),
        ) {
            (None, _) => vec![(*name).to_owned()],
            (Some(value), true) => vec![format!("{name}={value}")],
            (Some(value), false) => vec![(*name).to_owned(), (*value).to_owned()],
        }
    }
}
