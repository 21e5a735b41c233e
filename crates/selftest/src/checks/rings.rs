//! Records that the kernel writes.

use oxperf_abi::{AttrFlags, EventAttr, RecordType, SampleType, SoftwareId};
use oxperf_sys::clock::KernelClock;
use oxperf_sys::{Kernel, RealKernel, RingPages};
use oxperf_wire::{Endian, Sample, SampleLayout};

use crate::events::{
    RingRecord, busy, map, number_of, open, records, software, split, switch, tracepoint,
};
use crate::trial::ensure;
use crate::{Shortfall, Trial};

/// This machine's byte order.
const ORDER: Endian = if cfg!(target_endian = "big") {
    Endian::Big
} else {
    Endian::Little
};

/// The path of the calling thread's name.
const OWN_NAME: &str = "/proc/thread-self/comm";

fn rename(name: &str) -> Result<(), Shortfall> {
    std::fs::write(OWN_NAME, name).map_err(Shortfall::failure)
}

/// Takes the samples of a clock, each as the reader decodes it.
fn sampled(
    attr: &EventAttr,
    mut look: impl FnMut(&Sample<'_>) -> Result<(), Shortfall>,
) -> Result<usize, Shortfall> {
    let layout = SampleLayout::new(attr);
    let records = records(attr, || busy(30))?;
    let mut samples = 0;
    for record in records
        .iter()
        .filter(|record| record.kind == RecordType::SAMPLE)
    {
        let sample = layout
            .decode_sample(&record.body, ORDER)
            .map_err(|error| Shortfall::failure(format!("a sample cannot be read: {error}")))?;
        look(&sample)?;
        samples += 1;
    }
    ensure(samples > 0, "no sample in 30 ms")?;
    Ok(samples)
}

fn clock(fields: SampleType) -> EventAttr {
    let mut attr = software(SoftwareId::TaskClock);
    attr.sample_period = 500_000;
    attr.sample_type = fields;
    attr
}

/// Samples and records of names have the fields that were asked for, with this thread's ids, in order of time.
pub(crate) fn records_and_fields(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = clock(SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CPU);
    attr.flags |= AttrFlags::COMM | AttrFlags::TASK | AttrFlags::MMAP | AttrFlags::SAMPLE_ID_ALL;
    let (own, mut last) = (std::process::id() as i32, 0);
    let samples = sampled(&attr, |sample| {
        ensure(
            sample.pid.is_some_and(|pid| pid.0 == own),
            format!("a sample of process {:?}, not {own}", sample.pid),
        )?;
        ensure(
            sample.ip.is_some_and(|ip| ip != 0),
            "a sample without an address",
        )?;
        ensure(sample.cpu.is_some(), "a sample without a CPU")?;
        let time = sample.time.map_or(0, |time| time.0);
        ensure(time > last, format!("time {time} comes after {last}"))?;
        last = time;
        Ok(())
    })?;
    trial.note(format_args!("{samples} samples"));
    Ok(())
}

/// A software event that counts nothing brings the records of names.
pub(crate) fn dummy_tracking(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let before = std::fs::read_to_string(OWN_NAME).map_err(Shortfall::failure)?;
    let mut attr = software(SoftwareId::Dummy);
    attr.sample_period = 1;
    attr.sample_type = SampleType::TID | SampleType::TIME;
    attr.flags |= AttrFlags::COMM | AttrFlags::MMAP | AttrFlags::TASK | AttrFlags::SAMPLE_ID_ALL;
    let mut renamed = Ok(());
    let records = records(&attr, || renamed = rename("oxperf-dummy"))?;
    rename(before.trim_end())?;
    renamed?;
    let found = records.iter().any(|record| {
        record.kind == RecordType::COMM
            && record
                .body
                .windows(12)
                .any(|bytes| bytes == b"oxperf-dummy")
    });
    trial.note(format_args!("{} records", records.len()));
    ensure(found, "no COMM record for the new name")
}

/// The end of each child is one record.
pub(crate) fn exit_events(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::Dummy);
    attr.sample_period = 1;
    attr.flags |= AttrFlags::TASK;
    let mut joined = true;
    let records = records(&attr, || {
        joined = std::thread::spawn(|| ()).join().is_ok();
    })?;
    let forks = number_of(&records, RecordType::FORK);
    trial.note(format_args!("{} records, {forks} FORK", records.len()));
    ensure(joined, "the thread did not end")?;
    ensure(forks == 1, format!("{forks} FORK records of one thread"))
}

/// Mappings of code are records; here a mapping of data, which is asked for, too.
pub(crate) fn mappings(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::Dummy);
    attr.sample_period = 1;
    attr.flags |= AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::MMAP_DATA;
    let program = trial.environment.program.clone();
    let mut mapped = None;
    let records = records(&attr, || {
        mapped = Some(oxperf_sys::MappedFile::open(&program));
    })?;
    mapped
        .transpose()
        .map_err(|error| Shortfall::failure(format!("{}: {error}", program.display())))?;
    let name = program.file_name().unwrap_or_default().as_encoded_bytes();
    let found = records.iter().any(|record| {
        record.kind == RecordType::MMAP2
            && record.body.windows(name.len()).any(|bytes| bytes == name)
    });
    trial.note(format_args!("{} records", records.len()));
    ensure(found, "no MMAP2 record for a file that was mapped")
}

/// Waits are records of switches, out and in.
pub(crate) fn switches(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::Dummy);
    attr.sample_period = 1;
    attr.flags |= AttrFlags::CONTEXT_SWITCH;
    let records = records(&attr, || {
        std::thread::sleep(std::time::Duration::from_millis(2));
    })?;
    let switches = number_of(&records, RecordType::SWITCH);
    trial.note(format_args!("{switches} SWITCH records"));
    ensure(
        switches >= 2,
        format!("{switches} SWITCH records of one wait"),
    )
}

/// Each call of a known kind is a sample in the ring.
pub(crate) fn tracepoint_samples(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    const CALLS: usize = 20;
    let mut attr = tracepoint("syscalls", "sys_enter_getppid")?;
    attr.sample_type = SampleType::RAW;
    let records = records(&attr, || {
        for _ in 0..CALLS {
            std::hint::black_box(std::os::unix::process::parent_id());
        }
    })?;
    let samples = number_of(&records, RecordType::SAMPLE);
    trial.note(format_args!("{samples} samples of {CALLS} calls"));
    ensure(
        samples == CALLS,
        format!("{samples} samples of {CALLS} calls"),
    )
}

/// The newest records of a ring that is written backward come first.
pub(crate) fn backward_ring(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::Dummy);
    attr.sample_period = 1;
    attr.flags |= AttrFlags::COMM | AttrFlags::WRITE_BACKWARD;
    let before = std::fs::read_to_string(OWN_NAME).map_err(Shortfall::failure)?;
    let event = open(&attr)?;
    let pages = RingPages::new(1).ok_or_else(|| Shortfall::failure("a page is no ring"))?;
    let ring = RealKernel
        .map_backward_ring(&event, pages)
        .map_err(Shortfall::failure)?;
    switch(&event, true)?;
    for nth in 1..=3 {
        rename(&format!("oxperf-back{nth}"))?;
    }
    switch(&event, false)?;
    rename(before.trim_end())?;
    let mut bytes = Vec::new();
    ring.copy_records(&mut bytes);
    let names: Vec<u8> = split(&bytes)?.iter().filter_map(last_digit).collect();
    trial.note(format_args!("{names:?}"));
    ensure(
        names == *b"321",
        format!("names come as {}", String::from_utf8_lossy(&names)),
    )
}

/// The digit behind `oxperf-back` in a COMM record.
fn last_digit(record: &RingRecord) -> Option<u8> {
    let at = record
        .body
        .windows(11)
        .position(|bytes| bytes == b"oxperf-back")?;
    record.body.get(at + 11).copied()
}

/// Samples hold call chains.
pub(crate) fn call_chains(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut longest = 0;
    let samples = sampled(&clock(SampleType::CALLCHAIN), |sample| {
        let chain = sample
            .callchain
            .ok_or_else(|| Shortfall::failure("a sample without its chain"))?;
        longest = longest.max(chain.iter().count());
        Ok(())
    })?;
    trial.note(format_args!("{samples} samples, at most {longest} entries"));
    ensure(longest >= 2, "chains hold no address")
}

/// Samples hold registers and a copy of the user stack.
pub(crate) fn user_stacks(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = clock(SampleType::REGS_USER | SampleType::STACK_USER);
    attr.sample_regs_user = if cfg!(target_arch = "x86_64") {
        1 << 8 | 1 << 7
    } else {
        1 << 31 | 1 << 32
    };
    attr.sample_stack_user = 4096;
    let mut largest = 0;
    let samples = sampled(&attr, |sample| {
        ensure(
            sample.regs_user.is_some_and(|registers| registers.abi != 0),
            "a sample without registers",
        )?;
        largest = largest.max(sample.stack_user.map_or(0, |stack| stack.bytes.len()));
        Ok(())
    })?;
    trial.note(format_args!("{samples} samples, at most {largest} bytes"));
    ensure(largest > 0, "no sample holds a copy of the stack")
}

/// Samples carry the time of each clock that `-k` names.
pub(crate) fn clocks(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    for asked in [
        KernelClock::Monotonic,
        KernelClock::MonotonicRaw,
        KernelClock::Boottime,
    ] {
        let mut attr = clock(SampleType::TIME);
        attr.flags |= AttrFlags::USE_CLOCKID;
        attr.clockid = asked.id();
        let before = asked.now().map_err(Shortfall::failure)?.as_nanos();
        let samples = sampled(&attr, |sample| {
            let time = u128::from(sample.time.map_or(0, |time| time.0));
            let now = asked.now().map_err(Shortfall::failure)?.as_nanos();
            ensure(
                (before..=now).contains(&time),
                format!("{asked:?}: a sample at {time}, between {before} and {now} expected"),
            )
        })?;
        trial.note(format_args!("{asked:?}: {samples} samples"));
    }
    Ok(())
}

/// The kernel publishes how its time follows from the processor's counter.
pub(crate) fn time_conversion(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let event = open(&software(SoftwareId::Dummy))?;
    let ring = map(&event, 1)?;
    let conversion = ring
        .time_conversion()
        .ok_or_else(|| Shortfall::skip("the kernel publishes no conversion"))?;
    trial.note(format_args!("{conversion:?}"));
    ensure(
        conversion.mult != 0 && conversion.shift < 64,
        "the conversion has no factor",
    )?;
    if conversion.user_time_zero {
        Ok(())
    } else {
        Err(Shortfall::skip("the conversion has no zero"))
    }
}

fn kind_of_record(flag: AttrFlags) -> Result<(), Shortfall> {
    let mut attr = software(SoftwareId::Dummy);
    attr.sample_period = 1;
    attr.flags |= flag;
    match open(&attr) {
        Err(Shortfall::Failure(_)) => Err(Shortfall::skip("not known to this kernel")),
        opened => opened.map(drop),
    }
}

/// Execs and renames can be told apart.
pub(crate) fn comm_exec(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::COMM | AttrFlags::COMM_EXEC)
}

/// Namespaces can be recorded.
pub(crate) fn namespaces(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::NAMESPACES)
}

/// Cgroups can be recorded.
pub(crate) fn cgroup_records(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::CGROUP)
}

/// Kernel symbols that come and go can be recorded.
pub(crate) fn kernel_symbols(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::KSYMBOL)
}

/// BPF programs can be recorded.
pub(crate) fn bpf_programs(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::BPF_EVENT)
}

/// Changes of kernel text can be recorded.
pub(crate) fn text_pokes(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::TEXT_POKE)
}

/// Mappings can be recorded with build ids.
pub(crate) fn build_ids(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    kind_of_record(AttrFlags::MMAP | AttrFlags::MMAP2 | AttrFlags::BUILD_ID)
}
