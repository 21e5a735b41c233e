//! A metric as it is written down: texts, and how its events are grouped.

use std::borrow::Cow;

/// A metric, built in or from a table. Texts of tables are not trusted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MetricDefinition {
    /// Its name: `tma_frontend_bound`.
    pub name: Cow<'static, str>,
    /// The groups that it is in: `TopdownL1`, `Default`.
    pub groups: Vec<Cow<'static, str>>,
    /// What it says, in a phrase or a sentence.
    pub description: Option<Cow<'static, str>>,
    /// The expression.
    pub expression: Cow<'static, str>,
    /// An expression that is true where the value asks for attention.
    pub threshold: Option<Cow<'static, str>>,
    /// Factor and unit: `100%`, as [`MetricScale`](crate::MetricScale) reads it.
    pub scale_unit: Option<Cow<'static, str>>,
    /// The core PMU that it belongs to, on a machine with several: `cpu_atom`.
    pub pmu: Option<Cow<'static, str>>,
    /// How its events are grouped.
    pub grouping: EventGrouping,
    /// Asked for by one of these groups, its events are not grouped.
    pub ungrouped_in: Vec<Cow<'static, str>>,
    /// The heading under which `stat` shows it, with others, without being asked.
    pub default_group: Option<Cow<'static, str>>,
}

impl MetricDefinition {
    /// Returns whether `wanted` is the metric's name or one of its groups, in any case; `all` is every metric's.
    pub fn is_in(&self, wanted: &str) -> bool {
        wanted.eq_ignore_ascii_case("all")
            || self.name.eq_ignore_ascii_case(wanted)
            || contains(&self.groups, wanted)
    }

    /// Returns whether its events stay alone when `wanted` asks for it.
    pub(crate) fn is_ungrouped_in(&self, wanted: &str) -> bool {
        contains(&self.ungrouped_in, wanted)
    }
}

fn contains(list: &[Cow<'static, str>], wanted: &str) -> bool {
    list.iter().any(|name| name.eq_ignore_ascii_case(wanted))
}

/// Whether the events of a metric are opened as a group, which the kernel counts at the same time or not at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EventGrouping {
    /// As a group.
    #[default]
    Group,
    /// Never (`NO_GROUP_EVENTS`).
    Never,
    /// Not while the NMI watchdog takes a counter (`NO_GROUP_EVENTS_NMI`).
    NotBesideWatchdog,
    /// Not while cores run several hardware threads (`NO_GROUP_EVENTS_SMT`).
    NotWithSmt,
    /// Not with the events of the threshold while the NMI watchdog takes a counter (`NO_THRESHOLD_AND_NMI`).
    NotWithThresholdBesideWatchdog,
}

impl EventGrouping {
    /// The rule by its name in tables; none for a name that is not known.
    pub fn from_constraint(name: &str) -> Option<EventGrouping> {
        Some(match name {
            "NO_GROUP_EVENTS" => EventGrouping::Never,
            "NO_GROUP_EVENTS_NMI" => EventGrouping::NotBesideWatchdog,
            "NO_GROUP_EVENTS_SMT" => EventGrouping::NotWithSmt,
            "NO_THRESHOLD_AND_NMI" => EventGrouping::NotWithThresholdBesideWatchdog,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_groups_in_any_case() {
        let metric = MetricDefinition {
            name: "tma_retiring".into(),
            groups: vec!["TopdownL1".into(), "Default".into()],
            ungrouped_in: vec!["TopdownL1".into()],
            ..MetricDefinition::default()
        };
        assert!(
            ["TMA_retiring", "topdownl1", "default", "all"].map(|name| metric.is_in(name))
                == [true; 4]
        );
        assert!(!metric.is_in("Topdown") && !metric.is_in(""));
        assert!(metric.is_ungrouped_in("topdownL1") && !metric.is_ungrouped_in("Default"));
    }

    #[test]
    fn rules_of_tables() {
        let rule = EventGrouping::from_constraint;
        assert_eq!(rule("NO_GROUP_EVENTS_SMT"), Some(EventGrouping::NotWithSmt));
        assert_eq!(rule("no_group_events"), None);
    }
}
