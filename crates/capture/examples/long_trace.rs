//! Records made-up hardware that traces four CPUs at a high rate, and says what this costs: `long_trace STREAM [SECONDS
//! [MEGABYTES]]`, with the trace of a file, so many megabytes a second and CPU. Now and then more comes at once than an area
//! holds. The files go to the current folder; the newest are kept.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use oxperf_abi::{AttrFlags, Cpu, EventType, SoftwareId};
use oxperf_capture::{
    ControlChannel, Destination, EventRequest, Notice, Outcome, OutputOptions, RecordOptions,
    RecordRequests, Rotation, SwitchCause, Target, TargetOptions, record_on,
};
use oxperf_sys::{FakeKernel, FakeTraceCount, Sysfs};

const CPUS: u32 = 4;
/// A turn of the made-up clock, which goes with the real one.
const TURN: Duration = Duration::from_millis(2);
/// Every so often this much time passes at once.
const BURST_EVERY: Duration = Duration::from_secs(5);
const BURST: Duration = Duration::from_millis(100);
/// Bytes of a file, of which two are kept.
const FILE: u64 = 1 << 30;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let stream = arguments.next().ok_or("which trace?")?;
    let mut number = |usual: u64| arguments.next().map_or(Ok(usual), |text| text.parse());
    let time = Duration::from_secs(number(60)?);
    let rate = number(100)? * 1_000_000;
    let folder = std::env::current_dir()?;
    let sysfs = made_sysfs(&folder)?;
    let kernel = FakeKernel::new().with_aux_stream(fs::read(stream)?, rate);
    let (commands, mut steering) = std::io::pipe()?;
    let commands = ControlChannel::new(File::from(OwnedFd::from(commands)), None);
    let requests = RecordRequests {
        events: vec![traced()],
        control: Some(commands),
        ..RecordRequests::default()
    };
    let options = options(&folder, sysfs);
    let (outcome, own, memory) = thread::scope(|scope| {
        let hardware = scope.spawn(|| {
            let memory = trace(&kernel, time);
            let _ = steering.write_all(b"stop\n");
            memory
        });
        let mut notices: Vec<Notice> = Vec::new();
        let outcome = record_on(&kernel, &options, requests, &mut notices);
        let own = processor_time("/proc/thread-self/schedstat");
        (outcome, own, hardware.join())
    });
    let memory = memory.map_err(|_| "the hardware ended")?;
    report(&kernel, &outcome?, own?, &memory, &folder)
}

/// Lets hardware trace for so long; the memory of this process at every quarter of it, in kB.
fn trace(kernel: &FakeKernel, time: Duration) -> Vec<u64> {
    while kernel.opened().is_empty() {
        thread::sleep(TURN);
    }
    let begin = Instant::now();
    let (mut passed, mut burst_at, mut memory) = (Duration::ZERO, BURST_EVERY, Vec::new());
    while passed < time {
        let step = match passed >= burst_at {
            true => BURST,
            false => TURN,
        };
        if step == BURST {
            burst_at += BURST_EVERY;
        }
        kernel.advance(step);
        passed += step;
        if passed * 4 >= time * (memory.len() as u32 + 1) {
            memory.push(resident());
        }
        thread::sleep(passed.saturating_sub(begin.elapsed()));
    }
    memory
}

fn report(
    kernel: &FakeKernel,
    outcome: &Outcome,
    own: f64,
    memory: &[u64],
    folder: &Path,
) -> Result<(), Box<dyn Error>> {
    let counts = (0..kernel.opened().len()).map(|event| kernel.traced(event));
    let all = counts.fold(FakeTraceCount::default(), |all, one| FakeTraceCount {
        written: all.written + one.written,
        lost: all.lost + one.lost,
        truncated: all.truncated + one.truncated,
    });
    let told = outcome.traces;
    let copied = fs::metadata(outcome.name.as_ref().ok_or("no file")?)?.len();
    let copy = copy_time(outcome.name.as_ref().ok_or("no file")?, folder)?;
    let floor = copy * all.written as f64 / copied as f64;
    println!(
        "trace: {} MB written, {} MB lost in {} overruns",
        all.written >> 20,
        all.lost >> 20,
        all.truncated
    );
    println!(
        "told: {} MB in {} pieces, {} overruns",
        told.bytes >> 20,
        told.pieces,
        told.truncated
    );
    println!(
        "recorder: {own:.2} s of processor time; cp of as much: {floor:.2} s; ratio {:.2}",
        own / floor
    );
    println!("memory, kB: {memory:?}");
    if (told.bytes, told.truncated) == (all.written, all.truncated) {
        return Ok(());
    }
    Err("what is told is not what was lost".into())
}

/// User and system time that `cp` takes for a file, in seconds.
fn copy_time(file: &Path, folder: &Path) -> Result<f64, Box<dyn Error>> {
    let copy = folder.join("copy");
    let before = children_time()?;
    let copied = Command::new("cp")
        .arg("--reflink=never")
        .arg(file)
        .arg(&copy)
        .status()?;
    fs::remove_file(copy)?;
    match copied.success() {
        true => Ok((children_time()? - before).max(0.01)),
        false => Err("cp failed".into()),
    }
}

/// User and system time of ended children, in seconds.
fn children_time() -> Result<f64, Box<dyn Error>> {
    /// Ticks of a second, everywhere on Linux.
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string("/proc/self/stat")?;
    let (_, rest) = stat.rsplit_once(')').ok_or("no name")?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [user, system] = words.get(13..15).ok_or("no times")? else {
        return Err("no times".into());
    };
    Ok((user.parse::<f64>()? + system.parse::<f64>()?) / TICKS)
}

/// The time that a thread ran, in seconds.
fn processor_time(path: &str) -> Result<f64, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let nanoseconds: f64 = text.split_whitespace().next().ok_or("no time")?.parse()?;
    Ok(nanoseconds / 1e9)
}

/// Memory of this process, in kB.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn traced() -> EventRequest {
    let mut request = EventRequest::software(SoftwareId::CpuClock, "intel_pt//u");
    request.pmu = "intel_pt".into();
    request.attr.kind = EventType(10);
    request.attr.flags |= AttrFlags::EXCLUDE_KERNEL | AttrFlags::EXCLUDE_HV;
    request.aux.is_traced = true;
    request
}

fn options(folder: &Path, sysfs: Sysfs) -> RecordOptions {
    RecordOptions {
        target: TargetOptions {
            target: Target::Cpus((0..CPUS).map(Cpu).collect()),
            ..TargetOptions::default()
        },
        output: OutputOptions {
            destination: Destination::File(folder.join("trace.data")),
            rotation: Some(Rotation {
                cause: SwitchCause::Size(FILE),
                most_files: Some(2),
            }),
            timestamp_name: true,
            ..OutputOptions::default()
        },
        sysfs,
        ..RecordOptions::default()
    }
}

/// A folder that describes a machine of four CPUs with a trace.
fn made_sysfs(folder: &Path) -> Result<Sysfs, Box<dyn Error>> {
    let root: PathBuf = folder.join("sys");
    let files = [
        ("devices/system/cpu/online", format!("0-{}\n", CPUS - 1)),
        ("bus/event_source/devices/intel_pt/type", "10\n".to_owned()),
        (
            "bus/event_source/devices/intel_pt/format/tsc",
            "config:10\n".to_owned(),
        ),
        (
            "bus/event_source/devices/intel_pt/caps/topa_multiple_entries",
            "1\n".to_owned(),
        ),
    ];
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        fs::write(path, text)?;
    }
    Ok(Sysfs::at(root))
}
