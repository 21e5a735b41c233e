//! Folders that describe machines with Intel PT.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use oxperf_sys::Sysfs;

/// Files of the PMU's folder.
pub(crate) type PmuFiles<'a> = &'a [(&'a str, &'a str)];

/// A CPU that has every packet but PTWRITE.
pub(crate) const SKYLAKE: PmuFiles<'_> = &[
    ("type", "10"),
    ("format/pt", "config:0"),
    ("format/cyc", "config:1"),
    ("format/mtc", "config:9"),
    ("format/tsc", "config:10"),
    ("format/noretcomp", "config:11"),
    ("format/branch", "config:13"),
    ("format/mtc_period", "config:14-17"),
    ("format/cyc_thresh", "config:19-22"),
    ("format/psb_period", "config:24-27"),
    ("caps/mtc", "1"),
    ("caps/mtc_periods", "249"),
    ("caps/psb_cyc", "1"),
    ("caps/psb_periods", "3f"),
    ("caps/cycle_thresholds", "3fff"),
    ("caps/topa_multiple_entries", "1"),
    ("max_nonturbo_ratio", "40"),
];

/// The first CPU with a trace: none of the packets that tell time more finely.
pub(crate) const BROADWELL: PmuFiles<'_> = &[
    ("type", "8"),
    ("format/tsc", "config:10"),
    ("format/noretcomp", "config:11"),
    ("caps/mtc", "0"),
    ("caps/psb_cyc", "0"),
];

/// A folder that stands for `/sys`, removed at the end.
pub(crate) struct FakeSysfs {
    root: PathBuf,
}

impl FakeSysfs {
    pub(crate) fn new(files: PmuFiles<'_>) -> FakeSysfs {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("oxperf-pt-{}-{number}", std::process::id());
        let fake = FakeSysfs {
            root: std::env::temp_dir().join(name),
        };
        let pmu = fake.root.join("bus/event_source/devices/intel_pt");
        for (name, text) in files {
            let path = pmu.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }
        fake
    }

    pub(crate) fn sysfs(&self) -> Sysfs {
        Sysfs::at(&self.root)
    }
}

impl Drop for FakeSysfs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}
