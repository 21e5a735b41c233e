//! A recording of Intel PT with the code that ran, through session and decoder: reading ends, on one core and on several
//! with the same samples. An input is a whole recording, or trace alone, which is then put into one.
#![no_main]

use std::fmt::Write;
use std::ops::ControlFlow;

use libfuzzer_sys::fuzz_target;
use oxperf_data::Reader;
use oxperf_fuzz::symfs;
use oxperf_itrace::{
    CodeSearchPaths, Cores, DecodePlan, Images, ItraceOptions, Trace, Tracer, TracerOptions, Window,
};
use oxperf_machine::Machine;
use oxperf_objects::SearchPaths;
use oxperf_session::{NoSink, SampleEvent, Session, Sink};
use oxperf_testkit::Recording;
use oxperf_wire::user::AuxtraceError;

/// What is made of the trace; which of them, the input's length decides.
const LETTERS: [&str; 6] = [
    "i1tbpwxeIoyg16l64",
    "be",
    "i0nse",
    "crwpxIoe",
    "qie",
    "i100nsyeAZ",
];

/// Everything before and behind the trace.
const RECORDING: [&str; 2] = [
    "event intel_pt type=8 config=0x2603 sample=IDENTIFIER|IP|TID|TIME|CPU flags=sample_id_all ids=100 period=1
event cycles sample=IDENTIFIER|IP|TID|TIME|CPU|ADDR|REGS_INTR|WEIGHT|BRANCH_STACK|DATA_SRC flags=sample_id_all|aux_output regs_intr=0xffffffff00ff03ff branch=USER|ANY period=1000 ids=103
event dummy sample=IDENTIFIER|IP|TID|TIME|CPU flags=sample_id_all|mmap|comm|task|mmap2|context_switch ids=101 period=1
auxtrace_info switch=3
raw type=82
comm pid=7 tid=7 prog | time=90 id=101
mmap2 pid=7 tid=7 0x401000+0x1000@0x1000 prot=5 flags=2 /bin/p | time=95 id=101
itrace_start pid=7 tid=7 | time=99 cpu=0 id=100
",
    "raw type=68
comm pid=7 tid=7 more | time=1000 id=101
exit pid=7 tid=7 ppid=1 ptid=1 time=2000 | time=2000 id=101",
];

/// Keeps the sum of all that it is told.
#[derive(Default)]
struct Look {
    told: u64,
    sum: u64,
}

impl Look {
    fn add(&mut self, value: u64) {
        self.sum = (self.sum ^ value)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
    }
}

impl Sink for Look {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        self.told += 1;
        let SampleEvent { sample, traced, .. } = event;
        let ip = sample.ip.unwrap_or(0);
        let _ = machine.locate(event.thread, event.misc.cpu_mode(), ip);
        let flags = traced.map_or(0, |traced| u64::from(traced.flags.0));
        let chain = sample.callchain.into_iter().flat_map(|chain| chain.iter());
        let branches = sample
            .branch_stack
            .into_iter()
            .flat_map(|stack| stack.entries().map(|entry| entry.to));
        let values = [
            ip,
            sample.addr.unwrap_or(0),
            sample.time.map_or(0, |time| time.0),
            flags,
        ];
        values
            .into_iter()
            .chain(chain)
            .chain(branches)
            .for_each(|value| self.add(value));
        ControlFlow::Continue(())
    }

    fn trace_error(&mut self, _: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        self.told += 1;
        self.add(error.ip);
        ControlFlow::Continue(())
    }
}

/// A recording with this trace.
fn recording(trace: &[u8]) -> Vec<u8> {
    let mut hex = String::new();
    trace
        .iter()
        .for_each(|byte| write!(hex, "{byte:02x}").expect("a string grows"));
    let packets = format!(
        "auxtrace cpu=0 reference=0x200 packets=\"psb tsc=100 fup=0x401000 psbend bytes={hex}\"\n"
    );
    let text = [RECORDING[0], &packets, RECORDING[1]].concat();
    Recording::parse(&text).expect("a recording").to_file()
}

fn decode(file: &[u8], letters: &str, cores: Cores) -> Option<(u64, u64)> {
    let reader = Reader::open(file).ok()?;
    let mut session = Session::new(&reader);
    let options = ItraceOptions::parse(letters).expect("letters");
    let trace = Trace::find(&reader, session.events(), &|_| true).ok()??;
    let planned = DecodePlan::new(&trace, &options, &mut session)?;
    let files = SearchPaths {
        root: Some(symfs().clone()),
        ..SearchPaths::default()
    };
    let images = Images::new(CodeSearchPaths {
        files,
        ..CodeSearchPaths::default()
    });
    let options = TracerOptions {
        itrace: options,
        images,
        with_code: true,
        cores,
        log: None,
        window: Window::ALL,
        times: Vec::new(),
    };
    let mut look = Look::default();
    let mut tracer = Tracer::new(&trace, reader.endian(), planned, options, &mut look);
    let finished = session.run(&mut tracer);
    drop(tracer);
    finished.ok()?;
    Some((look.told, look.sum))
}

fuzz_target!(|bytes: &[u8]| {
    let made;
    let file = if bytes.starts_with(b"PERFILE2") {
        bytes
    } else {
        made = recording(&bytes[..bytes.len().min(4096)]);
        &made
    };
    let letters = LETTERS[bytes.len() % LETTERS.len()];
    let one = decode(file, letters, Cores::new(1));
    if bytes.len() % 8 == 0 {
        assert_eq!(
            one,
            decode(
                file,
                letters,
                Cores {
                    count: 2,
                    chunk_bytes: 1
                }
            )
        );
    }
});
