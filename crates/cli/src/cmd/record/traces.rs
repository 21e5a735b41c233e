//! Hardware traces that this machine does not have, and those that are not recorded yet.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use flate2::read::GzDecoder;
use oxperf_capture::explain::{MissingTrace, TraceKind};
use oxperf_capture::{EventRequest, system};
use oxperf_pmu::SyntaxError;
use oxperf_present::text::sanitize;
use oxperf_sys::process;

use crate::environment;
use crate::failure::Failure;

/// The kernel's configuration, as the kernel itself may have it.
const OWN_CONFIGURATION: &str = "/proc/config.gz";
/// More bytes than a configuration has.
const MOST_CONFIGURATION: u64 = 16 << 20;

/// What this machine lacks, where a text of events names a hardware trace that it does not have.
pub(in crate::cmd) fn missing(error: &SyntaxError) -> Option<String> {
    let mut names = error.problems.iter().flat_map(|problem| &problem.unknown);
    let folder = |name: &str| environment::sysfs().path(format!("bus/event_source/devices/{name}"));
    let (name, kind) = names.find_map(|name| Some((name, TraceKind::of_pmu(name)?)))?;
    if folder(name).exists() {
        return None;
    }
    let model = environment::cpu_model();
    let facts = system::trace_facts(
        &environment::sysfs(),
        model.as_ref().map(|model| model.as_str()),
        kernel_configuration(),
    );
    Some(MissingTrace::of(kind, &facts).to_string())
}

/// The configuration of the running kernel, from itself or as distributions install it.
fn kernel_configuration() -> Option<String> {
    let packed = File::open(OWN_CONFIGURATION).map(GzDecoder::new);
    if let Ok(text) = packed.and_then(read) {
        return Some(text);
    }
    let release = process::system_name().ok()?.release;
    let below = |folder: &str, name: &str| {
        let mut path = Path::new(folder).join(name).into_os_string();
        path.push(&release);
        path
    };
    let mut modules = below("/lib/modules", "");
    modules.push("/config");
    let places = [below("/boot", "config-"), modules];
    places
        .into_iter()
        .find_map(|path| fs::read_to_string(path).ok())
}

fn read(from: impl io::Read) -> io::Result<String> {
    let mut text = String::new();
    from.take(MOST_CONFIGURATION).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns whether the trace of a PMU is recorded: the one place that says so.
fn is_recorded(pmu: &str) -> bool {
    TraceKind::of_pmu(pmu) == Some(TraceKind::IntelPt)
}

/// Refuses events of traces that are not recorded yet.
///
/// # Errors
/// There is such an event.
pub(super) fn check(requests: &[EventRequest]) -> Result<(), Failure> {
    let mut traced = requests.iter().filter(|request| request.aux.is_traced);
    let Some(other) = traced.find(|request| !is_recorded(&request.pmu)) else {
        return Ok(());
    };
    let event = sanitize(&other.name);
    let trace = match TraceKind::of_pmu(&other.pmu) {
        Some(kind) => kind.name(),
        None => &*other.pmu,
    };
    Err(Failure::new(format!(
        "Failed to record '{event}': oxperf does not record {} yet; perf record -e {event} does.",
        sanitize(trace)
    )))
}

#[cfg(test)]
mod tests {
    use oxperf_abi::SoftwareId;
    use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints, parse, resolve};

    use super::*;

    fn checked(pmu: &str, is_traced: bool) -> Result<(), String> {
        let mut request = EventRequest::software(SoftwareId::CpuClock, "trace//u");
        request.pmu = pmu.into();
        request.aux.is_traced = is_traced;
        let first = EventRequest::software(SoftwareId::Dummy, "first");
        check(&[first, request]).map_err(|failure| failure.to_string())
    }

    #[test]
    fn other_traces_are_refused_by_name() {
        assert_eq!(checked("intel_pt", true), Ok(()));
        assert_eq!(checked("cpu", false), Ok(()));
        for (pmu, name) in [
            ("intel_bts", "Intel BTS"),
            ("cs_etm", "CoreSight"),
            ("arm_spe_0", "SPE"),
            ("hisi_ptt0_2", "hisi_ptt0_2"),
        ] {
            let refusal = checked(pmu, true).unwrap_err();
            let says = format!("does not record {name} yet; perf record -e trace//u does");
            assert!(refusal.contains(&says), "{refusal}");
        }
    }

    #[test]
    fn a_trace_that_is_not_there_has_words_and_other_names_have_none() {
        let pmus = MemoryPmus::new().pmu("software", 1);
        let tracepoints = MemoryTracepoints::default();
        let catalogue = Catalogue::new(&pmus, &tracepoints);
        let words = |text: &str| {
            let resolved = parse(text).and_then(|list| resolve(&list, &catalogue));
            missing(&resolved.unwrap_err())
        };
        assert!(words("cpu-clock,intel_pt/tsc/u").is_some());
        assert!(words("{cs_etm/@tmc_etr0/u,cpu-clock}").is_some());
        assert!(words("arm_spe_0//").is_some());
        assert_eq!(words("nosuch//"), None);
        assert_eq!(words("cpu-clock/nosuch/"), None);
    }
}
