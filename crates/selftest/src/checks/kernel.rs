//! The kernel's symbols, its build id, and the machine's CPUs.

use std::path::Path;

use oxperf_objects::{Contents, Elf, running_kernel_build_id};
use oxperf_symbols::{Demangling, kallsyms_table};
use oxperf_sys::{cpus, process};

use crate::trial::ensure;
use crate::{Shortfall, Trial};

fn kallsyms() -> Result<Vec<u8>, Shortfall> {
    std::fs::read("/proc/kallsyms")
        .map_err(|error| Shortfall::skip(format!("/proc/kallsyms: {error}")))
}

/// The kernel's symbols have addresses for this user.
pub(crate) fn addresses(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let table = kallsyms_table(&kallsyms()?, None, Demangling::Off);
    trial.note(format_args!("{} symbols", table.len()));
    let restricted = std::fs::read_to_string("/proc/sys/kernel/kptr_restrict");
    let restricted =
        restricted.map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned());
    ensure(
        table.len() > 1000,
        format!("the kernel hides its addresses: kptr_restrict is {restricted}"),
    )
}

/// The symbols of the kernel's image stand in the kernel's own list.
pub(crate) fn image_matches(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let release = process::system_name().map_err(Shortfall::failure)?.release;
    let release = release.to_string_lossy();
    let places = [
        format!("/usr/lib/debug/boot/vmlinux-{release}"),
        format!("/lib/modules/{release}/build/vmlinux"),
        format!("/boot/vmlinux-{release}"),
    ];
    let found = places.iter().find(|path| Path::new(path).is_file());
    let path = found.ok_or_else(|| Shortfall::skip("no vmlinux of the running kernel"))?;
    let contents = Contents::open(Path::new(path)).map_err(Shortfall::failure)?;
    let image = Elf::parse(&contents).map_err(Shortfall::failure)?;
    let table = image
        .section_of_kind(2)
        .ok_or_else(|| Shortfall::failure(format!("{path} has no symbols")))?;
    let listed = kallsyms()?;
    let listed: std::collections::HashSet<&[u8]> = listed
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(2))
        .collect();
    let (mut known, mut unknown) = (0usize, 0usize);
    for symbol in image.symbols(table) {
        if symbol.name.starts_with(b"sys_") || symbol.name.starts_with(b"vfs_") {
            if listed.contains(symbol.name) {
                known += 1;
            } else {
                unknown += 1;
            }
        }
    }
    trial.note(format_args!(
        "{path}: {known} of its symbols are listed, {unknown} are not"
    ));
    ensure(
        known > 10 * unknown,
        format!("{path} is not the running kernel: {unknown} of its symbols are not listed"),
    )
}

/// The running kernel has a build id, by which its image is found later.
pub(crate) fn build_id(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let id = running_kernel_build_id()
        .ok_or_else(|| Shortfall::skip("the kernel shows no build id in /sys/kernel/notes"))?;
    trial.note(format_args!("{id:?}"));
    Ok(())
}

/// The online CPUs are possible ones, and this thread runs on online ones.
pub(crate) fn cpu_lists(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    let (online, possible) = (
        cpus::online().map_err(Shortfall::failure)?,
        cpus::possible().map_err(Shortfall::failure)?,
    );
    let own = cpus::affinity().map_err(Shortfall::failure)?;
    trial.note(format_args!(
        "{} online, {} possible, {} for this thread",
        online.len(),
        possible.len(),
        own.len()
    ));
    ensure(
        online.iter().all(|cpu| possible.contains(cpu)),
        "a CPU is online that is not possible",
    )?;
    ensure(
        !own.is_empty() && own.iter().all(|cpu| online.contains(cpu)),
        "this thread may run on a CPU that is not online",
    )
}

/// Each CPU has a core and a package.
pub(crate) fn topology(trial: &mut Trial<'_>) -> Result<(), Shortfall> {
    for cpu in cpus::online().map_err(Shortfall::failure)? {
        for name in ["core_id", "physical_package_id"] {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
            let text = std::fs::read_to_string(&path)
                .map_err(|error| Shortfall::skip(format!("{path}: {error}")))?;
            let number: Result<i64, _> = text.trim().parse();
            trial.note(format_args!("cpu {cpu}: {name} {}", text.trim()));
            ensure(number.is_ok(), format!("{path} holds no number"))?;
        }
    }
    Ok(())
}
