//! The kernels of guests and their modules, from files that were copied out of the guests or are mounted from them.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use oxperf_abi::Pid;

use super::RecordSink;
use super::kernel::{KernelMap, KernelMapError, KernelSpace};
use super::modules::{self, ModuleFiles};
use crate::build_id;
use crate::options::GuestFiles;

/// Something of a guest that is not recorded: addresses in its kernel keep no names.
#[derive(Debug, thiserror::Error)]
pub enum GuestProblem {
    /// The folder with the roots of guests cannot be read.
    #[error("Cannot read kernel map: {}: {error}", folder.display())]
    Mounted {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// The symbols of a guest's kernel do not tell where it is.
    #[error("Couldn't record guest kernel [{guest}]'s reference relocation symbol: {error}")]
    Kernel {
        /// The process that runs the guest, 0 for the guest that is meant where none is told.
        guest: Pid,
        /// The reason.
        error: KernelMapError,
    },
}

/// A guest with the files about its kernel.
struct Guest {
    pid: Pid,
    kallsyms: Option<PathBuf>,
    modules: Option<PathBuf>,
    /// Its root, where that is mounted.
    root: Option<PathBuf>,
}

/// Appends the kernel and the modules of each guest; gives what is missing.
pub(super) fn write(
    files: &GuestFiles,
    with_build_ids: bool,
    sink: &mut RecordSink,
) -> Vec<GuestProblem> {
    let (mut guests, mut problems) = (Vec::new(), Vec::new());
    guests.extend(meant_guest(files));
    match files.mounted.as_deref().map(mounted_guests) {
        Some(Ok(mounted)) => guests.extend(mounted),
        Some(Err(problem)) => problems.push(problem),
        None => {}
    }
    for guest in guests {
        problems.extend(guest.write(with_build_ids, sink));
    }
    problems
}

/// The guest that is meant where no process is told: there is one if there is a file about it.
fn meant_guest(files: &GuestFiles) -> Option<Guest> {
    let is_described =
        files.kallsyms.is_some() || files.modules.is_some() || files.vmlinux.is_some();
    is_described.then(|| Guest {
        pid: Pid(0),
        kallsyms: files.kallsyms.clone(),
        modules: files.modules.clone(),
        root: None,
    })
}

/// The guests whose roots are in a folder, by the processes that run them. One without a list of symbols is not described.
fn mounted_guests(folder: &Path) -> Result<Vec<Guest>, GuestProblem> {
    let unreadable = |error| GuestProblem::Mounted {
        folder: folder.to_owned(),
        error,
    };
    let names = fs::read_dir(folder).map_err(unreadable)?;
    let names = names.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut pids: Vec<i32> = names.filter_map(|name| process_number(&name)).collect();
    pids.sort_unstable();
    let guests = pids.into_iter().map(|pid| {
        let root = folder.join(pid.to_string());
        Guest {
            pid: Pid(pid),
            kallsyms: Some(root.join("proc/kallsyms")),
            modules: Some(root.join("proc/modules")),
            root: Some(root),
        }
    });
    let is_described = |guest: &Guest| guest.kallsyms.as_ref().is_some_and(|file| file.exists());
    Ok(guests.filter(is_described).collect())
}

/// The number of a process, as the kernel writes it: readers look for the folder by it.
fn process_number(name: &str) -> Option<i32> {
    let number: i32 = name.parse().ok()?;
    (number > 0 && number.to_string() == name).then_some(number)
}

impl Guest {
    /// Appends its modules, then its kernel.
    fn write(&self, with_build_ids: bool, sink: &mut RecordSink) -> Option<GuestProblem> {
        let space = KernelSpace::of_guest(self.pid, with_build_ids);
        let list = self.modules.as_ref().map(fs::read_to_string);
        if let Some(Ok(list)) = list {
            let files = self.root.as_deref().map(ModuleFiles::of_guest);
            let root = self.root.as_deref();
            modules::write_list(&list, &files.unwrap_or_default(), root, space, sink);
        }
        match self.kernel() {
            Ok(map) => {
                map.write(&self.kernel_name(), self.build_id(), space, sink);
                None
            }
            Err(error) => Some(GuestProblem::Kernel {
                guest: self.pid,
                error,
            }),
        }
    }

    fn kernel(&self) -> Result<KernelMap, KernelMapError> {
        let kallsyms = self.kallsyms.as_ref().ok_or(KernelMapError::NoReference)?;
        KernelMap::parse(&mut BufReader::new(File::open(kallsyms)?))
    }

    fn kernel_name(&self) -> String {
        match self.pid {
            Pid(0) => "[guest.kernel.kallsyms]".to_owned(),
            pid => format!("[guest.kernel.kallsyms.{pid}]"),
        }
    }

    fn build_id(&self) -> Option<oxperf_abi::BuildId> {
        let notes = fs::read(self.root.as_ref()?.join("sys/kernel/notes")).ok()?;
        build_id::in_notes(&notes)
    }
}

#[cfg(test)]
mod tests {
    use oxperf_abi::Misc;
    use oxperf_wire::kernel::Mmap;
    use oxperf_wire::{Cursor, Endian};

    use super::super::Trailer;
    use super::*;

    const KALLSYMS: &str = "ffffffff81000000 T _text\nffffffff82100000 D _edata\n";
    const MODULES: &str = "some_module 4096 0 - Live 0xffffffffc0000000\n";

    /// A folder of its own, with the files of a list.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("oxperf-guests-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    /// Mode, process, first address and name of a mapping.
    type Written = (u16, i32, u64, String);

    fn written(files: &GuestFiles) -> (Vec<Written>, Vec<String>) {
        let mut sink = RecordSink::new(Trailer::default());
        let problems = write(files, false, &mut sink);
        let (bytes, mut records) = (sink.into_bytes(), Vec::new());
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            let misc = u16::from_ne_bytes([rest[4], rest[5]]);
            let size = usize::from(u16::from_ne_bytes([rest[6], rest[7]]));
            let mut cursor = Cursor::new(&rest[8..size], Endian::NATIVE);
            let mmap = Mmap::decode(&mut cursor).unwrap();
            let name = String::from_utf8_lossy(mmap.filename).into_owned();
            records.push((Misc(misc).0, mmap.pid.0, mmap.start, name));
            rest = &rest[size..];
        }
        (records, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_guest_that_is_meant_has_number_0() {
        let folder = folder("meant", &[("k", KALLSYMS), ("m", MODULES)]);
        let files = GuestFiles {
            kallsyms: Some(folder.join("k")),
            modules: Some(folder.join("m")),
            ..GuestFiles::default()
        };
        let (records, problems) = written(&files);
        let kernel = "[guest.kernel.kallsyms]_text".to_owned();
        assert_eq!(
            records,
            [
                (4, 0, 0xffff_ffff_c000_0000, "[some_module]".to_owned()),
                (4, 0, 0xffff_ffff_8100_0000, kernel),
            ]
        );
        assert!(problems.is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn mounted_guests_go_by_their_processes() {
        let folder = folder(
            "mounted",
            &[
                ("4711/proc/kallsyms", KALLSYMS),
                ("4711/proc/modules", MODULES),
                ("4711/proc/version", "Linux version 6.1-g (x@y)\n"),
                (
                    "4711/lib/modules/6.1-g/modules.dep",
                    "kernel/some-module.ko:\n",
                ),
                ("90/proc/kallsyms", "0000000000000000 T _text\n"),
                ("91/proc/modules", MODULES),
                ("007/proc/kallsyms", KALLSYMS),
                ("other/proc/kallsyms", KALLSYMS),
            ],
        );
        let files = GuestFiles {
            mounted: Some(folder.clone()),
            ..GuestFiles::default()
        };
        let (records, problems) = written(&files);
        let module = folder.join("4711/lib/modules/6.1-g/kernel/some-module.ko");
        assert_eq!(records.len(), 2, "{records:?}");
        assert_eq!(
            (records[0].1, &*records[0].3),
            (4711, &*module.to_string_lossy())
        );
        assert_eq!(records[1].3, "[guest.kernel.kallsyms.4711]_text");
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].starts_with("Couldn't record guest kernel [90]'s"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn missing_files_are_told() {
        let files = GuestFiles {
            mounted: Some("/nonexistent/folder".into()),
            vmlinux: Some("/nonexistent/image".into()),
            ..GuestFiles::default()
        };
        let (records, problems) = written(&files);
        assert!(records.is_empty());
        assert!(problems[0].starts_with("Cannot read kernel map: /nonexistent/folder"));
        assert!(problems[1].starts_with("Couldn't record guest kernel [0]'s"));
    }
}
