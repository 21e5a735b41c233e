//! Small numbers that mean different things, kept apart by type.

use std::fmt;

macro_rules! number {
    ($(#[$doc:meta])* $name:ident($int:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub $int);

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

number! {
    /// A process id as the recorder saw it; -1 stands for the kernel in mapping records.
    Pid(i32)
}
number! {
    /// A thread id as the recorder saw it.
    Tid(i32)
}
number! {
    /// A CPU number.
    Cpu(u32)
}
number! {
    /// Nanoseconds of the recording's clock (`perf_clock` unless `--clockid` was given).
    PerfTime(u64)
}
impl PerfTime {
    /// The time of samples that stand for several moments: perf adds up short absences from the CPU, and writes them behind
    /// all others.
    pub const OF_SUMS: PerfTime = PerfTime(!0 << 32);
}

number! {
    /// The kernel's id of one open event (`PERF_EVENT_IOC_ID`).
    EventId(u64)
}
number! {
    /// A byte position in a file.
    FileOffset(u64)
}
