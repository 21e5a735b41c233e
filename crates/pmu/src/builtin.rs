//! The event that is recorded when nobody names one.

use crate::{Catalogue, ResolvedEvent, SyntaxError, parse, resolve};

/// perf's default selection: cycles as precisely as possible on every core PMU; user mode alone when the kernel
/// may not be measured (`perf_event_paranoid` above 1 without the right to ignore it).
///
/// # Errors
/// None in practice: the name is known everywhere.
pub fn default_events(
    catalogue: &Catalogue<'_>,
    user_only: bool,
) -> Result<Vec<ResolvedEvent>, SyntaxError> {
    resolve(
        &parse(if user_only { "cycles:Pu" } else { "cycles:P" })?,
        catalogue,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MemoryPmus, MemoryTracepoints};
    use oxperf_abi::{AttrFlags, EventType};

    #[test]
    fn cycles_even_where_no_cpu_pmu_is_listed() {
        let (pmus, tracepoints) = (MemoryPmus::new(), MemoryTracepoints::default());
        let catalogue = Catalogue::new(&pmus, &tracepoints);
        let events = default_events(&catalogue, false).unwrap();
        assert_eq!(
            (events[0].name.as_str(), events[0].attr.kind),
            ("cycles:P", EventType::HARDWARE)
        );
        assert!(events[0].max_precise && events.len() == 1);
        let events = default_events(&catalogue, true).unwrap();
        assert_eq!(events[0].name, "cycles:Pu");
        assert!(events[0].attr.flags.contains(AttrFlags::EXCLUDE_KERNEL));
    }
}
