//! What is counted: the events that the user named, those of metrics, and what is computed from them.

use oxperf_analysis::counts::{CountMetrics, EventDisplay, MetricEvent};
use oxperf_capture::EventRequest;
use oxperf_metric::{MetricPlan, PlannedMetric};
use oxperf_pmu::{Catalogue, tool};

use super::root_ports::CountedPorts;
use crate::cmd::record::events::look_up_planned;
use crate::failure::Failure;

/// Events with the metrics that are computed from them.
#[derive(Default)]
pub(super) struct Wanted {
    /// The events, in the order in which they are opened.
    pub(super) requests: Vec<EventRequest>,
    /// What is shown of each.
    pub(super) displays: Vec<EventDisplay>,
    /// For each event whether it is left out where nothing counts it.
    pub(super) skippable: Vec<bool>,
    /// The metrics.
    pub(super) metrics: CountMetrics,
    /// The root ports whose traffic the events count, where it is shown in place of them.
    pub(super) ports: Option<CountedPorts>,
}

impl Wanted {
    /// Events that the user named.
    pub(super) fn of_events(requests: Vec<EventRequest>) -> Wanted {
        let mut wanted = Wanted {
            requests,
            ..Wanted::default()
        };
        wanted.fill();
        wanted
    }

    /// Every event has something said of it.
    fn fill(&mut self) {
        let events = self.requests.len();
        self.displays.resize(events, EventDisplay::Count);
        self.skippable.resize(events, false);
    }

    /// The same for all copies of the events, one for each control group, which are `events` together.
    pub(super) fn repeat(&mut self, events: usize) {
        let own = self.requests.len();
        if own == 0 || events <= own {
            return;
        }
        self.displays = self.displays.iter().copied().cycle().take(events).collect();
        self.skippable = self
            .skippable
            .iter()
            .copied()
            .cycle()
            .take(events)
            .collect();
        self.metrics.repeat(own, events / own);
    }

    /// Adds the metrics of a plan and their events.
    ///
    /// # Errors
    /// An event of the plan is not here.
    pub(super) fn add_plan(
        &mut self,
        plan: MetricPlan,
        catalogue: &Catalogue<'_>,
    ) -> Result<(), Failure> {
        let planned = PlannedEvents::look_up(plan, catalogue)?;
        let before = self.requests.len();
        let moved = |request: EventRequest| EventRequest {
            leader: request.leader.map(|leader| leader + before),
            ..request
        };
        self.requests
            .extend(planned.requests.into_iter().map(moved));
        let mut batches = planned.batches;
        for event in batches.iter_mut().flatten() {
            event.index += before;
        }
        self.metrics.add(planned.metrics, &batches);
        self.fill();
        Ok(())
    }
}

/// The events of a plan.
pub(super) struct PlannedEvents {
    /// The events, batch by batch.
    pub(super) requests: Vec<EventRequest>,
    /// The metrics that are computed from them.
    pub(super) metrics: Vec<PlannedMetric>,
    /// The events of each batch as metrics know them.
    pub(super) batches: Vec<Vec<MetricEvent>>,
}

impl PlannedEvents {
    /// Looks the events of a plan up.
    ///
    /// # Errors
    /// One of them is not here.
    pub(super) fn look_up(
        plan: MetricPlan,
        catalogue: &Catalogue<'_>,
    ) -> Result<PlannedEvents, Failure> {
        let cores = catalogue.core_names();
        let (mut requests, mut batches) = (Vec::new(), Vec::new());
        for text in plan.event_texts() {
            let before = requests.len();
            look_up_planned(&text, catalogue, &mut requests)?;
            let own = requests[before..].iter().zip(before..);
            batches.push(
                own.map(|(request, index)| event(request, index, &cores))
                    .collect(),
            );
        }
        Ok(PlannedEvents {
            requests,
            metrics: plan.metrics,
            batches,
        })
    }
}

fn event(request: &EventRequest, index: usize, cores: &[&str]) -> MetricEvent {
    let id = request.metric_id.as_ref().unwrap_or(&request.name);
    MetricEvent {
        index,
        id: id.clone(),
        pmu: request.pmu.to_string(),
        is_of_core: cores.contains(&&*request.pmu),
        is_tool: request.attr.kind == tool::KIND,
    }
}
