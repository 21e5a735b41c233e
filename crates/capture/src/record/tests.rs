//! Recordings over a fake kernel: their course, and the order of their records.

use super::*;
use crate::notice::Notice;
use crate::options::{
    AuxOptions, DirectoryRecords, OutputOptions, Program, SamplingOptions, SnapshotOptions,
    TargetOptions,
};
use crate::trace::testing::{FakeSysfs, SKYLAKE};
use oxperf_abi::{AttrFlags, Cpu, SoftwareId};
use oxperf_data::Reader;
use oxperf_data::features::{AuxtraceEntry, AuxtraceIndex};
use oxperf_sys::{ControlScope, FakeCall, FakeKernel, RingPages};
use oxperf_wire::user::Auxtrace;
use oxperf_wire::{Cursor, RecordHeader};
use std::fs;

/// As [`recorded_to`], to a file. The result and the file.
fn recorded(
    kernel: &FakeKernel,
    requests: Vec<EventRequest>,
    fill: impl FnOnce(),
) -> (Outcome, Vec<u8>) {
    let path = scratch(&requests.len().to_string());
    let output = OutputOptions {
        destination: Destination::File(path.clone()),
        ..OutputOptions::default()
    };
    let outcome = recorded_to(output, kernel, requests, fill);
    let file = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    (outcome, file)
}

fn scratch(name: &str) -> PathBuf {
    let name = format!("oxperf-record-{}-{name}", std::process::id());
    std::env::temp_dir().join(name)
}

/// As [`recorded_as`].
fn recorded_to(
    output: OutputOptions,
    kernel: &FakeKernel,
    requests: Vec<EventRequest>,
    fill: impl FnOnce(),
) -> Outcome {
    recorded_as(options_to(output), kernel, requests, fill)
}

/// The options to record a shell that exits with 7, with rings of one page.
fn options_to(output: OutputOptions) -> RecordOptions {
    let arguments = ["/bin/sh", "-c", "exit 7"].map(Into::into).to_vec();
    let target = TargetOptions {
        workload: Some(Program {
            arguments,
            environment: Vec::new(),
            search_path: None,
        }),
        ..TargetOptions::default()
    };
    let sampling = SamplingOptions {
        ring_pages: Some(1),
        ..SamplingOptions::default()
    };
    RecordOptions {
        target,
        sampling,
        output,
        ..RecordOptions::default()
    }
}

/// Records on a machine of one CPU; `fill` writes into the rings once they are open.
fn recorded_as(
    options: RecordOptions,
    kernel: &FakeKernel,
    requests: Vec<EventRequest>,
    fill: impl FnOnce(),
) -> Outcome {
    let mut observer: Vec<Notice> = Vec::new();
    let (requests, trace, options) = with_trace(kernel, requests, options, &mut observer).unwrap();
    let machine = MachineInfo {
        online: vec![Cpu(0)],
        threads: Vec::new(),
        is_hybrid: false,
    };
    let workload = options.target.workload.as_ref();
    let control = RecordingControl::new(workload, &options.output.destination).unwrap();
    let context = RecorderContext {
        options: &options,
        kernel,
        machine,
        clock: None,
        trace,
    };
    let recorder = Recorder::open(context, control, requests, &mut observer).unwrap();
    fill();
    recorder.run(&mut observer).unwrap()
}

fn sample(value: u64) -> Vec<u8> {
    let mut sample = Encoder::new(Endian::NATIVE);
    sample.record(RecordType::SAMPLE, Misc(1), |body| {
        body.u64(value);
        body.bytes(&[0; 56]);
    });
    sample.into_bytes()
}

/// The values of the samples of a file, in its order.
fn values(reader: &Reader<'_>) -> Vec<u64> {
    let records = reader.records().unwrap().map(Result::unwrap);
    let samples = records.filter(|raw| raw.header.kind == RecordType::SAMPLE);
    samples
        .map(|raw| u64::from_ne_bytes(raw.body[..8].try_into().unwrap()))
        .collect()
}

// One test only: a process can watch its signals once at a time.
#[test]
fn recordings_over_a_fake_kernel() {
    events_that_never_cease_end_with_the_workload();
    the_newest_records_come_last_and_in_order();
    the_kernels_code_stands_beside_the_recording();
    a_trace_is_recorded_whole();
    a_trace_stands_beside_the_kernels_code();
    the_newest_trace_is_written_at_the_end();
}

/// The number of the event of Intel PT: the kernel is asked for switches of tasks before.
const TRACE: usize = 1;

/// An event of Intel PT.
fn traced() -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::CpuClock, "intel_pt//u");
    request.pmu = "intel_pt".into();
    request.aux.is_traced = true;
    request.attr.flags |= AttrFlags::EXCLUDE_KERNEL;
    request
}

/// A piece of a trace with its place.
type Piece = (u64, Vec<u8>);

/// Records a trace, of which an area holds four pages; the outcome, the file, and the bytes of the trace with their places.
fn recorded_trace(
    trace: AuxOptions,
    kernel: &FakeKernel,
    fill: impl FnOnce(),
) -> (Outcome, Vec<u8>, Vec<Piece>) {
    let machine = FakeSysfs::new(SKYLAKE);
    let path = scratch("trace");
    let output = OutputOptions {
        destination: Destination::File(path.clone()),
        ..OutputOptions::default()
    };
    let options = RecordOptions {
        trace: AuxOptions {
            area_pages: Some(4),
            ..trace
        },
        sysfs: machine.sysfs(),
        ..options_to(output)
    };
    let outcome = recorded_as(options, kernel, vec![traced()], fill);
    let file = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    let reader = Reader::open(&file).unwrap();
    let index = reader.features().get::<AuxtraceIndex>().unwrap().unwrap();
    let piece = |entry: &AuxtraceEntry| {
        let (at, head) = (entry.offset.0 as usize, entry.size as usize);
        let mut cursor = Cursor::new(&file[at..at + head], Endian::NATIVE);
        let header = RecordHeader::decode(&mut cursor).unwrap();
        assert_eq!(header.kind, RecordType::AUXTRACE);
        let record = Auxtrace::decode(&mut cursor).unwrap();
        let bytes = &file[at + head..at + head + record.size as usize];
        (record.offset, bytes.to_vec())
    };
    let pieces = index.0.iter().map(piece).collect();
    (outcome, file, pieces)
}

/// The records behind a trace are found; a piece that the kernel had to cut is counted.
fn a_trace_is_recorded_whole() {
    let kernel = FakeKernel::new().with_aux();
    let trace: Vec<u8> = (0..5001).map(|at| (at % 251) as u8).collect();
    let (outcome, file, pieces) = recorded_trace(AuxOptions::default(), &kernel, || {
        assert!(kernel.write_aux(TRACE, &trace));
        let mut record = Encoder::new(Endian::NATIVE);
        record.record(RecordType::AUX, Misc(0), |body| {
            [0, 5001, 1].into_iter().for_each(|word| body.u64(word));
        });
        assert!(kernel.write_records(TRACE, record.as_bytes()));
    });
    let [(0, bytes)] = &*pieces else {
        panic!("one piece from the beginning");
    };
    assert_eq!((&bytes[..5001], &bytes[5001..]), (&*trace, &[0; 7][..]));
    assert_eq!((outcome.traces.pieces, outcome.traces.truncated), (1, 1));
    let go_on = FakeCall::Enable(TRACE, ControlScope::Event);
    assert!(
        kernel.calls().contains(&go_on),
        "a full area had stopped it"
    );
    let reader = Reader::open(&file).unwrap();
    let kinds: Vec<RecordType> = reader
        .records()
        .unwrap()
        .map(|raw| raw.unwrap().header.kind)
        .collect();
    for kind in [
        RecordType::AUXTRACE_INFO,
        RecordType::AUXTRACE,
        RecordType::AUX,
    ] {
        assert!(kinds.contains(&kind), "{kind:?}");
    }
    let names = reader.events().iter().map(|event| event.name.clone());
    let events: Vec<String> = names.map(Option::unwrap_or_default).collect();
    assert_eq!(events, ["intel_pt//u", "dummy:u"]);
}

/// In a directory the trace and its places stand in the file with the other records.
fn a_trace_stands_beside_the_kernels_code() {
    let (machine, proc, path) = (
        FakeSysfs::new(SKYLAKE),
        made_proc(),
        scratch("traced-kernel"),
    );
    let output = OutputOptions {
        destination: Destination::Directory(path.clone(), DirectoryRecords::InOneFile),
        kernel_code: Some(proc.clone()),
        ..OutputOptions::default()
    };
    let options = RecordOptions {
        sysfs: machine.sysfs(),
        ..options_to(output)
    };
    let kernel = FakeKernel::new().with_aux();
    recorded_as(
        options,
        &kernel,
        vec![traced(), kernel_code::request()],
        || {
            assert!(kernel.write_aux(TRACE, b"a trace!"));
        },
    );
    let file = fs::read(path.join("data")).unwrap();
    let reader = Reader::open(&file).unwrap();
    let index = reader.features().get::<AuxtraceIndex>().unwrap().unwrap();
    let [entry] = &*index.0 else {
        panic!("one piece");
    };
    let trace = (entry.offset.0 + entry.size) as usize;
    assert_eq!(&file[trace..trace + 8], b"a trace!");
    let names: Vec<_> = reader
        .events()
        .iter()
        .map(|event| event.name.clone())
        .collect();
    assert_eq!(
        names.len(),
        3,
        "the trace, tasks, changes of the code: {names:?}"
    );
    assert!(path.join("kcore_dir/kcore").exists());
    fs::remove_dir_all(path).unwrap();
    fs::remove_dir_all(proc).unwrap();
}

fn the_newest_trace_is_written_at_the_end() {
    let kernel = FakeKernel::new().with_aux();
    let trace: Vec<u8> = (0..40_000).map(|at| (at % 251 + 1) as u8).collect();
    let snapshot = SnapshotOptions {
        size: Some(4096),
        at_exit: true,
    };
    let options = AuxOptions {
        snapshot: Some(snapshot),
        ..AuxOptions::default()
    };
    let (_, _, pieces) = recorded_trace(options, &kernel, || {
        let pieces = trace.chunks(4096);
        pieces.for_each(|piece| assert!(kernel.write_aux(TRACE, piece)));
    });
    let [(_, bytes)] = &*pieces else {
        panic!("one snapshot");
    };
    assert_eq!(bytes[..], trace[trace.len() - 4096..]);
}

/// A folder with a page of code at an address, as `/proc` has it.
fn made_proc() -> PathBuf {
    let (folder, address) = (scratch("proc"), 0xffff_ffff_8100_0000_u64);
    fs::create_dir_all(&folder).unwrap();
    let list = format!("{address:x} T _stext\n{:x} T _etext\n", address + 4096);
    fs::write(folder.join("kallsyms"), list).unwrap();
    let mut kcore = b"\x7fELF\x02\x01\x01".to_vec();
    kcore.resize(16, 0);
    // A core file, x86-64; one segment, whose header stands at 64, with all rights.
    kcore.extend([4, 0, 62, 0, 1, 0, 0, 0]);
    let words = |words: &[u64]| {
        words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    kcore.extend(words(&[0, 64, 0]));
    kcore.extend([0, 0, 0, 0, 64, 0, 56, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    kcore.extend([1, 0, 0, 0, 7, 0, 0, 0]);
    kcore.extend(words(&[4096, address, 0, 4096, 4096, 4096]));
    kcore.resize(4096, 0);
    kcore.resize(8192, 0x90);
    fs::write(folder.join("kcore"), kcore).unwrap();
    folder
}

/// One file of records, so that the file says nothing of others; and an event tells changes of the code.
fn the_kernels_code_stands_beside_the_recording() {
    let (proc, path) = (made_proc(), scratch("kernel"));
    let output = OutputOptions {
        destination: Destination::Directory(path.clone(), DirectoryRecords::InOneFile),
        kernel_code: Some(proc.clone()),
        ..OutputOptions::default()
    };
    kernel_code::check(&proc).unwrap();
    let requests = vec![
        EventRequest::software(SoftwareId::TaskClock, "task-clock"),
        kernel_code::request(),
    ];
    let kernel = FakeKernel::new();
    let outcome = recorded_to(output, &kernel, requests, || {
        assert!(kernel.write_records(0, &sample(1)));
    });
    assert_eq!(outcome.samples, 1);
    let code = fs::read(path.join("kcore_dir/kcore")).unwrap();
    assert!(code.ends_with(&[0x90; 4096]));
    let lists = ["kallsyms", "modules"].map(|name| {
        let list = fs::read(path.join("kcore_dir").join(name)).unwrap();
        list.len()
    });
    assert_eq!((lists[0] > 0, lists[1]), (true, 0), "no module, no list");
    let file = fs::read(path.join("data")).unwrap();
    let reader = Reader::open(&file).unwrap();
    let described = reader.features().get::<oxperf_data::features::DirFormat>();
    assert!(described.unwrap().is_none());
    let events = reader.events().iter().map(|event| event.stored.attr.flags);
    let pokes = events.map(|flags| flags.contains(AttrFlags::TEXT_POKE));
    assert_eq!(pokes.collect::<Vec<_>>(), [false, true]);
    fs::remove_dir_all(path).unwrap();
    fs::remove_dir_all(&proc).unwrap();
    assert!(kernel_code::check(&proc).is_err());
}

/// Every pass finds records, from the first to the last, and stopping the events stops nothing.
fn events_that_never_cease_end_with_the_workload() {
    let kernel = FakeKernel::new().with_restless_rings(sample(0));
    let requests = vec![EventRequest::software(SoftwareId::TaskClock, "task-clock")];
    let (outcome, file) = recorded(&kernel, requests, || ());
    assert_eq!(outcome.ending.exit_code(), 7);
    assert!(outcome.samples >= 1, "what was there at the end was moved");
    let reader = Reader::open(&file).unwrap();
    assert_eq!(values(&reader).len() as u64, outcome.samples);
    let features = reader.features();
    let command = features.get::<oxperf_data::features::CmdLine>();
    assert!(command.unwrap().is_some());
}

/// A ring that fills and one that keeps the newest of 1000 records. No round ends: the newest may be older than what
/// was moved before.
fn the_newest_records_come_last_and_in_order() {
    let kernel = FakeKernel::new();
    let requests = vec![
        EventRequest {
            overwrite: Some(true),
            ..EventRequest::software(SoftwareId::TaskClock, "task-clock")
        },
        EventRequest::software(SoftwareId::CpuClock, "cpu-clock"),
    ];
    let (outcome, file) = recorded(&kernel, requests, || {
        for value in 1..=1000 {
            assert!(kernel.write_records(0, &sample(value)));
        }
        assert!(kernel.write_records(1, &sample(0)));
    });
    let page = RingPages::new(1).unwrap().bytes();
    let per_page = (page / sample(0).len()) as u64;
    let newest = 1000 - per_page + 1..=1000;
    let reader = Reader::open(&file).unwrap();
    let expected: Vec<u64> = std::iter::once(0).chain(newest).collect();
    assert_eq!(values(&reader), expected);
    assert_eq!((outcome.samples, outcome.lost), (per_page + 1, 0));
    let mut records = reader.records().unwrap().map(Result::unwrap);
    assert!(records.all(|raw| raw.header.kind != RecordType::FINISHED_ROUND));
    let is_pause = |call: &FakeCall| matches!(call, FakeCall::PauseOutput(..));
    let calls = kernel.calls();
    let pauses: Vec<&FakeCall> = calls.iter().filter(|call| is_pause(call)).collect();
    let both = [true, false].map(|paused| FakeCall::PauseOutput(0, paused));
    assert_eq!(pauses, both.iter().collect::<Vec<_>>());
}
