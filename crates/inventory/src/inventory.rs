//! Everything that can be listed, each part gathered when it is asked for.

use crate::gather::{self, SupportProbe};
use crate::metric::in_groups;
use crate::tracepoints::Tracepoints;
use crate::{
    CountableEvent, EventFilter, Instances, ListSection, ListedMetric, SdtMarker, markers,
};
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
    pub tracefs: Option<&'a (dyn Tracefs + Sync)>,
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
        self.events.get_or_init(|| {
            let mut events = gather::events_of_pmus(&self.sources, self.pmus());
            if let Some(tracefs) = self.sources.tracefs {
                events.extend(Tracepoints::gather(tracefs).into_events());
            }
            gather::in_order(events)
        })
    }

    /// Gathers all that the sections show, with descriptions and numbers of the tracepoints among it: a file of each. The
    /// files are read by other threads while this one gathers everything else.
    pub fn complete_tracepoints(&mut self, sections: &[ListSection]) {
        let Some(tracefs) = self.sources.tracefs else {
            return;
        };
        let filters: Vec<&EventFilter> = sections.iter().filter_map(ListSection::events).collect();
        let is_wanted = |event: &CountableEvent| filters.iter().any(|filter| filter.admits(event));
        let mut tracepoints = None;
        let mut events = rayon::in_place_scope(|scope| {
            scope.spawn(|_| tracepoints = Some(Tracepoints::gather_complete(tracefs, &is_wanted)));
            let events = gather::events_of_pmus(&self.sources, self.pmus());
            sections.iter().for_each(|section| self.prepare(section));
            events
        });
        events.extend(tracepoints.into_iter().flat_map(Tracepoints::into_events));
        self.events = OnceCell::from(gather::in_order(events));
    }

    /// Gathers what a section shows beside events of PMUs and tracepoints.
    fn prepare(&self, section: &ListSection) {
        match section {
            ListSection::Events(_) => {}
            ListSection::Sdt(_) => _ = self.sdt(),
            ListSection::Forms(_) => _ = self.forms(),
            ListSection::Metrics(_) => _ = self.metrics(),
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
