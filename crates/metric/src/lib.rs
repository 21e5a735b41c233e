//! Metrics: expressions over event counts, the events that they need, their values.
//!
//! For a counter of events that takes `-M TopdownL1,insn_per_cycle` and has to know which events to open, and what the
//! counts say. A [`MetricDefinition`] is text, built in ([`builtin`]) or from a vendor's table; a [`MetricCatalogue`] finds
//! definitions by name and group; a [`MetricPlan`] says which events to open, in which groups, in the order and the notation
//! of perf 7.2; a [`PlannedMetric`] turns counts into a [`MetricValue`].
//!
//! What a machine is, which events it has and what was counted comes from the caller ([`MetricEnvironment`],
//! [`EventCounts`]). This crate opens no file and no event, and knows no attributes: events leave it as text.
//!
//! Every text is hostile: length and depth of an expression are bounded, its evaluation is a loop over a list,
//! references of metrics to metrics that run in circles are refused. A division by zero has no value: it is NaN.
//!
//! ```
//! use oxperf_metric::{MachineConstants, MetricExpression, MetricIds};
//!
//! let machine = MachineConstants { smt_on: false, ..MachineConstants::default() };
//! let expression = MetricExpression::parse("a / b if #smt_on else 1e3 * c").unwrap();
//! let ids = expression.ids(&machine).unwrap();
//! assert_eq!(ids.iter().collect::<Vec<_>>(), ["c"]);
//! let value = expression.evaluate(&machine, &|id: &str| (id == "c").then_some(2.0));
//! assert_eq!(value, Ok(2000.0));
//! ```

mod catalogue;
mod definition;
mod environment;
mod error;
mod expression;
mod ids;
mod plan;
mod scale;
mod value;

pub mod builtin;

pub use catalogue::MetricCatalogue;
pub use definition::{EventGrouping, MetricDefinition};
pub use environment::{EventCounts, MachineConstants, MetricEnvironment};
pub use error::{ExpressionError, ExpressionProblem, MetricError};
pub use expression::MetricExpression;
pub use ids::MetricIds;
pub use plan::{EventBatch, MetricPlan, PlanOptions, PlannedMetric};
pub use scale::MetricScale;
pub use value::{MetricValue, ThresholdVerdict};
