//! Sensors of the machine (`/sys/class/hwmon`) as PMUs: `hwmon_coretemp` with the events `temp1` and, by its label,
//! `temp_core_0`.
//!
//! The kernel counts none of them: whoever counts reads [`HwmonPmus::value`].

mod listing;

use crate::PmuSource;
use crate::sysfs::with_descriptions;
use oxperf_abi::EventAttr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The number of the PMU of `hwmon0`.
const FIRST_KIND: u32 = 0xffff_0000;
/// Sensors beyond this have no number of a PMU left.
const MOST: u32 = 0xfffd;
/// The end of the name of a file that holds a measured value.
const INPUT: &str = "_input";
/// The beginning of the names of these PMUs.
const PREFIX: &str = "hwmon_";

/// A kind of sensor: how its files begin, its number in an event's config, its unit and scale, and what lists say of it.
struct Quantity {
    name: &'static str,
    number: u64,
    unit: &'static str,
    scale: &'static str,
    brief: &'static str,
}

const QUANTITIES: [Quantity; 7] = [
    quantity("curr", 2, "A", "0.001", "Current"),
    quantity("energy", 3, "J", "1e-6", "Energy use"),
    quantity("fan", 4, "rpm", "1", "Fan speed"),
    quantity("humidity", 5, "%", "0.001", "Humidity"),
    quantity("in", 6, "V", "0.001", "Voltage"),
    quantity("power", 8, "W", "1e-6", "Power"),
    quantity("temp", 10, "'C", "0.001", "Temperature"),
];

const fn quantity(
    name: &'static str,
    number: u64,
    unit: &'static str,
    scale: &'static str,
    brief: &'static str,
) -> Quantity {
    Quantity {
        name,
        number,
        unit,
        scale,
        brief,
    }
}

/// One sensor of a device.
struct Sensor {
    quantity: &'static Quantity,
    number: u16,
    /// `Core 0`, if the device labels it.
    label: Option<String>,
}

impl Sensor {
    /// The sensor whose value a file holds: `temp1_input`.
    fn of_file(folder: &Path, file: &str) -> Option<Sensor> {
        let name = file.strip_suffix(INPUT)?;
        let quantity = QUANTITIES.iter().find(|quantity| {
            let number = name.strip_prefix(quantity.name);
            number.is_some_and(|number| number.parse::<u16>().is_ok())
        })?;
        let number = name.strip_prefix(quantity.name)?.parse().ok()?;
        let label = fs::read_to_string(folder.join(format!("{name}_label"))).ok();
        Some(Sensor {
            quantity,
            number,
            label: label.map(|label| label.trim().to_owned()),
        })
    }

    fn name(&self) -> String {
        format!("{}{}", self.quantity.name, self.number)
    }

    /// Its name by its label: `temp_core_0`.
    fn label_name(&self) -> Option<String> {
        let label = self.label.as_deref()?;
        Some(format!("{}_{}", self.quantity.name, as_name(label)))
    }

    fn config(&self) -> u64 {
        self.quantity.number << 16 | u64::from(self.number)
    }

    fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.label_name().as_deref() == Some(name)
    }
}

/// A label as a part of a name: `Package id 0` is `package_id_0`.
fn as_name(label: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
        _ => '_',
    };
    label.chars().map(letter).collect()
}

/// The sensors of a system, a PMU for each device.
#[derive(Clone, Debug)]
pub struct HwmonPmus {
    root: PathBuf,
}

impl HwmonPmus {
    /// The sensors of a tree of sysfs.
    pub fn below(sysfs: &Path) -> HwmonPmus {
        HwmonPmus {
            root: sysfs.join("class/hwmon"),
        }
    }

    /// Returns whether an attribute stands for a sensor.
    pub fn has(attr: &EventAttr) -> bool {
        number_of_device(attr).is_some()
    }

    /// The value of an event now, before its scale; `None` if no sensor of this system has it.
    ///
    /// # Errors
    /// The sensor cannot be read, or says what is no number.
    pub fn value(&self, attr: &EventAttr) -> io::Result<Option<i64>> {
        let Some(number) = number_of_device(attr) else {
            return Ok(None);
        };
        let folder = self.root.join(format!("hwmon{number}"));
        let mut sensors = sensors(&folder).into_iter();
        let Some(sensor) = sensors.find(|sensor| sensor.config() == attr.config) else {
            return Ok(None);
        };
        let text = fs::read_to_string(folder.join(sensor.name() + INPUT))?;
        let value = text.trim().parse();
        value
            .map(Some)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    }

    /// Numbers and names of the devices, in the order of their numbers.
    fn devices(&self) -> io::Result<Vec<(u32, String)>> {
        let number = |name: &str| name.strip_prefix("hwmon")?.parse::<u32>().ok();
        let entries = fs::read_dir(&self.root)?;
        let numbers = entries.filter_map(|entry| number(entry.ok()?.file_name().to_str()?));
        let named = numbers
            .filter(|number| *number <= MOST)
            .filter_map(|number| {
                let name = fs::read_to_string(self.folder(number).join("name")).ok()?;
                let name = name.trim();
                (!name.is_empty() && !name.contains('/'))
                    .then(|| (number, format!("{PREFIX}{name}")))
            });
        let mut devices: Vec<(u32, String)> = named.collect();
        devices.sort();
        Ok(devices)
    }

    fn folder(&self, number: u32) -> PathBuf {
        self.root.join(format!("hwmon{number}"))
    }

    /// The first device of a name.
    fn device(&self, pmu: &str) -> Option<u32> {
        let mut devices = self.devices().ok()?.into_iter();
        devices
            .find(|(_, name)| name == pmu)
            .map(|(number, _)| number)
    }

    fn sensors(&self, pmu: &str) -> Vec<Sensor> {
        let device = self.device(pmu);
        device.map_or_else(Vec::new, |number| sensors(&self.folder(number)))
    }
}

fn number_of_device(attr: &EventAttr) -> Option<u32> {
    let number = attr.kind.0.checked_sub(FIRST_KIND)?;
    (number <= MOST).then_some(number)
}

fn sensors(folder: &Path) -> Vec<Sensor> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let sensor = |name: &str| Sensor::of_file(folder, name);
    let found = entries.filter_map(|entry| sensor(entry.ok()?.file_name().to_str()?));
    let mut found: Vec<Sensor> = found.collect();
    found.sort_by_key(Sensor::config);
    found
}

impl PmuSource for HwmonPmus {
    fn names(&self) -> io::Result<Vec<String>> {
        let names = self.devices()?.into_iter().map(|(_, name)| name);
        let mut names: Vec<String> = names.collect();
        names.dedup();
        Ok(names)
    }

    fn read(&self, pmu: &str, file: &str) -> Option<String> {
        if file == "type" {
            return self
                .device(pmu)
                .map(|number| (FIRST_KIND + number).to_string());
        }
        let event = file.strip_prefix("events/")?;
        let (name, what) = event.split_once('.').unwrap_or((event, ""));
        let mut sensors = self.sensors(pmu).into_iter();
        let sensor = sensors.find(|sensor| sensor.is_called(name))?;
        match what {
            "" => Some(format!("config={:#x}", sensor.config())),
            "unit" => Some(sensor.quantity.unit.to_owned()),
            "scale" => Some(sensor.quantity.scale.to_owned()),
            _ => None,
        }
    }

    fn list(&self, pmu: &str, folder: &str) -> Vec<String> {
        if folder != "events" {
            return Vec::new();
        }
        let sensors = self.sensors(pmu).into_iter();
        let names = sensors.flat_map(|sensor| [Some(sensor.name()), sensor.label_name()]);
        names.flatten().flat_map(with_descriptions).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, MemoryPmus, MemoryTracepoints, ResolvedEvent, parse, resolve};

    /// A machine with two devices, as perf 7.2 was shown it.
    pub(super) fn machine(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("oxperf-{name}-{}", std::process::id()));
        let files = [
            ("hwmon0/name", "coretemp\n"),
            ("hwmon0/temp1_input", "45000\n"),
            ("hwmon0/temp1_label", "Package id 0\n"),
            ("hwmon0/temp1_max", "100000\n"),
            ("hwmon3/name", "my-board.x\n"),
            ("hwmon3/in0_input", "1050\n"),
            ("hwmon3/in0_label", "VCore\n"),
            ("hwmon3/curr1_input", "what\n"),
            ("hwmon3/pwm1", "120\n"),
            ("hwmon4/temp1_input", "nameless\n"),
        ];
        for (file, text) in files {
            let path = root.join("class/hwmon").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    fn found(sensors: &HwmonPmus, text: &str) -> Option<ResolvedEvent> {
        let (pmus, tracepoints) = (MemoryPmus::new(), MemoryTracepoints::default());
        let catalogue = Catalogue::new(&pmus, &tracepoints).with(sensors);
        resolve(&parse(text).unwrap(), &catalogue).ok()?.pop()
    }

    #[test]
    fn sensors_are_events() {
        let root = machine("hwmon");
        let sensors = HwmonPmus::below(&root);
        for (text, pmu, kind, config) in [
            ("temp1", "hwmon_coretemp", 0xffff_0000, 0xa0001),
            ("temp_package_id_0", "hwmon_coretemp", 0xffff_0000, 0xa0001),
            ("hwmon/temp1/", "hwmon_coretemp", 0xffff_0000, 0xa0001),
            ("hwmon_*/in0/", "hwmon_my-board.x", 0xffff_0003, 0x60000),
            ("in_vcore", "hwmon_my-board.x", 0xffff_0003, 0x60000),
        ] {
            let event = found(&sensors, text).unwrap();
            let read = (&*event.pmu, event.attr.kind.0, event.attr.config);
            assert_eq!(read, (pmu, kind, config), "{text}");
            assert!(!event.is_counted_by_kernel());
        }
        let event = found(&sensors, "temp1").unwrap();
        assert_eq!(
            (event.unit.as_deref(), event.scale),
            (Some("'C"), Some(0.001))
        );
        assert_eq!(sensors.value(&event.attr).unwrap(), Some(45000));
        let broken = found(&sensors, "curr1").unwrap();
        assert!(sensors.value(&broken.attr).is_err());
        for text in ["temp3", "pwm1", "hwmon_my_board_x/in0/"] {
            assert!(found(&sensors, text).is_none(), "{text}");
        }
        fs::remove_dir_all(root).unwrap();
    }
}
