//! Counts of events: what the counters of each event say, added up by what the user wants to see apart.
//!
//! [`CountTable`] keeps the sums of all counters; [`CountTable::rows`] adds them up by a [`CountGrouping`]. [`Statistics`]
//! has mean and deviation of what was repeated. [`MeasuredRuns`] keeps whole runs, and [`RunComparison`] puts two measurements
//! beside each other. [`CountMetrics`] has the values of metrics over rows.

mod compare;
mod grouping;
mod history;
mod metrics;
mod runs;
mod statistics;
mod table;
mod welch;

pub use compare::{ComparedCount, CountChange, MeasuredSide, RunComparison};
pub use grouping::{CacheInstance, ClusterNumber, CountGroup, CountGrouping, CpuPlace, CpuPlaces};
pub use history::{RateHistory, RateSeries};
pub use metrics::{CountMetric, CountMetrics, MetricCell, MetricCounts, MetricEvent};
pub use runs::{MeasuredEvent, MeasuredRun, MeasuredRuns, RunCount, RunOrigin};
pub use statistics::Statistics;
pub use table::{
    CoreCounts, CountEvent, CountRow, CountSite, CountTable, CountTotal, EventDisplay,
};
pub use welch::{MeanTest, SIGNIFICANCE_LEVEL};
