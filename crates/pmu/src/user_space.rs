//! Events that this program reads itself, as lists show them.

use crate::PmuSource;
use oxperf_abi::EventType;

/// An event that no kernel counts: a sensor, a figure of a graphics driver.
#[derive(Clone, PartialEq, Debug)]
pub struct UserSpaceEvent {
    /// The name of its PMU.
    pub pmu: String,
    /// The number of its PMU.
    pub kind: EventType,
    /// perf's words for events of this source: `Hwmon event`.
    pub category: &'static str,
    /// The group that lists show it in.
    pub topic: &'static str,
    /// Its name.
    pub name: String,
    /// The same event by another name.
    pub alias: Option<String>,
    /// Factor and unit of its values.
    pub scale_unit: Option<(f64, String)>,
    /// Its terms: `config=0xa0001`.
    pub terms: String,
    /// A description of a line or two. Parts of it come from drivers and are not trusted.
    pub brief: String,
}

/// A source of PMUs whose events this program reads itself.
pub trait UserSpacePmus: PmuSource {
    /// The events of all of its PMUs, in any order.
    fn listed_events(&self) -> Vec<UserSpaceEvent>;
}
