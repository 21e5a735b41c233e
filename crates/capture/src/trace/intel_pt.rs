//! The PMU of Intel PT: the bits of its events, what this CPU can do, and from both the `config` of an event.

use std::path::PathBuf;

use oxperf_pmu::{BitRanges, ConfigWord};
use oxperf_sys::Sysfs;

use super::TraceError;

/// The PMU's name.
pub(crate) const NAME: &str = "intel_pt";
/// Bytes of trace between two PSB packets with `psb_period=0`, as a power of two.
const SHORTEST_PSB_PERIOD: u32 = 11;
/// Bytes between two PSB packets on CPUs whose buffers have one region: there the kernel begins a trace anew with each.
const PSB_PERIOD_OF_ONE_REGION: u64 = 256;
/// The period of MTC and PSB packets that is used where a user names none: the highest possible one up to it.
const USUAL_PERIOD: u32 = 3;

/// The folder that describes the PMU.
#[derive(Clone, Debug)]
pub(crate) struct IntelPt {
    folder: PathBuf,
    /// How KVM traces: `/sys/module/kvm_intel/parameters/pt_mode`.
    guest_mode: PathBuf,
}

/// A term whose values the CPU limits.
struct LimitedTerm {
    name: &'static str,
    /// The capability that lists its values, a bit each.
    values: &'static str,
    /// The capability without which there is no such term.
    needs: &'static str,
}

const LIMITED: [LimitedTerm; 3] = [
    LimitedTerm {
        name: "cyc_thresh",
        values: "cycle_thresholds",
        needs: "psb_cyc",
    },
    LimitedTerm {
        name: "mtc_period",
        values: "mtc_periods",
        needs: "mtc",
    },
    LimitedTerm {
        name: "psb_period",
        values: "psb_periods",
        needs: "psb_cyc",
    },
];

/// Terms that have no limited values, with the capability without which the kernel refuses them.
const NEEDS: [(&str, &str); 7] = [
    ("ptw", "ptwrite"),
    ("fup_on_ptw", "ptwrite"),
    ("pwr_evt", "power_event_trace"),
    ("event", "event_trace"),
    ("notnt", "tnt_disable"),
    ("cyc", "psb_cyc"),
    ("mtc", "mtc"),
];

/// The terms of the PMU that this CPU does not have, with their bits of `config`; of a PMU that is no Intel PT none.
pub(crate) fn missing_terms(sysfs: &Sysfs, pmu: &str) -> Vec<(&'static str, u64)> {
    if pmu != NAME {
        return Vec::new();
    }
    let pmu = IntelPt::of(sysfs);
    let limited = LIMITED.iter().map(|term| (term.name, term.needs));
    let terms = NEEDS.into_iter().chain(limited);
    terms
        .filter(|(_, needs)| pmu.capability(needs) == 0)
        .map(|(term, _)| (term, pmu.bits(term)))
        .filter(|(_, bits)| *bits != 0)
        .collect()
}

/// A term with its value.
type Setting = (&'static str, u64);

/// The `config` of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PtConfig {
    pub(crate) config: u64,
    /// The user left out the trace itself, which nobody can mean: it is there nevertheless.
    pub(crate) forced: bool,
}

impl IntelPt {
    /// The PMU that `sysfs` describes.
    pub(crate) fn of(sysfs: &Sysfs) -> IntelPt {
        IntelPt {
            folder: sysfs.path("bus/event_source/devices").join(NAME),
            guest_mode: sysfs.path("module/kvm_intel/parameters/pt_mode"),
        }
    }

    fn text(&self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.folder.join(name)).ok()?;
        Some(text.trim().to_owned())
    }

    /// The bits of `config` that a term fills; `None` where the PMU has no such term.
    fn format(&self, term: &str) -> Option<BitRanges> {
        let text = self.text(&format!("format/{term}"))?;
        BitRanges::parse(&text).filter(|ranges| ranges.word == ConfigWord::Config)
    }

    /// As one number; 0 where there is no such term.
    pub(crate) fn bits(&self, term: &str) -> u64 {
        self.format(term).map_or(0, |ranges| ranges.bits())
    }

    /// A capability; 0 where the PMU does not tell.
    pub(crate) fn capability(&self, name: &str) -> u64 {
        let text = self.text(&format!("caps/{name}"));
        let value = text.and_then(|text| u64::from_str_radix(&text, 16).ok());
        value.unwrap_or(0)
    }

    /// A decimal number of the PMU's folder; 0 where there is none.
    pub(crate) fn number(&self, name: &str) -> u64 {
        self.text(name)
            .and_then(|text| text.parse().ok())
            .unwrap_or(0)
    }

    /// Returns whether KVM gives guests a trace of their own: then that of the host leaves guests out.
    pub(crate) fn leaves_guests_out(&self) -> bool {
        std::fs::read_to_string(&self.guest_mode).is_ok_and(|mode| mode.trim() == "1")
    }

    /// The terms that an event has beside those that its user names.
    pub(crate) fn default_terms(&self) -> Vec<Setting> {
        let mut terms = vec![("tsc", 1)];
        let periods = self.capability("mtc_periods");
        if self.capability("mtc") != 0 {
            terms.push(("mtc", 1));
            terms.extend(usual(periods).map(|period| ("mtc_period", period)));
        }
        if self.capability("psb_cyc") != 0 && periods != 0 {
            let period = usual(self.capability("psb_periods"));
            terms.extend(period.map(|period| ("psb_period", period)));
        }
        if self.bits("pt") != 0 && self.bits("branch") != 0 {
            terms.extend([("pt", 1), ("branch", 1)]);
        }
        terms
    }

    /// The complete `config` of an event, in whose `config` the user named the bits `named`. A trace of which little is kept
    /// has its PSB packets as close together as can be.
    ///
    /// # Errors
    /// A value that this CPU does not have.
    pub(crate) fn complete(
        &self,
        config: u64,
        named: u64,
        keeps_little: bool,
    ) -> Result<PtConfig, TraceError> {
        let mut config = config;
        for (term, value) in self.default_terms() {
            let value = match term {
                "psb_period" if keeps_little => 0,
                _ => value,
            };
            let ranges = self.format(term);
            if let Some(ranges) = ranges.filter(|ranges| named & ranges.bits() == 0) {
                config = config & !ranges.bits() | ranges.pack(value).unwrap_or(0);
            }
        }
        LIMITED
            .iter()
            .try_for_each(|term| self.check(term, config))?;
        let pass_through = self.bits("pt");
        let forced = pass_through != 0 && config & pass_through == 0;
        Ok(PtConfig {
            config: config | pass_through,
            forced,
        })
    }

    fn check(&self, term: &LimitedTerm, config: u64) -> Result<(), TraceError> {
        let Some(ranges) = self.format(term.name) else {
            return Ok(());
        };
        let value = ranges.unpack(config);
        let listed = match self.capability(term.needs) {
            0 => 0,
            _ => self.capability(term.values),
        };
        let valid = listed | 1;
        if valid.checked_shr(value as u32).unwrap_or(0) & 1 == 1 {
            return Ok(());
        }
        Err(TraceError::Term {
            term: term.name,
            valid: list_of_bits(valid),
        })
    }

    /// Bytes of trace between two PSB packets of an event.
    pub(crate) fn psb_bytes(&self, config: u64) -> u64 {
        if self.capability("topa_multiple_entries") == 0 {
            return PSB_PERIOD_OF_ONE_REGION;
        }
        let ranges = self.format("psb_period");
        let period = ranges.map_or(0, |ranges| ranges.unpack(config));
        1 << (period as u32 & 31).saturating_add(SHORTEST_PSB_PERIOD)
    }
}

/// The highest value up to the usual period that a list of bits has, else the lowest one.
fn usual(values: u64) -> Option<u64> {
    if values == 0 {
        return None;
    }
    let up_to = values & ((2 << USUAL_PERIOD) - 1);
    Some(u64::from(match up_to {
        0 => values.trailing_zeros(),
        up_to => up_to.ilog2(),
    }))
}

/// The bits that are set, as a list: more than two in a row as a range.
fn list_of_bits(bits: u64) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == bit => *last = bit,
            _ => runs.push((bit, bit)),
        }
    }
    let text = |&(first, last): &(u32, u32)| match last - first {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    };
    runs.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::testing::{BROADWELL, FakeSysfs, SKYLAKE};

    fn config(machine: &[(&str, &str)], config: u64, named: u64) -> Result<PtConfig, TraceError> {
        let fake = FakeSysfs::new(machine);
        IntelPt::of(&fake.sysfs()).complete(config, named, false)
    }

    fn plain(config: u64) -> PtConfig {
        PtConfig {
            config,
            forced: false,
        }
    }

    #[test]
    fn what_a_user_leaves_out_has_a_default() {
        assert_eq!(config(SKYLAKE, 0, 0).unwrap(), plain(0x300_e601));
        assert_eq!(config(SKYLAKE, 1 << 9, 1 << 9).unwrap(), plain(0x300_e601));
        assert_eq!(config(SKYLAKE, 0, 1 << 13).unwrap(), plain(0x300_c601));
        assert_eq!(
            config(SKYLAKE, 9 << 14, 0xf << 14).unwrap(),
            plain(0x302_6601)
        );
        assert_eq!(config(BROADWELL, 0, 0).unwrap(), plain(0x400));
        // A whole word leaves no bit out.
        assert_eq!(config(SKYLAKE, 0x401, u64::MAX).unwrap(), plain(0x401));
    }

    #[test]
    fn a_trace_without_trace_is_one_nevertheless() {
        let given = config(SKYLAKE, 0x400, u64::MAX).unwrap();
        assert_eq!((given.config, given.forced), (0x401, true));
        assert!(!config(BROADWELL, 0x400, u64::MAX).unwrap().forced);
    }

    #[test]
    fn values_are_those_of_the_cpu() {
        let refused = |term, value: u64, at: u32| {
            let error = config(SKYLAKE, value << at, 0xf << at).unwrap_err();
            assert!(error.to_string().starts_with(term), "{error}");
            error.to_string()
        };
        let text = refused("Invalid psb_period", 15, 24);
        assert_eq!(
            text,
            "Invalid psb_period for intel_pt. Valid values are: 0-5"
        );
        assert!(refused("Invalid mtc_period", 4, 14).ends_with(": 0,3,6,9"));
        assert!(refused("Invalid cyc_thresh", 14, 19).ends_with(": 0-13"));
        assert_eq!(list_of_bits(0b11_0111_0011), "0,1,4-6,8,9");
    }

    #[test]
    fn psb_packets_are_close_where_little_is_kept() {
        let fake = FakeSysfs::new(SKYLAKE);
        let pmu = IntelPt::of(&fake.sysfs());
        let little = pmu.complete(0, 0, true).unwrap();
        assert_eq!(
            (little.config, pmu.psb_bytes(little.config)),
            (0xe601, 2048)
        );
        let named = pmu.complete(3 << 24, 0xf << 24, true).unwrap();
        assert_eq!(
            (named.config, pmu.psb_bytes(named.config)),
            (0x300_e601, 16384)
        );
        let old = FakeSysfs::new(BROADWELL);
        assert_eq!(IntelPt::of(&old.sysfs()).psb_bytes(0), 256);
    }

    #[test]
    fn terms_that_a_cpu_lacks_are_known() {
        let mut files = SKYLAKE.to_vec();
        files.push(("format/ptw", "config:12"));
        let fake = FakeSysfs::new(&files);
        assert_eq!(missing_terms(&fake.sysfs(), NAME), [("ptw", 1 << 12)]);
        assert_eq!(missing_terms(&fake.sysfs(), "cpu"), []);
    }
}
