//! The parts of a recording, each read alone, have together the samples of the whole, each once.
#![allow(clippy::print_stderr, reason = "what was skipped is for people")]

use std::ops::ControlFlow;
use std::path::Path;

use oxperf_data::Reader;
use oxperf_itrace::{Cores, ItraceOptions};
use oxperf_machine::Machine;
use oxperf_objects::SearchPaths;
use oxperf_query::{
    Filter, FilterOptions, FilteredSink, Query, SwitchOptions, Switching, SymbolOptions,
    TraceOptions,
};
use oxperf_session::{NoSink, SampleEvent, Sink};

#[allow(
    dead_code,
    reason = "the recordings are those of the decoder's tests, and so is how they are found"
)]
#[path = "../../itrace/tests/it/decode.rs"]
mod decode;

/// A line for each sample.
#[derive(Default)]
struct Lines(Vec<String>);

impl Sink for Lines {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let SampleEvent {
            event: index,
            sample,
            thread,
            period,
            traced,
            ..
        } = *event;
        let (comm, flags) = (machine.comm_of(thread), traced.unwrap_or_default().flags.0);
        let (time, cpu, ip, addr) = (sample.time, sample.cpu, sample.ip, sample.addr);
        let chain: Option<Vec<u64>> = sample.callchain.map(|chain| chain.iter().collect());
        let thread = machine.thread_info(thread).tid;
        self.0.push(format!(
            "{comm} {thread:?} {cpu:?} {time:?} {index:?} {period} {ip:x?} {addr:x?} {flags} {chain:x?}"
        ));
        ControlFlow::Continue(())
    }
}

/// How a recording is read: the samples that are made of its trace, and whether they hold counts of what came before.
#[derive(Clone, Copy)]
struct Reading<'r> {
    file: &'r [u8],
    root: &'r Path,
    letters: &'r str,
    counts: bool,
}

impl Reading<'_> {
    /// The samples of a part, or of the whole, in no order.
    fn lines(self, part: Option<&str>) -> Vec<String> {
        let reader = Reader::open(self.file).unwrap();
        let options = FilterOptions {
            part: part.map(|part| part.parse().unwrap()),
            ..FilterOptions::default()
        };
        let filter = Filter::new(&options, &reader).unwrap();
        let symbols = SymbolOptions {
            search_paths: SearchPaths {
                root: Some(self.root.to_owned()),
                ..SearchPaths::default()
            },
            ..SymbolOptions::default()
        };
        let mut walk = Query::default().start(&reader);
        let trace = TraceOptions {
            itrace: ItraceOptions::parse(self.letters).unwrap(),
            cores: Cores::ONE,
            symbols: &symbols,
            recording: Path::new("perf.data"),
        };
        walk.decode_trace(trace, &filter).unwrap();
        walk.skip_trace_outside(&filter, self.counts);
        let switching = Switching::new(&SwitchOptions::default(), walk.events()).unwrap();
        let mut lines = Lines::default();
        walk.run(&mut FilteredSink::new(&filter, switching, &mut lines))
            .unwrap();
        lines.0.sort_unstable();
        lines.0
    }
}

/// Bytes of a recording that takes too long for a debug build.
const TOO_LONG: usize = 30 << 10;

#[test]
fn parts_of_a_trace_are_together_the_whole() {
    let (mut compared, mut shared) = (0, 0);
    let tested = decode::each_case("parts", TOO_LONG, |case, file, root| {
        for (letters, counts) in [("cre", false), ("bpwx", false), ("i1usg", true)] {
            let reading = Reading {
                file,
                root,
                letters,
                counts,
            };
            let whole = reading.lines(None);
            for count in [1, 2, 3, 7] {
                let parts =
                    (1..=count).map(|index| reading.lines(Some(&format!("{index}/{count}"))));
                let parts: Vec<Vec<String>> = parts.collect();
                let filled = parts.iter().filter(|part| !part.is_empty()).count();
                shared += usize::from(filled > 1);
                let mut together = parts.concat();
                together.sort_unstable();
                assert!(
                    together == whole,
                    "{} {letters} in {count}: {} and {} samples",
                    case.display(),
                    whole.len(),
                    together.len()
                );
                compared += whole.len();
            }
        }
    });
    assert!(compared > 0 && shared > 0 || !tested);
}

/// Without trace, and without the header's word about the first sample and the last.
#[test]
fn parts_of_samples_are_together_the_whole() {
    let samples: String = (0..100)
        .map(|number| {
            let time = 1_000 + 7 * number * number;
            format!("sample mode=user ip=0x{number:x} pid=7 tid=7 time={time}\n")
        })
        .collect();
    let text = format!(
        "event cycles sample=IP|TID|TIME ids=1\ncomm pid=7 tid=7 sleep\n{samples}sample mode=user ip=1 pid=7 tid=7\n"
    );
    let file = oxperf_testkit::Recording::parse(&text).unwrap().to_file();
    let reading = Reading {
        file: &file,
        root: Path::new("/"),
        letters: "i1us",
        counts: true,
    };
    let whole = reading.lines(None);
    assert_eq!(whole.len(), 101);
    for count in [1, 2, 3, 7] {
        let parts = (1..=count).map(|index| reading.lines(Some(&format!("{index}/{count}"))));
        let parts: Vec<Vec<String>> = parts.collect();
        assert!(parts.iter().all(|part| !part.is_empty()), "{count}");
        let mut together = parts.concat();
        together.sort_unstable();
        assert_eq!(together, whole, "{count}");
    }
}
