//! A binary as a recording names it.

use oxperf_abi::BuildId;

/// The kind of mapping that named the binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// A program or library of user space.
    User,
    /// A kernel module's file.
    KernelModule,
    /// The code page that the kernel maps into every process (`[vdso]`); it stands in no file.
    Vdso,
}

/// A binary as a recording names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectQuery<'a> {
    /// The recorded path, bytes as recorded.
    pub path: &'a [u8],
    /// The recorded identity, where there is one.
    pub build_id: Option<BuildId>,
    /// The kind of mapping that named it.
    pub kind: ObjectKind,
    /// A process that had it mapped, where one is known: while it lives, the file may be found as it sees it.
    pub process: Option<u32>,
}
