//! Trace that is decoded on several cores gives what one core gives, sample by sample and byte by byte.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxperf_data::Reader;
use oxperf_itrace::{CodePlaces, Cores, Images, ItraceOptions, Planned, Trace, Tracer, TracerOptions};
use oxperf_machine::Machine;
use oxperf_objects::Places;
use oxperf_session::{EventIndex, PlaceWriter, SampleEvent, Session, Sink, TracedPlace};
use oxperf_wire::user::AuxtraceError;

/// The smallest recordings, too: a stretch goes from each PSB to the next.
const MANY: Cores = Cores { count: 3, piece: 1 };

/// Bytes of a recording that is decoded in several ways, and of one that takes too long for a debug build.
const SMALL: usize = 100 << 10;
const TOO_LONG: usize = 2 << 20;

/// What is made of each recording; of the larger ones only the first few.
const LETTERS: [&str; 13] = [
    "be",
    "i1usg8l3e",
    "iyxwpoIegG",
    "i0nse",
    "cr",
    "eZ",
    "wpxIoe",
    "icyA",
    "i100nsyg2G2L4",
    "i1uscrl",
    "s500cbi10us",
    "i3i",
    "qbi",
];

/// So many of the larger ones.
const FEW: usize = 2;

struct Plain;

impl PlaceWriter for Plain {
    fn write(&self, place: &TracedPlace, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{:x} {:x} {}\n", place.ip, place.addr, place.flags.0).as_bytes());
    }
}

/// Everything that it is told, as text; places without their samples when it may have them so.
struct Collected {
    text: Vec<u8>,
}

impl Sink for Collected {
    fn sample(&mut self, _: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        let SampleEvent { event, sample, traced, .. } = event;
        let (time, ip, addr) = (sample.time, sample.ip, sample.addr);
        let chain: Option<Vec<u64>> = sample.callchain.map(|chain| chain.iter().collect());
        let branches: Option<Vec<_>> = sample.branch_stack.map(|stack| stack.entries().collect());
        let line = format!("{event:?} {time:?} {ip:x?} {addr:x?} {traced:x?} {chain:x?} {branches:x?}\n");
        self.text.extend_from_slice(line.as_bytes());
        ControlFlow::Continue(())
    }

    fn place_writer(&self, _: EventIndex) -> Option<Arc<dyn PlaceWriter>> {
        Some(Arc::new(Plain))
    }

    fn written(&mut self, _: &Machine, _: &SampleEvent<'_>, text: &[u8]) -> ControlFlow<()> {
        self.text.extend_from_slice(text);
        ControlFlow::Continue(())
    }

    fn trace_error(&mut self, _: &mut Machine, error: &AuxtraceError<'_>) -> ControlFlow<()> {
        self.text.extend_from_slice(format!("{error:?}\n").as_bytes());
        ControlFlow::Continue(())
    }
}

/// What is told of a recording, and how much of it was decoded by workers.
fn decode(file: &[u8], root: &Path, letters: &str, cores: Cores) -> (Vec<u8>, u64) {
    let reader = Reader::open(file).unwrap();
    let mut session = Session::new(&reader);
    let options = ItraceOptions::parse(letters).unwrap();
    let trace = Trace::find(&reader, session.events(), &|_| true).unwrap().unwrap();
    let planned = Planned::new(&trace, &options, &mut session).unwrap();
    let files = Places { root: Some(root.to_owned()), ..Places::default() };
    let images = Images::new(CodePlaces { files, ..CodePlaces::default() });
    let options = TracerOptions { itrace: options, images, with_code: false, cores, log: None };
    let mut sink = Collected { text: Vec::new() };
    let events = session.events().clone();
    let mut tracer = Tracer::new(&trace, &events, reader.endian(), planned, options, &mut sink);
    session.run(&mut tracer).unwrap();
    let shared = tracer.shared();
    (sink.text, shared)
}

/// Copies a tree; a small file that names another one stands for it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (source, target) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(linked(&source), &target).unwrap();
        }
    }
}

fn linked(path: &Path) -> PathBuf {
    let text = fs::read(path).ok().filter(|text| (1..256).contains(&text.len()));
    let text = text.and_then(|text| String::from_utf8(text).ok());
    let target = text.map(|text| path.with_file_name("").join(text.trim_end()));
    target.filter(|target| target.exists()).unwrap_or_else(|| path.to_owned())
}

fn fixtures() -> Option<PathBuf> {
    let shared = std::env::var_os("OXPERF_SHARED").map_or_else(|| "../../../shared".into(), PathBuf::from);
    Some(shared.join("fixtures/pt")).filter(|path| path.is_dir())
}

#[test]
fn several_cores_tell_what_one_tells() {
    let Some(fixtures) = fixtures() else {
        eprintln!("SKIPPED: no fixtures beside the project (OXPERF_SHARED)");
        return;
    };
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cores-{}", std::process::id()));
    let mut by_workers = 0;
    for case in fs::read_dir(&fixtures).unwrap().map(|case| case.unwrap().path()) {
        let Ok(file) = fs::read(case.join("perf.data")) else { continue };
        if file.len() > TOO_LONG {
            continue;
        }
        let link = case.join("symfs");
        let objects = if link.is_dir() { link } else { linked(&link) };
        let root = work.join(objects.file_name().unwrap());
        if !root.is_dir() {
            copy(&objects, &root);
        }
        let small = file.len() < SMALL;
        for letters in LETTERS.into_iter().take(if small { LETTERS.len() } else { FEW }) {
            let (one, _) = decode(&file, &root, letters, Cores::ONE);
            let (many, shared) = decode(&file, &root, letters, MANY);
            assert!(one == many, "{} {letters}: {} and {} bytes", case.display(), one.len(), many.len());
            by_workers += shared;
        }
    }
    fs::remove_dir_all(&work).unwrap();
    assert!(by_workers > 0);
}
