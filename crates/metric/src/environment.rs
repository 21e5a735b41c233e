//! What an expression asks of the world around it: constants, events, counts.

use crate::MetricError;

/// The machine and the measurement that a metric is planned for.
pub trait MetricEnvironment {
    /// The value of `#name` (given without the `#`, in the case of the text); none for one that is not known here.
    fn constant(&self, name: &str) -> Option<f64>;

    /// Returns whether `event`, in the notation of expressions (`msr@tsc@`), exists here.
    fn has_event(&self, event: &str) -> bool;

    /// Returns whether the identity of the CPU matches `pattern`, as in `strcmp_cpuid_str(0x4[1-9])`.
    fn cpuid_matches(&self, pattern: &str) -> bool;
}

/// The counts that an expression is evaluated over.
pub trait EventCounts {
    /// The count of an event, or the value of a metric that is referred to; none without one.
    fn count(&self, id: &str) -> Option<f64>;

    /// The number of PMUs whose counts were added up for an event.
    fn sources(&self, id: &str) -> Option<f64> {
        self.count(id).map(|_| 1.0)
    }
}

impl<F: Fn(&str) -> Option<f64>> EventCounts for F {
    fn count(&self, id: &str) -> Option<f64> {
        self(id)
    }
}

/// The constants of expressions, as plain values. What is `None` is not known, and an expression that uses it is refused.
/// As an environment it has no events and no CPU identity.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct MachineConstants {
    /// `#num_cpus`: CPUs that are present.
    pub num_cpus: Option<u32>,
    /// `#num_cpus_online`.
    pub num_cpus_online: Option<u32>,
    /// `#num_cores`: distinct sets of hardware threads.
    pub num_cores: Option<u32>,
    /// `#num_dies`.
    pub num_dies: Option<u32>,
    /// `#num_packages`.
    pub num_packages: Option<u32>,
    /// `#smt_on`: whether cores run several hardware threads now.
    pub smt_on: bool,
    /// `#core_wide`: whether everything that runs on a core is counted.
    pub core_wide: bool,
    /// `#target_cpu`: whether CPUs are counted, and not tasks.
    pub target_cpu: bool,
    /// `#has_pmem`: whether there is persistent memory.
    pub has_pmem: bool,
    /// `#slots`: issue slots in a cycle, as the core PMU tells (Arm).
    pub slots: Option<u32>,
    /// `#system_tsc_freq`, in Hz.
    pub system_tsc_freq: Option<u64>,
}

impl MachineConstants {
    /// The names, in the order of the fields.
    pub const NAMES: [&'static str; 11] = [
        "num_cpus",
        "num_cpus_online",
        "num_cores",
        "num_dies",
        "num_packages",
        "smt_on",
        "core_wide",
        "target_cpu",
        "has_pmem",
        "slots",
        "system_tsc_freq",
    ];

    /// The value of a constant by its name without `#`, in any case.
    pub fn value(&self, name: &str) -> Option<f64> {
        match name.to_ascii_lowercase().as_str() {
            "num_cpus" => self.num_cpus.map(f64::from),
            "num_cpus_online" => self.num_cpus_online.map(f64::from),
            "num_cores" => self.num_cores.map(f64::from),
            "num_dies" => self.num_dies.map(f64::from),
            "num_packages" => self.num_packages.map(f64::from),
            "smt_on" => Some(f64::from(u8::from(self.smt_on))),
            "core_wide" => Some(f64::from(u8::from(self.core_wide))),
            "target_cpu" => Some(f64::from(u8::from(self.target_cpu))),
            "has_pmem" => Some(f64::from(u8::from(self.has_pmem))),
            "slots" => self.slots.map(f64::from),
            "system_tsc_freq" => self.system_tsc_freq.map(|hertz| hertz as f64),
            _ => None,
        }
    }
}

impl MetricEnvironment for MachineConstants {
    fn constant(&self, name: &str) -> Option<f64> {
        self.value(name)
    }

    fn has_event(&self, _event: &str) -> bool {
        false
    }

    fn cpuid_matches(&self, _pattern: &str) -> bool {
        false
    }
}

/// The value of a constant.
///
/// # Errors
/// It is not known.
pub(crate) fn constant(
    environment: &dyn MetricEnvironment,
    name: &str,
) -> Result<f64, MetricError> {
    let unknown = || MetricError::UnknownConstant(format!("#{name}"));
    environment.constant(name).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_known_in_any_case() {
        let machine = MachineConstants {
            num_cpus: Some(8),
            num_cpus_online: Some(4),
            num_cores: Some(2),
            num_dies: Some(3),
            num_packages: Some(1),
            smt_on: true,
            core_wide: true,
            target_cpu: true,
            has_pmem: true,
            slots: Some(8),
            system_tsc_freq: Some(2_000_000_000),
        };
        let values = MachineConstants::NAMES.map(|name| machine.value(&name.to_uppercase()));
        let expected = [8.0, 4.0, 2.0, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0, 8.0, 2e9];
        assert_eq!(values, expected.map(Some));
        assert_eq!(machine.value("num_moons"), None);
        assert_eq!(MachineConstants::default().value("slots"), None);
    }
}
