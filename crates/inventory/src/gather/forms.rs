//! The forms of names for events without one: `rNNN`, `PMU/TERMS/`, breakpoints.

use super::{cores, listed};
use crate::instances::without_instance;
use crate::{CountableEvent, EventCategory, Instances};
use oxperf_pmu::{PmuDescription, PmuFormat};

/// The terms of a PMU of cores beyond its own formats, with their values. The empty ones are perf's.
const CORE_TERMS: &[&str] = &[
    "config=0..0xffffffffffffffff",
    "config1=0..0xffffffffffffffff",
    "config2=0..0xffffffffffffffff",
    "config3=0..0xffffffffffffffff",
    "config4=0..0xffffffffffffffff",
    "legacy-hardware-config=0..9,",
    "legacy-cache-config=0..0xffffff,",
    "name=string",
    "period=number",
    "freq=number",
    "branch_type=(u|k|hv|any|...)",
    "time",
    "call-graph=(fp|dwarf|lbr)",
    "stack-size=number",
    "max-stack=number",
    "nr=number",
    "inherit",
    "no-inherit",
    "overwrite",
    "no-overwrite",
    "percore",
    "aux-output",
    "aux-action=(pause|resume|start-paused)",
    "aux-sample-size=number",
    "cpu=number",
    "ratio-to-prev=string",
];

/// A descriptor shows this many terms.
const SHOWN_TERMS: usize = 3;

/// All forms.
pub(crate) fn forms(pmus: &[PmuDescription], instances: Instances) -> Vec<CountableEvent> {
    let raw = |name: &str| CountableEvent::named(EventCategory::RawDescriptor, name.to_owned());
    let mut forms = vec![raw("rNNN")];
    forms.extend(cores(pmus).iter().map(of_pmu));
    let others = listed(pmus, instances)
        .into_iter()
        .filter(|pmu| !pmu.is_core);
    let mut others: Vec<(&str, CountableEvent)> =
        others.map(|pmu| (&*pmu.name, of_pmu(pmu))).collect();
    others.push(("tool", descriptor("tool", &[], false)));
    others.sort_by_key(|(name, _)| *name);
    forms.extend(others.into_iter().map(|(_, form)| form));
    let breakpoint = "mem:<addr>[/len][:access]".to_owned();
    forms.push(CountableEvent::named(EventCategory::Breakpoint, breakpoint));
    forms
}

fn of_pmu(pmu: &PmuDescription) -> CountableEvent {
    descriptor(&pmu.name, &pmu.formats, pmu.is_core)
}

fn descriptor(pmu: &str, formats: &[PmuFormat], is_core: bool) -> CountableEvent {
    let mut terms: Vec<String> = formats.iter().map(term).collect();
    if is_core {
        terms.extend(CORE_TERMS.iter().map(|term| (*term).to_owned()));
    }
    let shown = match terms.get(..SHOWN_TERMS) {
        Some(first) if terms.len() > SHOWN_TERMS => first.join(",") + ",...",
        _ => terms.join(","),
    };
    let pmu = without_instance(pmu);
    let brief =
        "(a term takes its value behind '='; a modifier is a letter such as u for user space)";
    CountableEvent {
        brief: is_core.then(|| brief.to_owned()),
        encoding: Some(format!("{pmu}/{}/modifier", terms.join(","))),
        ..CountableEvent::named(
            EventCategory::RawDescriptor,
            format!("{pmu}/{shown}/modifier"),
        )
    }
}

/// A term with its values: `edge`, `umask=0..255`, `ldlat=0..0xffff`.
fn term(format: &PmuFormat) -> String {
    let name = &format.name;
    match format.maximum {
        None | Some(1) => name.clone(),
        Some(maximum @ 0..=255) => format!("{name}=0..{maximum}"),
        Some(maximum) => format!("{name}=0..{maximum:#x}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::EventType;

    #[test]
    fn three_terms_are_shown() {
        let format = |name: &str, maximum| PmuFormat {
            name: name.to_owned(),
            maximum: Some(maximum),
        };
        let mut pmu = PmuDescription {
            name: "uncore_cha_0".into(),
            kind: EventType(9),
            is_core: false,
            formats: vec![
                format("edge", 1),
                format("umask", 0xff),
                format("event", 0xfff),
            ],
            events: Vec::new(),
        };
        assert_eq!(
            of_pmu(&pmu).name,
            "uncore_cha/edge,umask=0..255,event=0..0xfff/modifier"
        );
        pmu.formats.push(format("inv", 1));
        let form = of_pmu(&pmu);
        assert_eq!(
            form.name,
            "uncore_cha/edge,umask=0..255,event=0..0xfff,.../modifier"
        );
        let whole = "uncore_cha/edge,umask=0..255,event=0..0xfff,inv/modifier";
        assert_eq!(form.encoding.as_deref(), Some(whole));
    }
}
