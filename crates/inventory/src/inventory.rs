//! Everything that can be listed, each part gathered when it is asked for.

use crate::gather::{self, SupportProbe};
use crate::metric::in_groups;
use crate::{CountableEvent, Instances, ListedMetric, SdtMarker, markers, tracepoints};
use oxperf_metric::MetricCatalogue;
use oxperf_pmu::{Catalogue, PmuDescription, UserSpacePmus};
use oxperf_pmu_events::EventTables;
use oxperf_tracepoint::Tracefs;
use std::cell::OnceCell;

/// Where the facts of a machine come from.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The PMUs.
    pub catalogue: &'a Catalogue<'a>,
    /// PMUs that no kernel has.
    pub user_space: &'a [&'a dyn UserSpacePmus],
    /// The tables of the machine's CPU, where there are any.
    pub tables: Option<&'a EventTables>,
    /// The metrics of the machine, where they are wanted.
    pub metrics: Option<&'a dyn Fn() -> MetricCatalogue>,
    /// The markers of programs, where they are wanted.
    pub markers: Option<&'a dyn Fn() -> Vec<SdtMarker>>,
    /// The tracepoints, where they can be seen.
    pub tracefs: Option<&'a dyn Tracefs>,
    /// The kernel, asked which generic events it counts; without it all are taken for counted.
    pub support: Option<&'a dyn SupportProbe>,
    /// The many old spellings of generic events are gathered, too.
    pub old_names: bool,
    /// The PMUs that are listed of several alike.
    pub instances: Instances,
}

impl<'a> Sources<'a> {
    /// PMUs alone.
    pub fn new(catalogue: &'a Catalogue<'a>) -> Sources<'a> {
        Sources {
            catalogue,
            user_space: &[],
            tables: None,
            metrics: None,
            markers: None,
            tracefs: None,
            support: None,
            old_names: false,
            instances: Instances::First,
        }
    }
}

/// Everything that can be listed.
pub struct Inventory<'a> {
    sources: Sources<'a>,
    pmus: OnceCell<Vec<PmuDescription>>,
    events: OnceCell<Vec<CountableEvent>>,
    forms: OnceCell<Vec<CountableEvent>>,
    sdt: OnceCell<Vec<CountableEvent>>,
    metrics: OnceCell<Vec<ListedMetric>>,
}

impl<'a> Inventory<'a> {
    /// An inventory over these sources; nothing is read yet.
    pub fn new(sources: Sources<'a>) -> Inventory<'a> {
        Inventory {
            sources,
            pmus: OnceCell::new(),
            events: OnceCell::new(),
            forms: OnceCell::new(),
            sdt: OnceCell::new(),
            metrics: OnceCell::new(),
        }
    }

    fn pmus(&self) -> &[PmuDescription] {
        self.pmus
            .get_or_init(|| self.sources.catalogue.descriptions())
    }

    /// The events of all PMUs and the tracepoints, in perf's order.
    pub fn events(&self) -> &[CountableEvent] {
        self.events
            .get_or_init(|| gather::events(&self.sources, self.pmus()))
    }

    /// Reads the descriptions and numbers of those tracepoints that are wanted: a file of each.
    pub fn complete_tracepoints(&mut self, is_wanted: impl Fn(&CountableEvent) -> bool) {
        self.events();
        let (Some(tracefs), Some(events)) = (self.sources.tracefs, self.events.get_mut()) else {
            return;
        };
        for event in events.iter_mut().filter(|event| is_wanted(event)) {
            tracepoints::complete(event, tracefs);
        }
    }

    /// The forms of names: raw descriptors and breakpoints.
    pub fn forms(&self) -> &[CountableEvent] {
        self.forms
            .get_or_init(|| gather::forms(self.pmus(), self.sources.instances))
    }

    /// The markers of programs, by name.
    pub fn sdt(&self) -> &[CountableEvent] {
        self.sdt.get_or_init(|| {
            let markers = self.sources.markers.map(|find| find());
            markers::events(markers.unwrap_or_default())
        })
    }

    /// The metrics, by group and name.
    pub fn metrics(&self) -> &[ListedMetric] {
        self.metrics.get_or_init(|| {
            let metrics = self.sources.metrics.map(|find| find());
            metrics.map_or_else(Vec::new, |metrics| in_groups(&metrics, self.sources.tables))
        })
    }
}
