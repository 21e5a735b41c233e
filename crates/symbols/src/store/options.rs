//! The options of a store.

use std::path::PathBuf;

use oxperf_objects::SearchPaths;

use crate::demangle::Demangling;
use crate::symbol_prefilter::SymbolPrefilter;

/// The source of the kernel's names.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum KernelSource {
    /// The list of the kernel that runs here, whatever kernel was recorded: what perf does.
    #[default]
    Running,
    /// The list of the kernel that runs here, if it is the recorded one by build id (or none was recorded).
    RunningIfSame,
    /// A copy of `/proc/kallsyms` (`--kallsyms FILE`).
    Kallsyms(PathBuf),
    /// A kernel image (`-k vmlinux`).
    Vmlinux(PathBuf),
    /// Nowhere.
    Nothing,
}

/// Files with the symbols of guests' kernels.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct GuestPlaces {
    /// A folder with the root of each guest's files, named by the process that runs the guest.
    pub mounted: Option<PathBuf>,
    /// The kernel image of guests that have no such folder.
    pub vmlinux: Option<PathBuf>,
    /// The list of symbols of these guests' kernel.
    pub kallsyms: Option<PathBuf>,
}

/// Options of a store.
#[derive(Clone, Debug, Default)]
pub struct StoreOptions {
    /// The search paths of binaries.
    pub places: SearchPaths,
    /// True if names of user space are demangled.
    pub demangling: Demangling,
    /// The source of the kernel's names.
    pub kernel: KernelSource,
    /// The source of the names of guests' kernels.
    pub guests: GuestPlaces,
    /// True if kernel names are demangled, too. perf doesn't.
    pub kernel_demangling: Option<Demangling>,
    /// Programs and libraries without these words among their linkers' names go without a table, and what has them not
    /// in its own is called as linkers do.
    pub only_with: Option<SymbolPrefilter>,
}
