//! The kinds of places that files come from.

/// The kind of place that gave a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectOrigin {
    /// perf's build-id cache.
    BuildIdCache,
    /// The recorded path, below the given root where there is one.
    RecordedPath,
    /// The recorded path as the process sees it that had it mapped, or what that process runs.
    LiveProcess,
    /// A separate debug file.
    DebugFile(DebugFileOrigin),
    /// A server, or what it gave before.
    Debuginfod,
    /// The memory of this process.
    OwnMemory,
}

/// The way that led to a separate debug file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DebugFileOrigin {
    /// perf's build-id cache.
    Cache,
    /// The name that another file gives it.
    Link,
    /// The binary's path with `.debug` behind it, in the folder of debug files.
    WithSuffix,
    /// The binary's path, in the folder of debug files.
    SamePath,
    /// The build id, in the folder of debug files.
    BuildId,
}
