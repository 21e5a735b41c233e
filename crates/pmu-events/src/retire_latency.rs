//! Latencies of retirement that vendors publish: how many cycles it took to retire the instructions of an event where it was
//! measured.

/// A row an event: CPUs, name, least, mean, greatest.
static PUBLISHED: &str = include_str!("builtin/retire_latencies.tsv");

/// A latency of retirement in cycles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RetireLatency {
    /// The least that was measured.
    pub least: u64,
    /// The mean.
    pub mean: f64,
    /// The greatest.
    pub greatest: u64,
}

impl RetireLatency {
    /// What is published for an event of a CPU; names are compared without regard to case.
    pub fn published(cpu_id: &str, event: &str) -> Option<RetireLatency> {
        let mut rows = PUBLISHED.lines().filter(|line| !line.starts_with('#'));
        rows.find_map(|row| {
            let fields: Vec<&str> = row.split('\t').collect();
            let [cpus, name, least, mean, greatest] = fields[..] else {
                return None;
            };
            let is_meant = name.eq_ignore_ascii_case(event) && has_cpu(cpus, cpu_id);
            is_meant.then_some(RetireLatency {
                least: least.parse().ok()?,
                mean: mean.parse().ok()?,
                greatest: greatest.parse().ok()?,
            })
        })
    }
}

/// Returns whether a list of models has the model of a CPU, whatever its stepping.
fn has_cpu(models: &str, cpu_id: &str) -> bool {
    let is_own = |model: &str| {
        let rest = cpu_id.strip_prefix(model);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    models.split(',').any(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_are_found_by_model_and_name() {
        let published = |cpu, event| RetireLatency::published(cpu, event).map(|own| own.mean);
        let name = "MEM_LOAD_L3_HIT_RETIRED.XSNP_NO_FWD";
        assert_eq!(published("GenuineIntel-6-AD-1", name), Some(289.9));
        assert_eq!(published("GenuineIntel-6-AE", name), Some(289.9));
        assert_eq!(published("GenuineIntel-6-A", name), None);
        assert_eq!(published("GenuineIntel-6-ADF-1", name), None);
        assert_eq!(published("GenuineIntel-6-AD-1", "cycles"), None);
    }

    #[test]
    fn every_row_can_be_read() {
        for row in PUBLISHED.lines().filter(|line| !line.starts_with('#')) {
            let mut fields = row.split('\t');
            let (cpus, event) = (fields.next().unwrap(), fields.next().unwrap());
            let cpu = cpus.split(',').next().unwrap();
            let latency = RetireLatency::published(cpu, event).unwrap();
            let mean = latency.mean;
            assert!(
                latency.least as f64 <= mean && mean <= latency.greatest as f64,
                "{row}"
            );
        }
    }
}
