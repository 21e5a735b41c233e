//! Lines about the PMUs.

use oxperf_data::features::{Capability, CpuPmuCaps, PmuCaps, PmuMappings};

use super::{Lines, Page};
use crate::visible::visible;

impl Page<'_> {
    pub(super) fn pmu_mappings(&mut self) -> Lines {
        let pmus = self.get::<PmuMappings>()?.0;
        if pmus.is_empty() {
            self.line("pmu mappings: not available");
            return Ok(());
        }
        let pmus: Vec<_> =
            pmus.iter().map(|pmu| format!("{} = {}", visible(&pmu.name), pmu.kind.0)).collect();
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
        Ok(())
    }

    fn capabilities(&mut self, pmu: &str, caps: &[Capability]) {
        let caps: Vec<_> = caps.iter().map(|cap| format!("{}={}", cap.name, cap.value)).collect();
        let caps = if caps.is_empty() { "not available".to_owned() } else { caps.join(", ") };
        self.line(format_args!("{} pmu capabilities: {}", visible(pmu), visible(&caps)));
    }
}
