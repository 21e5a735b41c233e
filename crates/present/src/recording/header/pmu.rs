//! Lines about the PMUs.

use oxperf_data::features::{Capability, CpuPmuCaps, PmuCaps, PmuMappings};

use super::{Lines, Page};
use crate::text::sanitize;

const IBS_HINT: &str = "AMD systems uses ibs_op// PMU for some precise events, e.g.: cycles:p, \
    see the 'perf list' man page for further details.";

impl Page<'_> {
    pub(super) fn pmu_mappings(&mut self) -> Lines {
        let pmus = self.get::<PmuMappings>()?.0;
        if pmus.is_empty() {
            self.line("pmu mappings: not available");
            return Ok(());
        }
        let pmus: Vec<_> = pmus
            .iter()
            .map(|pmu| format!("{} = {}", sanitize(&pmu.name), pmu.kind.0))
            .collect();
        self.line(format_args!("pmu mappings: {}", pmus.join(", ")));
        Ok(())
    }

    pub(super) fn cpu_pmu_caps(&mut self) -> Lines {
        let caps = self.get::<CpuPmuCaps>()?.0;
        self.capabilities("cpu", &caps);
        Ok(())
    }

    pub(super) fn pmu_caps(&mut self) -> Lines {
        for entry in self.get::<PmuCaps>()?.0 {
            self.capabilities(&entry.pmu, &entry.caps);
        }
        if self.samples_precisely_by_ibs() {
            self.line(IBS_HINT);
        }
        Ok(())
    }

    /// AMD's cores have no precise events of their own, but a PMU beside them can have.
    fn samples_precisely_by_ibs(&self) -> bool {
        let pmus = self.get::<PmuMappings>().unwrap_or_default().0;
        let caps = self.get::<CpuPmuCaps>().unwrap_or_default().0;
        let imprecise = caps
            .iter()
            .any(|cap| cap.name == "max_precise" && cap.value == "0");
        imprecise && pmus.iter().any(|pmu| pmu.name == "ibs_op")
    }

    fn capabilities(&mut self, pmu: &str, caps: &[Capability]) {
        let caps: Vec<_> = caps
            .iter()
            .map(|cap| format!("{}={}", cap.name, cap.value))
            .collect();
        let caps = if caps.is_empty() {
            "not available".to_owned()
        } else {
            caps.join(", ")
        };
        self.line(format_args!(
            "{} pmu capabilities: {}",
            sanitize(pmu),
            sanitize(&caps)
        ));
    }
}
