//! Event text, PMUs, and names.

use oxperf_abi::{EventType, HardwareId, SoftwareId};
use oxperf_pmu::{
    Catalogue, MemoryTracepoints, PmuSource, ResolvedEvent, SystemPmus, parse, resolve,
};

use crate::trial::ensure;
use crate::{Shortfall, Trial};

fn resolved(text: &str) -> Result<Vec<ResolvedEvent>, Shortfall> {
    let (pmus, tracepoints) = (SystemPmus::default(), MemoryTracepoints::default());
    let catalogue = Catalogue::new(&pmus, &tracepoints);
    let wrong = |error| Shortfall::failure(format!("'{text}': {error}"));
    resolve(&parse(text).map_err(wrong)?, &catalogue).map_err(wrong)
}

fn one(text: &str) -> Result<ResolvedEvent, Shortfall> {
    let mut events = resolved(text)?;
    events
        .pop()
        .filter(|_| events.is_empty())
        .ok_or_else(|| Shortfall::failure(format!("'{text}' is not one event")))
}

/// Texts of events have the attributes that they always had.
pub(crate) fn event_texts(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    const EXPECTED: [(&str, u32, u64); 8] = [
        ("cpu-clock", 1, 0),
        ("task-clock:u", 1, 1),
        ("page-faults", 1, 2),
        ("dummy", 1, 9),
        ("r1a8", 4, 0x1a8),
        ("mem:0x1000:w", 5, 0),
        ("faults:k", 1, 2),
        ("context-switches", 1, 3),
    ];
    for (text, kind, config) in EXPECTED {
        let attr = one(text)?.attr;
        trial.note(format_args!(
            "{text}: type {}, config {:#x}",
            attr.kind.0, attr.config
        ));
        // The number of raw events is that of the machine's own PMU where it has one.
        let kind_fits = attr.kind.0 == kind || kind == 4;
        ensure(
            kind_fits && attr.config == config,
            format!(
                "'{text}' has type {} and config {:#x}",
                attr.kind.0, attr.config
            ),
        )?;
    }
    let group = resolved("{cpu-clock,task-clock}")?;
    ensure(group.len() == 2, "a group of two has other than two events")?;
    for text in ["no-such-event", "cpu-clock:q", "{cpu-clock"] {
        ensure(resolved(text).is_err(), format!("'{text}' is taken"))?;
    }
    Ok(())
}

/// Modifiers and terms have their meaning.
pub(crate) fn terms(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    use oxperf_abi::AttrFlags;
    let user = one("cpu-clock:u")?.attr.flags;
    ensure(
        user.contains(AttrFlags::EXCLUDE_KERNEL) && !user.contains(AttrFlags::EXCLUDE_USER),
        "':u' is not user mode alone",
    )?;
    let kernel = one("cpu-clock:k")?.attr.flags;
    ensure(
        kernel.contains(AttrFlags::EXCLUDE_USER) && !kernel.contains(AttrFlags::EXCLUDE_KERNEL),
        "':k' is not kernel mode alone",
    )
}

/// Every event that a PMU of this machine names can be resolved.
pub(crate) fn sysfs_events(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    each_listed(trial, "events", |pmu, event| format!("{pmu}/{event}/"))
}

/// Every field that a PMU of this machine describes can be set.
pub(crate) fn sysfs_formats(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    each_listed(trial, "format", |pmu, field| format!("{pmu}/{field}=1/"))
}

fn each_listed(
    trial: &mut Trial<'_>,
    folder: &str,
    text: impl Fn(&str, &str) -> String,
) -> Result<(), Shortfall> {
    let pmus = SystemPmus::default();
    let names = pmus
        .names()
        .map_err(|error| Shortfall::skip(format!("no PMUs in sysfs: {error}")))?;
    let mut tried = 0;
    for pmu in &names {
        let listed = pmus.list(pmu, folder);
        // A unit or a scale belongs to an event and is none.
        for name in listed.iter().filter(|name| !name.contains('.')) {
            let text = text(pmu, name);
            let event = one(&text)?;
            trial.note(format_args!("{text}: config {:#x}", event.attr.config));
            tried += 1;
        }
    }
    if tried == 0 {
        return Err(Shortfall::skip("no PMU of this machine names any"));
    }
    Ok(())
}

/// The names of generic events lead to the same numbers again.
pub(crate) fn round_trip(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    for id in SoftwareId::ALL {
        for name in id.names() {
            let attr = one(name)?.attr;
            ensure(
                attr.kind == EventType::SOFTWARE && attr.config == *id as u64,
                format!("'{name}' is type {}, config {}", attr.kind.0, attr.config),
            )?;
        }
    }
    for id in HardwareId::ALL {
        let attr = one(id.names()[0])?.attr;
        ensure(
            attr.config & 0xff == *id as u64,
            format!("'{}' has config {:#x}", id.names()[0], attr.config),
        )?;
    }
    Ok(())
}

fn demangled(cases: &[(&str, &str)]) -> Result<(), Shortfall> {
    for (linkage, name) in cases {
        let found = oxperf_symbols::demangle(linkage);
        ensure(
            found.as_deref() == Some(*name),
            format!("{linkage} reads {found:?}, not {name}"),
        )?;
    }
    Ok(())
}

/// Rust names, of both manglings.
pub(crate) fn rust_names(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    demangled(&[
        (
            "_ZN3std2io5stdio6_print17h0123456789abcdefE",
            "std::io::stdio::_print",
        ),
        ("_RNvC6_123foo3bar", "123foo::bar"),
    ])
}

/// C++ names.
pub(crate) fn cpp_names(_: &mut Trial<'_>) -> Result<(), Shortfall> {
    demangled(&[
        ("_ZN3foo3barEv", "foo::bar()"),
        (
            "_ZNSt6vectorIiSaIiEE9push_backERKi",
            "std::vector<int, std::allocator<int> >::push_back(int const&)",
        ),
    ])
}

/// The kernel's probes of user and kernel code are there.
pub(crate) fn probe_pmus(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let pmus = SystemPmus::default();
    for pmu in ["kprobe", "uprobe"] {
        let kind = pmus
            .kind(pmu)
            .ok_or_else(|| Shortfall::skip(format!("the kernel has no PMU '{pmu}'")))?;
        trial.note(format_args!("{pmu}: type {kind}"));
        let fields = pmus.list(pmu, "format");
        ensure(
            fields.iter().any(|field| field == "retprobe"),
            format!("'{pmu}' does not describe returns: {fields:?}"),
        )?;
    }
    Ok(())
}
