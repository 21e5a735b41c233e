//! The kernel side of recording: events, rings, mappings, workloads, signals.
//!
//! For everybody above who needs a system call that the standard library does not offer. Of this workspace only
//! this crate and `oxperf-dlfilter` have `unsafe` code; each block says why it is sound, and nothing that leaves this crate can be
//! used to break memory. It decides nothing: which events to open, what to do when one is refused and what the
//! bytes of a ring mean belong to the crates above. It reads no environment variable and prints nothing.
//!
//! The kernel can be replaced: plan against [`Kernel`] and test the plan with a [`FakeKernel`], which remembers
//! what would have been opened and fails where the test says so.
//!
//! ```
//! use oxperf_abi::{EventAttr, EventType, SoftwareId};
//! use oxperf_sys::{FakeKernel, Kernel, OpenRequest, EventTask};
//!
//! let attr = EventAttr { kind: EventType::SOFTWARE, config: SoftwareId::TaskClock as u64, ..EventAttr::default() };
//! let kernel = FakeKernel::new();
//! kernel.open(&OpenRequest::new(&attr, EventTask::Caller)).unwrap();
//! assert_eq!(kernel.opened()[0].attr, attr);
//! ```

mod arrivals;
pub mod clock;
pub mod cpus;
mod errno;
mod event;
pub mod files;
pub mod heap;
mod kernel;
pub mod limits;
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
    FakeCall, FakeCount, FakeKernel, FakeOverflow, FakePmu, Kernel, LoggingKernel, OpenLogError,
    OpenedEvent, OpenedTask, OwnEvents, RealKernel,
};
pub use map::{MappedFile, TruncatedFile, truncated_files};
pub use open::{
    BpfProgramId, Control, ControlScope, CounterRead, CounterValue, Estimate, EventFd, EventTask,
    Notification, OpenError, OpenFlags, OpenRequest, ReadError, SignalReceiver, open_event,
};
pub use overflow::{Overflow, OverflowKind, OverflowSignals};
pub use poll::{NON_BLOCKING, PollSet, PollSlot, Readiness};
pub use redirection::Redirection;
pub use registers::CpuRegisters;
pub use ring::{
    AuxPages, AuxRing, AuxSnapshotRing, BackwardRing, CounterPage, CounterRegisters, DataRing,
    FakePage, FakePageClock, RingError, RingPages, TimeConversion, UserCount,
};
pub use signal::{Signal, SignalError, SignalSet, SignalWatch, kill_self};
pub use spawn::{SpawnError, Workload, WorkloadSpec};
pub use sysfs::Sysfs;
pub use tsc::tsc_frequency;
