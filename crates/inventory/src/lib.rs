//! The inventory of a machine: every event, raw descriptor and metric that a user can name, as `list` shows them.
//!
//! For whoever shows or searches what can be counted. [`Inventory`] takes PMUs, tracepoints and the kernel's answers from
//! sources that tests replace, and gives [`CountableEvent`]s in perf's order; [`sections`] turns the words of the command
//! line into [`ListSection`]s, each of which says which events it shows. An event is a name with facts: nothing here
//! encodes an attribute, which is `pmu`'s, and nothing prints.
//!
//! ```
//! use oxperf_inventory::{Inventory, ListOptions, ListSection, Sources, sections};
//! use oxperf_pmu::{Catalogue, MemoryPmus, MemoryTracepoints};
//!
//! let pmus = MemoryPmus::new().pmu("msr", 9).format("event", "config:0-63").event("tsc", "event=0x00");
//! let tracepoints = MemoryTracepoints::default();
//! let catalogue = Catalogue::new(&pmus, &tracepoints);
//! let inventory = Inventory::new(Sources::new(&catalogue));
//! let ListSection::Events(filter) = &sections(&["tsc".to_owned()], &ListOptions::default())[0] else { panic!() };
//! let shown: Vec<&str> =
//!     inventory.events().iter().filter(|event| filter.admits(event)).map(|event| &*event.name).collect();
//! assert_eq!(shown, ["msr/tsc/", "system_tsc_freq"]);
//! ```

mod event;
mod gather;
mod instances;
mod inventory;
mod markers;
mod metric;
mod selection;
mod tracepoints;

pub use event::{CountableEvent, EventCategory};
pub use gather::SupportProbe;
pub use instances::Instances;
pub use inventory::{Inventory, Sources};
pub use markers::SdtMarker;
pub use metric::ListedMetric;
pub use selection::{EventFilter, ListOptions, ListSection, MetricFilter, sections};
