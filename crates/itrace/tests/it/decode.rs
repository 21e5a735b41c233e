//! Decodes the fixtures' recordings into text.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxperf_abi::PerfTime;
use oxperf_data::Reader;
use oxperf_itrace::{
    CodeSearchPaths, Cores, DecodePlan, Images, ItraceOptions, Trace, Tracer, TracerOptions, Window,
};
use oxperf_machine::Machine;
use oxperf_objects::SearchPaths;
use oxperf_session::{EventIndex, NoSink, SampleEvent, SampleTextWriter, Session, Sink, Traced};
use oxperf_wire::user::AuxtraceError;

/// DecodeSetup samples of code that ran become text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Form {
    /// As lines with the moment and the place of each, rather than with everything.
    pub(crate) short: bool,
    /// By a writer where that may be: of places alone, if other samples have more.
    pub(crate) written: bool,
}

struct Plain {
    headed: bool,
}

impl SampleTextWriter for Plain {
    fn prefix_resolution(&self) -> Option<u64> {
        self.headed.then_some(100)
    }

    fn write_prefix(&self, _: &Machine, moment: &SampleEvent<'_>, out: &mut Vec<u8>) {
        let (sample, time) = (&moment.sample, moment.sample.time.map(|time| time.0 / 100));
        let (pid, tid, cpu) = (sample.pid, sample.tid, sample.cpu);
        out.extend_from_slice(
            format!("{pid:?} {tid:?} {cpu:?} {time:?} {} ", moment.period).as_bytes(),
        );
    }

    fn write_location(&self, _: &Machine, event: &SampleEvent<'_>, out: &mut Vec<u8>) {
        let (sample, flags) = (&event.sample, event.traced.unwrap_or_default().flags.0);
        let (ip, addr) = (sample.ip.unwrap_or(0), sample.addr.unwrap_or(0));
        out.extend_from_slice(format!("{ip:x} {addr:x} {flags}\n").as_bytes());
    }
}

/// Everything that it receives, as text.
struct Collected {
    text: Vec<u8>,
    form: Form,
    /// Of samples and errors those in this time.
    window: Window,
}

impl Collected {
    fn takes(&self, time: Option<PerfTime>) -> bool {
        let time = time.unwrap_or_default();
        self.window.first <= time && time <= self.window.last
    }
}

impl Sink for Collected {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if self.form.short {
            let writer = Plain { headed: true };
            writer.write_prefix(machine, event, &mut self.text);
            writer.write_location(machine, event, &mut self.text);
            return ControlFlow::Continue(());
        }
        let SampleEvent {
            event,
            sample,
            mut traced,
            ..
        } = *event;
        if !self.takes(sample.time) {
            return ControlFlow::Continue(());
        }
        if !self.window.counts {
            // Counts since the last sample, or since the beginning, are not asked for.
            traced = traced.map(
                |Traced {
                     flags,
                     code,
                     depth,
                     payload,
                     ..
                 }| Traced {
                    flags,
                    code,
                    depth,
                    payload,
                    ..Traced::default()
                },
            );
        }
        let (time, ip, addr) = (sample.time, sample.ip, sample.addr);
        let chain: Option<Vec<u64>> = sample.callchain.map(|chain| chain.iter().collect());
        let branches: Option<Vec<_>> = sample.branch_stack.map(|stack| stack.entries().collect());
        let line =
            format!("{event:?} {time:?} {ip:x?} {addr:x?} {traced:x?} {chain:x?} {branches:x?}\n");
        self.text.extend_from_slice(line.as_bytes());
        ControlFlow::Continue(())
    }

    fn text_writer<'w>(&mut self, _: EventIndex) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        let Form {
            short: headed,
            written,
        } = self.form;
        if written {
            Some(Arc::new(Plain { headed }))
        } else {
            None
        }
    }

    fn sample_text(&mut self, _: &Machine, _: &SampleEvent<'_>, text: &[u8]) -> ControlFlow<()> {
        self.text.extend_from_slice(text);
        ControlFlow::Continue(())
    }

    fn trace_error(&mut self, _: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        if self.takes(error.time) {
            self.text
                .extend_from_slice(format!("{error:?}\n").as_bytes());
        }
        ControlFlow::Continue(())
    }
}

/// DecodeSetup a recording is decoded, and what of it is kept.
#[derive(Clone, Copy)]
pub(crate) struct DecodeSetup<'l> {
    pub(crate) letters: &'l str,
    pub(crate) cores: Cores,
    /// The window of the tracer.
    pub(crate) window: Window,
    /// The window that is kept.
    pub(crate) kept: Window,
    pub(crate) form: Form,
}

/// A recording as text.
pub(crate) struct Decoded {
    pub(crate) text: Vec<u8>,
    /// Bytes of trace that workers decoded, and that nobody did.
    pub(crate) shared: u64,
    pub(crate) left_out: u64,
}

/// Decodes a recording.
pub(crate) fn decode(file: &[u8], root: &Path, setup: DecodeSetup<'_>) -> Decoded {
    let DecodeSetup {
        letters,
        cores,
        window,
        kept,
        form,
    } = setup;
    let reader = Reader::open(file).unwrap();
    let mut session = Session::new(&reader);
    let options = ItraceOptions::parse(letters).unwrap();
    let trace = Trace::find(&reader, session.events(), &|_| true)
        .unwrap()
        .unwrap();
    let planned = DecodePlan::new(&trace, &options, &mut session).unwrap();
    let files = SearchPaths {
        root: Some(root.to_owned()),
        ..SearchPaths::default()
    };
    let images = Images::new(CodeSearchPaths {
        files,
        ..CodeSearchPaths::default()
    });
    let options = TracerOptions {
        itrace: options,
        images,
        with_code: false,
        cores,
        window,
        times: Vec::new(),
        log: None,
    };
    let mut sink = Collected {
        text: Vec::new(),
        form,
        window: kept,
    };
    let mut tracer = Tracer::new(&trace, reader.endian(), planned, options, &mut sink);
    session.run(&mut tracer).unwrap();
    let (shared, left_out) = (tracer.shared(), tracer.left_out());
    drop(tracer);
    Decoded {
        text: sink.text,
        shared,
        left_out,
    }
}

/// Copies a tree; a small file that names another one stands for it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (source, target) = (
            entry.as_ref().unwrap().path(),
            to.join(entry.unwrap().file_name()),
        );
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(linked(&source), &target).unwrap();
        }
    }
}

fn linked(path: &Path) -> PathBuf {
    let text = fs::read(path)
        .ok()
        .filter(|text| (1..256).contains(&text.len()));
    let text = text.and_then(|text| String::from_utf8(text).ok());
    let target = text.map(|text| path.with_file_name("").join(text.trim_end()));
    target
        .filter(|target| target.exists())
        .unwrap_or_else(|| path.to_owned())
}

/// Calls with the recording and the root of the objects of each case that is there and not larger than `most`; says
/// aloud when there are none.
pub(crate) fn each_case(
    name: &str,
    most: usize,
    mut test: impl FnMut(&Path, &[u8], &Path),
) -> bool {
    let Some(fixtures) = fixtures() else {
        eprintln!("SKIPPED: no fixtures beside the project (OXPERF_SHARED)");
        return false;
    };
    let work =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    for case in fs::read_dir(&fixtures)
        .unwrap()
        .map(|case| case.unwrap().path())
    {
        let Ok(file) = fs::read(case.join("perf.data")) else {
            continue;
        };
        if file.len() > most {
            continue;
        }
        let link = case.join("symfs");
        let objects = if link.is_dir() { link } else { linked(&link) };
        let root = work.join(objects.file_name().unwrap());
        if !root.is_dir() {
            copy(&objects, &root);
        }
        test(&case, &file, &root);
    }
    fs::remove_dir_all(&work).unwrap();
    true
}

fn fixtures() -> Option<PathBuf> {
    let shared =
        std::env::var_os("OXPERF_SHARED").map_or_else(|| "../../../shared".into(), PathBuf::from);
    Some(shared.join("fixtures/pt")).filter(|path| path.is_dir())
}
