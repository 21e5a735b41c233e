//! Accesses to memory that samples tell of.

use std::cmp::Reverse;

use oxperf_abi::{BuildId, DataSource, Pid};

use super::FrameId;

/// An access, as far as keys ask for it; what nobody asked for is 0 or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct MemoryAccess {
    /// Where the data were found, and what that took.
    pub source: DataSource,
    /// The data.
    pub data: Option<AccessAddress>,
    /// The instruction.
    pub code: Option<AccessAddress>,
    /// The line of the CPU's caches that the data lie in.
    pub line: Option<CacheLine>,
    /// The data's address in the machine's memory.
    pub physical: u64,
    /// Size of the page that holds the data, in bytes.
    pub page_size: u64,
}

/// An address, and what lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AccessAddress {
    /// A frame with the object and symbol.
    pub frame: FrameId,
    /// The address as it was recorded.
    pub address: u64,
    /// The address in the object's own addresses.
    pub in_object: u64,
}

/// A line of the CPU's caches. Lines are compared in the order of these fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheLine {
    /// True if a process touched it, and not the kernel.
    pub by_user: bool,
    /// True if nothing is mapped there.
    pub unmapped: bool,
    /// The object: falling build ids before inodes before places in the recording. Memory without a file is one.
    pub object: (Reverse<Option<BuildId>>, Option<u64>, Option<u32>),
    /// Whose it is, where it is a process's own memory.
    pub process: Option<Pid>,
    /// Its first address, in the object's own addresses.
    pub address: u64,
    /// True if processes share a file's memory there.
    pub shared: bool,
}

/// What is to be kept of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccessFields {
    /// [`MemoryAccess::source`].
    pub source: bool,
    /// [`MemoryAccess::data`].
    pub data: bool,
    /// [`MemoryAccess::code`].
    pub code: bool,
    /// [`MemoryAccess::line`].
    pub line: bool,
    /// [`MemoryAccess::physical`].
    pub physical: bool,
    /// [`MemoryAccess::page_size`].
    pub page_size: bool,
}
