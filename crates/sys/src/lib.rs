//! The kernel side of recording: performance events, rings, mappings, workloads, signals.
//!
//! For every Rust program that wants to count or sample with `perf_event_open(2)`, and for everybody above in this workspace who
//! needs a system call that the standard library does not offer. Begin with [`CounterSpec`], which says what to count, and the
//! [`Counter`] or [`CounterGroup`] that it opens; the folder `examples` has a program for each part of the interface, all of
//! which run as tests.
//!
//! ```
//! use oxperf_abi::SoftwareId;
//! use oxperf_sys::{CounterGroup, CounterSpec, EventTask, RealKernel};
//!
//! let clock = CounterSpec::task_clock().user_only().disabled();
//! let faults = CounterSpec::software(SoftwareId::PageFaults).user_only();
//! // An unprivileged process may count its own user mode, but not where perf_event_paranoid is 3 or a filter of system calls
//! // forbids it.
//! if let Ok(mut group) = CounterGroup::open(&RealKernel, EventTask::Caller, &clock) {
//!     let faults = group.add(&faults).unwrap();
//!     group.enable().unwrap();
//!     let sum: u64 = (0..1000).sum();
//!     group.disable().unwrap();
//!     let read = group.read().unwrap();
//!     assert!(read.values[0].value > 0, "nanoseconds for {sum}");
//!     assert!(read.estimate(faults).is_some());
//! }
//! ```
//!
//! | to | see | example |
//! |---|---|---|
//! | count | [`CounterSpec`], [`Counter`] | `counting`, `event_kinds`, `tasks`, `cpus`, `cgroups`, `inheritance`, `privilege_levels` |
//! | compare and scale counts | [`CounterGroup`], [`Estimate`] | `groups`, `multiplexing`, `pinned_and_exclusive` |
//! | switch counters | [`Control`], [`OwnEvents`] | `switching`, `refreshing`, `own_events` |
//! | read without a call | [`SelfCounter`] | `user_reads` |
//! | sample | [`DataRing`], [`BackwardRing`] | `sampling`, `side_records`, `shared_ring`, `newest_records` |
//! | wait | [`PollSet`], [`OverflowSignals`] | `waiting`, `signals` |
//! | trace | [`AuxRing`], [`AuxSnapshotRing`] | `traces` |
//! | probe | [`Uprobe`], [`WatchedAccess`] | `breakpoints`, `tracepoints`, `uprobes` |
//!
//! The kernel can be replaced: write against [`Kernel`] and test with a [`FakeKernel`], which remembers what would have been
//! opened, fails where the test says so, and counts, samples and traces while the test lets time pass.
//!
//! The bytes of records are read by `oxperf-wire`, tracepoints are named by `oxperf-tracepoint`, and event texts by `oxperf-pmu`.
//!
//! It decides nothing: which events to open, what to do when one is refused and what the bytes of a ring mean belong to the
//! crates above. It reads no environment variable and prints nothing. It gives out descriptors only as
//! [`AsFd`](std::os::fd::AsFd) has them. Its `unsafe` code says in each block why it is sound, and nothing that leaves this
//! crate can be used to break memory. Linux alone; x86-64 and aarch64 are tried, and counters are read in user mode on x86-64.

mod arrivals;
pub mod bpf;
pub mod clock;
pub mod cpus;
mod errno;
mod event;
pub mod files;
pub mod heap;
mod kernel;
pub mod limits;
pub mod locale;
mod map;
mod open;
mod overflow;
mod poll;
pub mod process;
mod redirection;
mod registers;
mod ring;
mod signal;
mod spawn;
mod sysfs;
pub mod terminal;
mod tsc;

pub use errno::Errno;
pub use event::{
    Counter, CounterGroup, CounterSpec, ProbeError, SelfCount, SelfCounter, Uprobe, WatchedAccess,
};
pub use kernel::{
    FakeCall, FakeCount, FakeKernel, FakeOverflow, FakePmu, FakeTraceCount, Kernel, LoggingKernel,
    OpenLogError, OpenedEvent, OpenedTask, OwnEvents, RealKernel,
};
pub use map::{MappedFile, TruncatedFile, truncated_files};
pub use open::{
    BpfProgramId, Control, ControlScope, CounterRead, CounterValue, Estimate, EventFd, EventTask,
    Notification, OpenArguments, OpenError, OpenFlags, OpenRequest, ReadError, SignalReceiver,
};
pub use overflow::{Overflow, OverflowKind, OverflowSignals};
pub use poll::{NON_BLOCKING, PollSet, PollSlot, Readiness};
pub use redirection::Redirection;
pub use registers::CpuRegisters;
pub use ring::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, CounterPage, CounterRegisters, DataRing,
    FakePage, FakePageClock, RingError, RingPages, TimeConversion, UserCount,
};
pub use signal::{Signal, SignalError, SignalSet, SignalWatch, Waker, kill_self, signal_name};
pub use spawn::{CpuUsage, SpawnError, Workload, WorkloadSpec};
pub use sysfs::Sysfs;
pub use tsc::{TscRatio, tsc, tsc_frequency, tsc_ratio};
