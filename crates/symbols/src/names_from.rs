//! The origin of an object's names.

use oxperf_objects::{DebugFileOrigin, ObjectOrigin};

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
    /// A kernel module's file, compressed.
    PackedModule,
    /// A file that an interpreter wrote.
    PerfMap,
    /// A file that was found this way.
    File(ObjectOrigin),
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
            NamesFrom::File(ObjectOrigin::BuildIdCache) => 'B',
            NamesFrom::File(ObjectOrigin::DebugFile(place)) => match place {
                DebugFileOrigin::Cache => 'D',
                DebugFileOrigin::Link => 'l',
                DebugFileOrigin::WithSuffix => 'f',
                DebugFileOrigin::SamePath => 'u',
                DebugFileOrigin::BuildId => 'b',
            },
            NamesFrom::File(
                ObjectOrigin::RecordedPath
                | ObjectOrigin::LiveProcess
                | ObjectOrigin::Debuginfod
                | ObjectOrigin::OwnMemory,
            ) => 'd',
        }
    }
}
