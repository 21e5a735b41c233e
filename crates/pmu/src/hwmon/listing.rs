//! Sensors as lists show them.

use super::{FIRST_KIND, HwmonPmus, PREFIX, Sensor, sensors};
use crate::{UserSpaceEvent, UserSpacePmus};
use oxperf_abi::EventType;
use std::fs;
use std::path::Path;

/// The ends of the names of files with limits and other values that a description gives, in its order.
const LIMITS: [&str; 8] = [
    "average",
    "cap",
    "crit",
    "emergency",
    "lcrit",
    "max",
    "min",
    "target",
];

impl UserSpacePmus for HwmonPmus {
    fn listed_events(&self) -> Vec<UserSpaceEvent> {
        let devices = self.devices().unwrap_or_default().into_iter();
        let events = devices.flat_map(|(number, pmu)| {
            let folder = self.folder(number);
            let kind = EventType(FIRST_KIND + number);
            let sensors = sensors(&folder).into_iter();
            sensors.map(move |sensor| listed(&folder, &pmu, kind, &sensor))
        });
        events.collect()
    }
}

fn listed(folder: &Path, pmu: &str, kind: EventType, sensor: &Sensor) -> UserSpaceEvent {
    let (name, alias) = match sensor.label_name() {
        Some(label) => (label, Some(sensor.name())),
        None => (sensor.name(), None),
    };
    UserSpaceEvent {
        pmu: pmu.to_owned(),
        kind,
        category: "Hwmon event",
        topic: "hwmon",
        name,
        alias,
        scale_unit: Some((scale(sensor), sensor.quantity.unit.to_owned())),
        terms: format!("config={:#x}", sensor.config()),
        brief: brief(folder, pmu, sensor),
    }
}

fn scale(sensor: &Sensor) -> f64 {
    sensor.quantity.scale.parse().unwrap_or(1.0)
}

/// `Temperature of coretemp: Core 0 (crit=100'C, max=100'C)`.
fn brief(folder: &Path, pmu: &str, sensor: &Sensor) -> String {
    let own_name = sensor.name();
    let label = sensor.label.as_deref().unwrap_or(&own_name);
    let device = pmu.strip_prefix(PREFIX).unwrap_or(pmu);
    let limits = LIMITS.iter().filter_map(|limit| {
        let value = value(folder, sensor, limit)?;
        Some(format!("{limit}={value}{}", sensor.quantity.unit))
    });
    let limits: Vec<String> = limits.collect();
    let brief = format!("{} of {device}: {label}", sensor.quantity.brief);
    match limits.is_empty() {
        true => brief,
        false => format!("{brief} ({})", limits.join(", ")),
    }
}

/// The value in a file beside that of the sensor, in its unit.
fn value(folder: &Path, sensor: &Sensor, what: &str) -> Option<f64> {
    let text = fs::read_to_string(folder.join(format!("{}_{what}", sensor.name()))).ok()?;
    let value: i64 = text.trim().parse().ok()?;
    // A division keeps decimal fractions short: 0.3, not 0.30000000000000004.
    Some(value as f64 / (1.0 / scale(sensor)).round())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hwmon::tests::machine;

    #[test]
    fn labels_come_before_names() {
        let root = machine("hwmon-list");
        let events = HwmonPmus::below(&root).listed_events();
        let shown = events.iter().map(|event| {
            let scale = event.scale_unit.as_ref().unwrap().0;
            (&*event.name, event.alias.as_deref(), scale, &*event.brief)
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                (
                    "temp_package_id_0",
                    Some("temp1"),
                    0.001,
                    "Temperature of coretemp: Package id 0 (max=100'C)"
                ),
                ("curr1", None, 0.001, "Current of my-board.x: curr1"),
                (
                    "in_vcore",
                    Some("in0"),
                    0.001,
                    "Voltage of my-board.x: VCore"
                ),
            ]
        );
        let first = &events[0];
        let read = (&*first.pmu, first.kind.0, &*first.terms);
        assert_eq!(read, ("hwmon_coretemp", 0xffff_0000, "config=0xa0001"));
        fs::remove_dir_all(root).unwrap();
    }
}
