//! Every table with its columns.

use super::ColumnType::{Bool, Bools, Int32, Int32s, Int64, Int64s, Text, Texts, Timestamp};
use super::{ColumnSchema, ColumnType, Presence, TableSchema};

const RAW: Presence = Presence::Option("--raw");

const fn column(name: &'static str, kind: ColumnType, meaning: &'static str) -> ColumnSchema {
    ColumnSchema {
        name,
        kind,
        meaning,
        when: Presence::Always,
    }
}

const fn recorded(name: &'static str, kind: ColumnType, meaning: &'static str) -> ColumnSchema {
    ColumnSchema {
        when: Presence::Recorded,
        ..column(name, kind, meaning)
    }
}

const fn with(
    option: Presence,
    name: &'static str,
    kind: ColumnType,
    meaning: &'static str,
) -> ColumnSchema {
    ColumnSchema {
        when: option,
        ..column(name, kind, meaning)
    }
}

const RECORDING_ID: ColumnSchema = column(
    "recording_id",
    Int64,
    "the recording: joins `recordings`, `events`, `threads`",
);

/// The columns of `profile`: those of samples, and of the function that ran.
const PROFILE_COLUMNS: [ColumnSchema; 22] = [
    recorded(
        "ts",
        Timestamp,
        "wall clock of the sample; `recordings.clock_exact` says how it is known",
    ),
    recorded(
        "time",
        Int64,
        "nanoseconds of the recording's clock, as `script --ns` shows them",
    ),
    RECORDING_ID,
    with(
        Presence::Recorded,
        "host",
        Text,
        "the recorded machine's name",
    ),
    column("event", Text, "the event, as `evlist` names it"),
    column("comm", Text, "name of the thread at that moment"),
    recorded("pid", Int32, "process"),
    recorded("tid", Int32, "thread"),
    recorded("cpu", Int32, "CPU"),
    column(
        "mode",
        Text,
        "`kernel`, `user`, `guest_kernel`, `guest_user`, `hypervisor` or `unknown`",
    ),
    column(
        "period",
        Int64,
        "events that the sample stands for: the weight of every sum",
    ),
    column("stack_id", Int64, "the stack: joins `stacks`"),
    with(
        RAW,
        "ip",
        Int64,
        "the address that ran, as the signed number of the same 64 bits",
    ),
    recorded(
        "addr",
        Int64,
        "data address, or what the event defines; bits as of `ip`",
    ),
    recorded("phys_addr", Int64, "physical data address; bits as of `ip`"),
    recorded(
        "data_src",
        Int64,
        "where the data came from, as the kernel encodes it",
    ),
    recorded(
        "weight",
        Int64,
        "cost of the access or instruction, in the CPU's unit",
    ),
    recorded("ins_lat", Int32, "latency of the instruction in cycles"),
    recorded("cgroup", Int64, "number of the cgroup"),
    recorded("trace", Text, "the fields of a tracepoint, as text"),
    column("symbol", Text, "the function that ran, as `stacks.symbol`"),
    column("dso", Text, "its object, as `stacks.dso`"),
];

/// The samples.
pub static SAMPLES: TableSchema = TableSchema {
    name: "samples",
    meaning: "one sample; in order of time within a recording",
    when: Presence::Always,
    columns: PROFILE_COLUMNS.split_at(PROFILE_COLUMNS.len() - 2).0,
};

/// The view of samples with the function that ran.
pub static PROFILE: TableSchema = TableSchema {
    name: "profile",
    meaning: "one sample, as `samples` has it, with the function that ran",
    when: Presence::Always,
    columns: &PROFILE_COLUMNS,
};

/// The stacks.
pub static STACKS: TableSchema = TableSchema {
    name: "stacks",
    meaning: "one distinct stack; it may stand in several files, with equal content",
    when: Presence::Always,
    columns: &[
        column(
            "stack_id",
            Int64,
            "hash of the content: equal stacks have equal numbers on all machines",
        ),
        recorded(
            "symbol",
            Text,
            "the function that ran: the first of `symbols`",
        ),
        recorded("dso", Text, "its object: the first of `dsos`"),
        recorded(
            "mode",
            Text,
            "of its object: `kernel`, `user`, `guest_kernel`, `guest_user` or `hypervisor`; NULL where nothing is mapped",
        ),
        column("depth", Int32, "number of frames"),
        column(
            "symbols",
            Texts,
            "the functions, the one that ran first; `[object]` where no symbol is known",
        ),
        column(
            "dsos",
            Texts,
            "their objects: the last part of the path, or the name in brackets",
        ),
        with(
            Presence::Option("--inline"),
            "inlined",
            Bools,
            "which of the functions are inlined into the next one",
        ),
        with(
            Presence::Option("--lines"),
            "files",
            Texts,
            "their source files; empty text where not known",
        ),
        with(
            Presence::Option("--lines"),
            "lines",
            Int32s,
            "the lines in these; 0 where not known",
        ),
        with(
            RAW,
            "build_ids",
            Texts,
            "build ids of their objects, in hex; empty text where not known",
        ),
        with(
            RAW,
            "offsets",
            Int64s,
            "the addresses in these, as offsets into the files",
        ),
    ],
};

/// The view of the frames of stacks.
pub static STACK_FRAMES: TableSchema = TableSchema {
    name: "stack_frames",
    meaning: "one frame of a stack (a view of the lists in `stacks`)",
    when: Presence::Always,
    columns: &[
        column("stack_id", Int64, "the stack"),
        column(
            "depth",
            Int32,
            "place in the stack: 0 is the function that ran",
        ),
        column("symbol", Text, "the function"),
        column("dso", Text, "its object"),
    ],
};

/// The recordings.
pub static RECORDINGS: TableSchema = TableSchema {
    name: "recordings",
    meaning: "one recording, with what it lost",
    when: Presence::Always,
    columns: &[
        column(
            "recording_id",
            Int64,
            "hash of what tells recordings apart; equal for the parts of one",
        ),
        column("file", Text, "name of the file"),
        recorded("host", Text, "the recorded machine's name"),
        recorded("arch", Text, "its architecture"),
        recorded("kernel", Text, "its kernel's version"),
        recorded("cpu", Text, "its CPU's name"),
        recorded("cmdline", Text, "the recorder's command line"),
        recorded(
            "start",
            Timestamp,
            "the first row of `samples`, by the wall clock; of a recording exported in parts that of the first part",
        ),
        recorded(
            "end",
            Timestamp,
            "the last row of `samples`; of a recording exported in parts that of the first part",
        ),
        column(
            "clock_exact",
            Bool,
            "the recorder noted the wall clock (`-k`, or a reference in the file); else `ts` counts from the time of the file",
        ),
        recorded(
            "hz",
            Int64,
            "samples a second that the first event asked for; NULL with a fixed period",
        ),
        column(
            "samples",
            Int64,
            "rows in `samples`; of a recording exported in parts those of the first part",
        ),
        column(
            "lost_samples",
            Int64,
            "samples that the kernel did not take",
        ),
        column("lost_records", Int64, "records that found their ring full"),
        column(
            "lost_aux",
            Int64,
            "pieces of hardware trace that are not whole, and errors of decoding it; of a recording exported in parts the errors of the first part",
        ),
        column(
            "cut_stacks",
            Int64,
            "stacks that could not be walked to their end; of a recording exported in parts those of the first part",
        ),
        column(
            "damaged",
            Int64,
            "records and stretches of the file that could not be read",
        ),
        column("oxperf", Text, "version of the program that wrote the row"),
        recorded(
            "labels",
            Text,
            "`key=value` texts of the export (`--label`), comma separated",
        ),
    ],
};

/// The events.
pub static EVENTS: TableSchema = TableSchema {
    name: "events",
    meaning: "one event of a recording",
    when: Presence::Always,
    columns: &[
        RECORDING_ID,
        column("event", Text, "name"),
        column(
            "type",
            Int32,
            "type number of its attribute: which PMU counts it",
        ),
        column(
            "config",
            Int64,
            "configuration of its attribute; bits as of `samples.ip`",
        ),
        recorded("period", Int64, "fixed period; NULL with a frequency"),
        recorded(
            "freq",
            Int64,
            "samples a second that were asked for; NULL with a period",
        ),
        recorded(
            "unit",
            Text,
            "unit of the period: `ns` for clocks, else NULL",
        ),
    ],
};

/// The threads.
pub static THREADS: TableSchema = TableSchema {
    name: "threads",
    meaning: "one thread of a recording; a number that is used again is another row",
    when: Presence::Always,
    columns: &[
        RECORDING_ID,
        recorded("pid", Int32, "process"),
        column("tid", Int32, "thread"),
        recorded("ppid", Int32, "the thread that made it"),
        column("comm", Text, "its last name"),
        recorded(
            "exe",
            Text,
            "file of the program that its process ran last, as it was mapped",
        ),
        recorded(
            "cgroup",
            Int64,
            "cgroup of its last row in `samples`; of a recording exported in parts that of its last row in the first part",
        ),
        recorded(
            "start",
            Timestamp,
            "when it was made, where that was recorded",
        ),
        recorded("exit", Timestamp, "when it ended, where that was recorded"),
    ],
};

/// The objects.
pub static OBJECTS: TableSchema = TableSchema {
    name: "objects",
    meaning: "one file, kernel or other object with code that samples or their callers ran in; of a recording exported in parts it may stand in each",
    when: Presence::Always,
    columns: &[
        RECORDING_ID,
        recorded("build_id", Text, "build id, in hex"),
        column("path", Text, "path, or name in brackets"),
        column("has_symbols", Bool, "names were found for it"),
    ],
};

/// The mappings.
pub static MAPS: TableSchema = TableSchema {
    name: "maps",
    meaning: "one mapping of a process",
    when: RAW,
    columns: &[
        RECORDING_ID,
        recorded("pid", Int32, "process; -1 for the kernel"),
        recorded(
            "ts",
            Timestamp,
            "when it was mapped; NULL for what was there before",
        ),
        column("start", Int64, "first address; bits as of `samples.ip`"),
        column("end", Int64, "address behind it"),
        column("pgoff", Int64, "offset into the object"),
        recorded("build_id", Text, "build id of the object, in hex"),
        column("path", Text, "path of the object, or name in brackets"),
    ],
};

/// The calls of a hardware trace.
pub static CALLS: TableSchema = TableSchema {
    name: "calls",
    meaning: "one call of a function, from hardware trace",
    when: Presence::Option("--itrace=cr"),
    columns: &[
        RECORDING_ID,
        recorded("pid", Int32, "process"),
        recorded("tid", Int32, "thread"),
        column("comm", Text, "name of the thread at the return"),
        recorded(
            "call_time",
            Int64,
            "nanoseconds of the recording's clock at the call",
        ),
        recorded("return_time", Int64, "the same at the return"),
        column("symbol", Text, "the function"),
        column("dso", Text, "its object"),
        column(
            "stack_id",
            Int64,
            "the function with its callers: joins `stacks`",
        ),
        recorded(
            "parent_stack_id",
            Int64,
            "the callers alone; NULL for an outermost call",
        ),
        column("branch_count", Int64, "branches between call and return"),
        recorded(
            "insn_count",
            Int64,
            "instructions between call and return, where the trace tells",
        ),
        recorded(
            "cyc_count",
            Int64,
            "cycles between call and return, where the trace tells",
        ),
        column(
            "flags",
            Int32,
            "1: the call was not seen; 2: the return was not seen; 4: entered without a call",
        ),
    ],
};
