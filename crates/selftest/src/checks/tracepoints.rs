//! Tracepoints: tracefs, formats, counts and fields.

use oxperf_abi::SampleType;
use oxperf_sys::cpus;
use oxperf_tracepoint::{ByteOrder, EventFormat, SystemTracefs, Tracefs, Value};

use crate::events::{count, records, tracepoint, tracepoint_format};
use crate::trial::ensure;
use crate::{Shortfall, Trial};

const OPENS: u64 = 111;

fn open_files(times: u64) {
    for _ in 0..times {
        drop(std::fs::File::open("/etc/passwd"));
    }
}

/// tracefs can be read.
pub(crate) fn tracefs(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let systems = SystemTracefs::find()
        .and_then(|tracefs| tracefs.systems())
        .map_err(|error| Shortfall::failure(format!("tracefs: {error}")))?;
    trial.note(format_args!("{} systems", systems.len()));
    ensure(!systems.is_empty(), "tracefs has no events")
}

/// The formats of all tracepoints can be read by this program.
pub(crate) fn formats(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let missing = |error| Shortfall::skip(format!("tracefs: {error}"));
    let tracefs = SystemTracefs::find().map_err(missing)?;
    let systems = tracefs.systems().map_err(missing)?;
    let (mut read, mut bad) = (0, Vec::new());
    for system in &systems {
        for event in tracefs.events(system).unwrap_or_default() {
            let Ok(text) = tracefs.format(system, &event) else {
                continue;
            };
            match EventFormat::parse(&text) {
                Ok(_) => read += 1,
                Err(error) => bad.push(format!("{system}:{event}: {error}")),
            }
        }
    }
    bad.iter().for_each(|line| trial.note(line));
    trial.note(format_args!("{read} formats"));
    ensure(
        bad.is_empty(),
        format!("{} formats cannot be read", bad.len()),
    )?;
    ensure(read > 0, "no format can be read")
}

/// Each opened file is a count.
pub(crate) fn openat(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = tracepoint("syscalls", "sys_enter_openat")?;
    attr.sample_period = 0;
    let counted = count(&attr, || open_files(OPENS))?;
    trial.note(format_args!("{counted} of {OPENS}"));
    ensure(
        counted == OPENS,
        format!("{counted} calls counted where {OPENS} happened"),
    )
}

/// Each opened file is a count, whatever the CPU.
pub(crate) fn openat_on_cpus(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let mut attr = tracepoint("syscalls", "sys_enter_openat")?;
    attr.sample_period = 0;
    let allowed = cpus::affinity().map_err(Shortfall::failure)?;
    for (nth, cpu) in allowed.iter().enumerate() {
        let wanted = OPENS + nth as u64;
        cpus::set_affinity(&[*cpu]).map_err(Shortfall::failure)?;
        let counted = count(&attr, || open_files(wanted));
        cpus::set_affinity(&allowed).map_err(Shortfall::failure)?;
        let counted = counted?;
        trial.note(format_args!("cpu {cpu}: {counted} of {wanted}"));
        ensure(
            counted == wanted,
            format!("cpu {cpu}: {counted} calls counted where {wanted} happened"),
        )?;
    }
    Ok(())
}

/// The flags of a call stand in its sample.
pub(crate) fn openat_fields(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let format = tracepoint_format("syscalls", "sys_enter_openat")?;
    let field = format
        .field("flags")
        .ok_or_else(|| Shortfall::failure("the format has no field 'flags'"))?;
    let mut attr = tracepoint("syscalls", "sys_enter_openat")?;
    attr.sample_type = SampleType::RAW;
    let records = records(&attr, || {
        drop(
            std::fs::File::options()
                .read(true)
                .write(true)
                .open("/dev/null"),
        );
    })?;
    let order = if cfg!(target_endian = "big") {
        ByteOrder::Big
    } else {
        ByteOrder::Little
    };
    let flags = records
        .first()
        .and_then(|record| record.body.get(4..))
        .and_then(|raw| field.value(raw, order));
    trial.note(format_args!("flags: {flags:?}"));
    let flags = match flags {
        Some(Value::Unsigned(flags)) => flags,
        Some(Value::Signed(flags)) => flags as u64,
        other => return Err(Shortfall::failure(format!("the flags are {other:?}"))),
    };
    ensure(
        flags & 3 == 2,
        format!("flags {flags:#x} are not those of a file to read and write"),
    )
}

/// The fields of the scheduler's tracepoints are those that readers need.
pub(crate) fn sched_fields(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    const FIELDS: [(&str, &[&str]); 2] = [
        (
            "sched_switch",
            &[
                "prev_comm",
                "prev_pid",
                "prev_prio",
                "prev_state",
                "next_comm",
                "next_pid",
                "next_prio",
            ],
        ),
        ("sched_wakeup", &["comm", "pid", "prio", "target_cpu"]),
    ];
    for (event, fields) in FIELDS {
        let format = tracepoint_format("sched", event)?;
        for name in fields {
            let field = format
                .field(name)
                .ok_or_else(|| Shortfall::failure(format!("{event} has no field '{name}'")))?;
            trial.note(format_args!("{event}: {name}: {} bytes", field.size));
            ensure(field.size > 0, format!("{event}: '{name}' has no size"))?;
        }
    }
    Ok(())
}
