//! The events that are counted when the user names none: those of the metrics of some groups, which say of themselves that
//! they belong there.

use oxperf_abi::EventType;
use oxperf_analysis::counts::EventDisplay;
use oxperf_capture::EventRequest;
use oxperf_metric::{MetricError, MetricPlan, PlanOptions};
use oxperf_pmu::Catalogue;

use super::metrics::MetricSources;
use super::wanted::{PlannedEvents, Wanted};
use crate::failure::Failure;

/// The groups of metrics: the first always, one more for each `-d`.
const GROUPS: [&str; 4] = ["Default", "Default2", "Default3", "Default4"];
/// The events without which nothing makes sense: they are shown even where nothing counts them.
const NEVER_LEFT_OUT: [&str; 2] = ["cpu-cycles", "cycles"];

/// The default events with `details` times `-d`.
///
/// # Errors
/// A metric does not work out, or one of its events is not here.
pub(super) fn wanted(
    details: u8,
    sources: &MetricSources<'_>,
    catalogue: &Catalogue<'_>,
) -> Result<Wanted, Failure> {
    // Their thresholds are computed where their events are there, and ask for none of their own.
    let options = PlanOptions {
        no_threshold: true,
        ..sources.machine_options()
    };
    let mut events = Vec::new();
    let mut plans = Vec::new();
    for group in GROUPS.iter().take(1 + usize::from(details)) {
        match sources.plan(group, &options) {
            Ok(plan) => plans.push(add(plan, catalogue, &mut events)?),
            Err(MetricError::NotFound(_)) => {}
            Err(error) => return Err(Failure::new(error.to_string())),
        }
    }
    Ok(in_order(events, plans))
}

/// An event on its way to its place.
struct DefaultEvent {
    request: EventRequest,
    /// A metric of it is one that is shown beside its count.
    shows_count: bool,
    is_skippable: bool,
}

fn add(
    plan: MetricPlan,
    catalogue: &Catalogue<'_>,
    events: &mut Vec<DefaultEvent>,
) -> Result<PlannedEvents, Failure> {
    let mut planned = PlannedEvents::look_up(plan, catalogue)?;
    let before = events.len();
    for own in planned.batches.iter_mut().flatten() {
        own.index += before;
    }
    for mut request in std::mem::take(&mut planned.requests) {
        request.leader = request.leader.map(|leader| leader + before);
        let id = request.metric_id.as_deref();
        events.push(DefaultEvent {
            is_skippable: id.is_none_or(|id| !NEVER_LEFT_OUT.contains(&id)),
            request,
            shows_count: false,
        });
    }
    for metric in planned
        .metrics
        .iter()
        .filter(|metric| metric.default_group.is_none())
    {
        for own in &planned.batches[metric.batch] {
            if metric.ids.contains(&own.id) {
                events[own.index].shows_count = true;
            }
        }
    }
    Ok(planned)
}

/// Events whose counts are shown come first, those of the kernel's own PMUs before others, by name; groups stay together.
fn in_order(events: Vec<DefaultEvent>, plans: Vec<PlannedEvents>) -> Wanted {
    let leader = |index: usize| &events[events[index].request.leader.unwrap_or(index)];
    let key = |&index: &usize| {
        let leader = leader(index);
        (
            !leader.shows_count,
            pmu_number(&leader.request),
            leader.request.name.clone(),
        )
    };
    let mut order: Vec<usize> = (0..events.len()).collect();
    order.sort_by_cached_key(key);
    let mut place = vec![0; order.len()];
    order
        .iter()
        .enumerate()
        .for_each(|(new, &old)| place[old] = new);
    let mut wanted = Wanted::default();
    for &old in &order {
        let event = &events[old];
        let mut request = event.request.clone();
        request.leader = request.leader.map(|leader| place[leader]);
        wanted.requests.push(request);
        wanted.skippable.push(event.is_skippable);
        wanted.displays.push(match event.shows_count {
            true => EventDisplay::WithMetrics,
            false => EventDisplay::MetricsAlone,
        });
    }
    for mut plan in plans {
        // What is planned last is shown first: below a heading, and there by name.
        plan.metrics
            .sort_by(|a, b| (&b.default_group, &b.name).cmp(&(&a.default_group, &a.name)));
        for own in plan.batches.iter_mut().flatten() {
            own.index = place[own.index];
        }
        wanted.metrics.add(plan.metrics, &plan.batches);
    }
    wanted
}

/// The number of an event's PMU: generic events of the hardware belong to the PMU that counts them. The numbers of PMUs that
/// no kernel has are those below 0.
fn pmu_number(request: &EventRequest) -> i32 {
    let attr = &request.attr;
    let is_generic = matches!(attr.kind, EventType::HARDWARE | EventType::HW_CACHE);
    let number = match (attr.config >> 32) as u32 {
        _ if !is_generic => attr.kind.0,
        0 => EventType::RAW.0,
        pmu => pmu,
    };
    number as i32
}
