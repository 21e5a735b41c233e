//! Generic events of the CPU by number: `legacy-hardware-config=` and `legacy-cache-config=`.

use super::value::{number_or_one, value_position};
use crate::SyntaxProblem;
use crate::catalogue::Pmu;
use crate::generic::is_cache_config;
use crate::syntax::Term;
use oxperf_abi::{EventType, HardwareId};

const HARDWARE: &str = "legacy-hardware-config";
const CACHE: &str = "legacy-cache-config";

/// Returns whether a term names a generic event by number.
pub(super) fn is_term(term: &Term<'_>) -> bool {
    [HARDWARE, CACHE].contains(&term.name)
}

/// Type and config of the generic event that such a term names, on the PMU of cores that is named before it.
pub(super) fn event(pmu: &Pmu<'_>, term: &Term<'_>) -> Result<(EventType, u64), SyntaxProblem> {
    if !pmu.is_core() {
        return Err(without_core_pmu(term));
    }
    let (kind, is_known): (_, fn(u64) -> bool) = if term.name == HARDWARE {
        (EventType::HARDWARE, is_hardware_config)
    } else {
        (EventType::HW_CACHE, is_cache_config)
    };
    let config = number_or_one(term)?;
    if is_known(config) {
        Ok((kind, pmu.upper_half() | config))
    } else {
        Err(SyntaxProblem::new(value_position(term), "too big"))
    }
}

/// The finding about such a term where no PMU of cores is named.
pub(super) fn without_core_pmu(term: &Term<'_>) -> SyntaxProblem {
    SyntaxProblem::new(value_position(term), "needs a core PMU")
}

fn is_hardware_config(config: u64) -> bool {
    HardwareId::ALL.iter().any(|id| *id as u64 == config)
}
