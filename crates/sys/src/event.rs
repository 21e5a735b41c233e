//! Events as a program uses them: what to count ([`CounterSpec`]), and the open counters.

mod counter;
mod group;
mod self_counter;
mod spec;

pub use counter::Counter;
pub use group::CounterGroup;
pub use self_counter::{SelfCount, SelfCounter};
pub use spec::{CounterSpec, ProbeError, Uprobe, WatchedAccess};
