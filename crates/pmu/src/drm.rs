//! Graphics devices as PMUs: `drm_i915` with the events `drm-engine-render` and `drm-total-system0`, which are the keys
//! that the kernel has in `/proc/PID/fdinfo` for whoever uses the device.
//!
//! The kernel counts none of them: whoever counts reads [`DrmPmus::value`].

mod fdinfo;
mod listing;

use crate::PmuSource;
use crate::sysfs::with_descriptions;
use fdinfo::{DrmFile, Usage};
use oxperf_abi::{EventAttr, EventType, Pid};
use std::cell::OnceCell;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The number of the PMU of the first driver.
const FIRST_KIND: u32 = 0xfffe_0000;
/// Drivers beyond this have no number of a PMU left.
const MOST: usize = 0x1_0000;
/// The beginning of the names of these PMUs.
const PREFIX: &str = "drm_";
/// The folder of graphics devices, to which open files lead.
const DEVICES: &str = "/dev/dri/";
/// The folder that the kernel has where there are graphics devices.
const GRAPHICS: &str = "/sys/class/drm";

/// The graphics devices that tasks use, a PMU for each driver. What a driver counts is what the first of its files says.
#[derive(Clone, Debug)]
pub struct DrmPmus {
    proc: PathBuf,
    /// One file of each driver, found when the first name is asked for.
    drivers: OnceCell<Vec<DrmFile>>,
}

impl DrmPmus {
    /// The devices that tasks of this machine use; nothing is read yet.
    pub fn of_machine() -> DrmPmus {
        let devices = DrmPmus::below(Path::new("/proc"));
        // Without a graphics device no file leads to one, and the files of all tasks need not be looked at.
        if !Path::new(GRAPHICS).exists() {
            devices.drivers.get_or_init(Vec::new);
        }
        devices
    }

    /// The devices that tasks of a tree of procfs use; nothing is read yet.
    pub fn below(proc: &Path) -> DrmPmus {
        DrmPmus {
            proc: proc.to_owned(),
            drivers: OnceCell::new(),
        }
    }

    /// Returns whether an attribute stands for a graphics device.
    pub fn has(attr: &EventAttr) -> bool {
        let driver = attr.kind.0.checked_sub(FIRST_KIND);
        driver.is_some_and(|driver| (driver as usize) < MOST)
    }

    /// Returns whether the value of an event grows for as long as the device is used, and is no state of it.
    pub fn grows(&self, attr: &EventAttr) -> bool {
        let usage = self.usage(attr);
        usage.is_some_and(|(_, usage)| usage.quantity.grows())
    }

    /// The driver and the key that an attribute stands for.
    fn usage(&self, attr: &EventAttr) -> Option<(&DrmFile, &Usage)> {
        let driver = attr.kind.0.checked_sub(FIRST_KIND)?;
        let driver = self.drivers().get(usize::try_from(driver).ok()?)?;
        let usage = driver.usages.get(usize::try_from(attr.config).ok()?)?;
        Some((driver, usage))
    }

    /// The value of an event now, of one process or of all together; a file that several share counts once. `None` if
    /// the event is none of these PMUs.
    pub fn value(&self, attr: &EventAttr, process: Option<Pid>) -> Option<u64> {
        let (driver, event) = self.usage(attr)?;
        let processes = process.map_or_else(|| self.processes(), |pid| vec![pid.0]);
        let mut seen = HashSet::new();
        let files = processes.into_iter().flat_map(|pid| self.files(pid));
        let values = files
            .filter(|file| file.driver == driver.driver)
            .filter(|file| file.client.is_none() || seen.insert(file.client.clone()))
            .filter_map(|file| file.value(&event.name));
        Some(values.fold(0, u64::saturating_add))
    }

    fn drivers(&self) -> &[DrmFile] {
        self.drivers.get_or_init(|| {
            let mut drivers: Vec<DrmFile> = Vec::new();
            for file in self.processes().into_iter().flat_map(|pid| self.files(pid)) {
                let is_known = drivers.iter().any(|known| known.driver == file.driver);
                if !is_known && drivers.len() < MOST {
                    drivers.push(file);
                }
            }
            drivers
        })
    }

    fn driver(&self, pmu: &str) -> Option<(usize, &DrmFile)> {
        let driver = pmu.strip_prefix(PREFIX)?;
        let mut drivers = self.drivers().iter().enumerate();
        drivers.find(|(_, file)| file.driver == driver)
    }

    fn processes(&self) -> Vec<i32> {
        numbers_in(&self.proc)
    }

    /// The open files of a process that lead to graphics devices.
    fn files(&self, process: i32) -> impl Iterator<Item = DrmFile> + use<> {
        let folder = self.proc.join(process.to_string());
        let descriptors = numbers_in(&folder.join("fd"));
        descriptors.into_iter().filter_map(move |descriptor| {
            let target = fs::read_link(folder.join(format!("fd/{descriptor}"))).ok()?;
            // Few files are devices; the others are not opened.
            target.to_str().filter(|path| path.starts_with(DEVICES))?;
            let info = folder.join(format!("fdinfo/{descriptor}"));
            DrmFile::parse(&fs::read_to_string(info).ok()?)
        })
    }
}

fn pmu_name(driver: &DrmFile) -> String {
    format!("{PREFIX}{}", driver.driver)
}

/// The number of the PMU of a driver, by its place among all.
fn kind(index: usize) -> EventType {
    let index = u32::try_from(index).unwrap_or(u32::MAX);
    EventType(FIRST_KIND.saturating_add(index))
}

/// The entries of a folder that are numbers, in their order; none of a folder that cannot be read, as that of a process
/// that ended or is another user's.
fn numbers_in(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let mut numbers: Vec<i32> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

impl PmuSource for DrmPmus {
    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.drivers().iter().map(pmu_name).collect())
    }

    fn read(&self, pmu: &str, file: &str) -> Option<String> {
        let (index, driver) = self.driver(pmu)?;
        if file == "type" {
            return Some(kind(index).0.to_string());
        }
        let event = file.strip_prefix("events/")?;
        let mut usages = driver.usages.iter().enumerate();
        usages.find_map(|(config, usage)| match event.strip_prefix(&usage.name)? {
            "" => Some(format!("config={config:#x}")),
            ".unit" => Some(usage.quantity.unit.to_owned()),
            ".scale" => Some("1".to_owned()),
            _ => None,
        })
    }

    fn list(&self, pmu: &str, folder: &str) -> Vec<String> {
        let driver = self.driver(pmu).filter(|_| folder == "events");
        let usages = driver.map_or(&[][..], |(_, driver)| &driver.usages);
        let names = usages.iter().map(|usage| usage.name.clone());
        names.flat_map(with_descriptions).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalogue, MemoryPmus, MemoryTracepoints, ResolvedEvent, parse, resolve};
    use std::os::unix::fs::symlink;

    /// A machine on which two processes use two devices; perf 7.2 was shown the same.
    pub(super) fn machine(name: &str) -> PathBuf {
        let proc = std::env::temp_dir().join(format!("oxperf-{name}-{}", std::process::id()));
        let usage =
            "drm-total-system0:\t5 KiB\ndrm-engine-render:\t1000 ns\ndrm-maxfreq-render:\t3 MHz\n";
        let files = [
            ("100", "3", "/dev/dri/card0", "i915", "7"),
            ("100", "4", "/dev/dri/renderD128", "xe", "1"),
            ("100", "9", "/dev/dri/card0", "i915", "7"),
            ("101", "7", "/dev/dri/card0", "i915", "8"),
            ("102", "1", "/dev/null", "none", "1"),
        ];
        for (pid, descriptor, device, driver, client) in files {
            let process = proc.join(pid);
            fs::create_dir_all(process.join("fd")).unwrap();
            fs::create_dir_all(process.join("fdinfo")).unwrap();
            symlink(device, process.join("fd").join(descriptor)).unwrap();
            let text = format!("pos:\t0\ndrm-driver:\t{driver}\ndrm-client-id:\t{client}\n{usage}");
            fs::write(process.join("fdinfo").join(descriptor), text).unwrap();
        }
        fs::create_dir_all(proc.join("sys")).unwrap();
        proc
    }

    fn found(devices: &DrmPmus, text: &str) -> Vec<ResolvedEvent> {
        let (pmus, tracepoints) = (MemoryPmus::new(), MemoryTracepoints::default());
        let catalogue = Catalogue::new(&pmus, &tracepoints).with(devices);
        resolve(&parse(text).unwrap(), &catalogue).unwrap_or_default()
    }

    #[test]
    fn devices_in_use_have_events() {
        let proc = machine("drm");
        let devices = DrmPmus::below(&proc);
        assert_eq!(devices.names().unwrap(), ["drm_i915", "drm_xe"]);
        let both = found(&devices, "drm-engine-render");
        let read = both
            .iter()
            .map(|event| (&*event.pmu, event.attr.kind.0, event.attr.config));
        assert_eq!(
            read.collect::<Vec<_>>(),
            [("drm_i915", 0xfffe_0000, 1), ("drm_xe", 0xfffe_0001, 1)]
        );
        assert!(both.iter().all(|event| !event.is_counted_by_kernel()));
        let [memory] = &*found(&devices, "drm_xe/drm-total-system0/") else {
            panic!("one event");
        };
        assert_eq!(
            (memory.unit.as_deref(), memory.scale),
            (Some("bytes"), Some(1.0))
        );
        for text in [
            "drm-memory-vram",
            "drm_none/drm-engine-render/",
            "drm-engine",
        ] {
            assert!(found(&devices, text).is_empty(), "{text}");
        }
        fs::remove_dir_all(proc).unwrap();
    }

    #[test]
    fn files_that_are_shared_count_once() {
        let proc = machine("drm-values");
        let devices = DrmPmus::below(&proc);
        let render = &found(&devices, "drm_i915/drm-engine-render/")[0].attr;
        assert_eq!(devices.value(render, None), Some(2000));
        assert_eq!(devices.value(render, Some(Pid(101))), Some(1000));
        assert_eq!(devices.value(render, Some(Pid(102))), Some(0));
        assert_eq!(devices.value(&EventAttr::default(), None), None);
        fs::remove_dir_all(proc).unwrap();
    }
}
