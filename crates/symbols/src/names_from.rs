//! Where the names of an object come from.

use oxperf_objects::{DebugPlace, Origin};

/// The source of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamesFrom {
    /// The kernel's own list.
    KernelList,
    /// An image of the kernel.
    KernelImage,
    /// The list of a guest's kernel.
    GuestList,
    /// An image of a guest's kernel.
    GuestImage,
    /// The file of a kernel module.
    Module,
    /// The same, compressed.
    PackedModule,
    /// A file that an interpreter wrote.
    PerfMap,
    /// A file that was found this way.
    File(Origin),
    /// The small table that distributions put into stripped files.
    Carried,
}

impl NamesFrom {
    /// The letter that perf has for it.
    pub const fn letter(self) -> char {
        match self {
            NamesFrom::KernelList => 'k',
            NamesFrom::KernelImage => 'v',
            NamesFrom::GuestList => 'g',
            NamesFrom::GuestImage => 'V',
            NamesFrom::Module => 'K',
            NamesFrom::PackedModule => 'm',
            NamesFrom::PerfMap => 'j',
            NamesFrom::Carried => 'n',
            NamesFrom::File(Origin::BuildIdCache) => 'B',
            NamesFrom::File(Origin::DebugFile(place)) => match place {
                DebugPlace::Cache => 'D',
                DebugPlace::Link => 'l',
                DebugPlace::WithSuffix => 'f',
                DebugPlace::SamePath => 'u',
                DebugPlace::BuildId => 'b',
            },
            NamesFrom::File(
                Origin::RecordedPath | Origin::LiveProcess | Origin::Debuginfod | Origin::OwnMemory,
            ) => 'd',
        }
    }
}
