//! Counts of events: what the counters of each event say, added up by what the user wants to see apart.
//!
//! [`CountTable`] keeps the sums of all counters; [`CountTable::rows`] adds them up by a [`CountGrouping`]. [`Statistics`]
//! has mean and deviation of what was repeated.

mod grouping;
mod statistics;
mod table;

pub use grouping::{CacheInstance, ClusterNumber, CountGroup, CountGrouping, CpuPlace, CpuPlaces};
pub use statistics::Statistics;
pub use table::{CountEvent, CountRow, CountSite, CountTable, CountTotal};
