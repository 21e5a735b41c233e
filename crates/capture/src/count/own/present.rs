//! What such a counter says now, for those who ask and do not count.

use oxperf_abi::EventAttr;
use oxperf_pmu::tool::ToolEvent;
use oxperf_pmu::{DrmPmus, HwmonPmus};
use oxperf_sys::Sysfs;

use super::OwnSources;

/// The value of an event that no kernel counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PresentValue {
    /// The value now, before its scale.
    Value(i128),
    /// It is a time, measured from the beginning of a measurement to its end.
    Measured,
    /// Nothing on this machine tells it.
    Unknown,
}

/// The value of an event now, for the whole machine; `None` for an event that the kernel counts.
pub fn present_value(attr: &EventAttr, sysfs: &Sysfs) -> Option<PresentValue> {
    let value = match ToolEvent::of(attr) {
        Some(ToolEvent::DurationTime | ToolEvent::UserTime | ToolEvent::SystemTime) => {
            return Some(PresentValue::Measured);
        }
        Some(event) => OwnSources::of_machine(sysfs).fact(event).map(i128::from),
        None if HwmonPmus::has(attr) => {
            let value = HwmonPmus::below(sysfs.root()).value(attr).ok().flatten();
            value.map(i128::from)
        }
        None if DrmPmus::has(attr) => DrmPmus::of_machine().value(attr, None).map(i128::from),
        None => return None,
    };
    Some(value.map_or(PresentValue::Unknown, PresentValue::Value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::EventType;
    use oxperf_pmu::tool::KIND;
    use std::fs;

    #[test]
    fn each_kind_of_event() {
        let root = std::env::temp_dir().join(format!("oxperf-present-{}", std::process::id()));
        let device = root.join("class/hwmon/hwmon0");
        fs::create_dir_all(&device).unwrap();
        for (file, text) in [("name", "x"), ("temp1_input", "-1500")] {
            fs::write(device.join(file), text).unwrap();
        }
        let sysfs = Sysfs::at(&root);
        let value = |kind, config| {
            let attr = EventAttr {
                kind,
                config,
                ..EventAttr::default()
            };
            present_value(&attr, &sysfs)
        };
        let sensors = EventType(0xffff_0000);
        assert_eq!(
            value(sensors, 0xa0001),
            Some(PresentValue::Value(-1500)),
            "a temperature"
        );
        assert_eq!(value(sensors, 0xa0002), Some(PresentValue::Unknown));
        let tool = |event| value(KIND, event as u64);
        assert_eq!(tool(ToolEvent::UserTime), Some(PresentValue::Measured));
        assert_eq!(tool(ToolEvent::TargetCpu), Some(PresentValue::Value(0)));
        assert_eq!(value(EventType::HARDWARE, 0), None);
        fs::remove_dir_all(root).unwrap();
    }
}
