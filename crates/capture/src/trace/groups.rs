//! The groups of events that act on a trace: whoever has a piece of it in each sample, or pauses it, is led by it.

use super::TraceError;
use crate::event::{AuxAction, EventRequest};
use crate::options::{AuxOptions, TraceSampleSize};

/// Puts events that act on a trace into its group, gives them the size of their pieces, and checks that all of this can be.
///
/// # Errors
/// It cannot.
pub(super) fn arrange(
    requests: &mut [EventRequest],
    options: &AuxOptions,
) -> Result<(), TraceError> {
    let asked = options.sample.is_some();
    if let Some(size) = options.sample {
        size_members(requests, size.bytes());
    }
    let has_terms = requests.iter().any(|own| own.aux.sample_size.is_some());
    join_traces(requests);
    let is_traced = requests.iter().any(|own| own.aux.is_traced);
    if (asked || has_terms) && !is_traced {
        return Err(TraceError::NothingToSample);
    }
    check_actions(requests)?;
    if !asked && !has_terms {
        return Ok(());
    }
    check_samples(requests)
}

/// Returns whether the event has a piece of trace in each sample.
pub(super) fn samples_trace(request: &EventRequest) -> bool {
    request.aux.sample_size.is_some_and(|size| size > 0)
}

/// The members of groups that a trace leads have so many bytes, where their own terms do not say.
fn size_members(requests: &mut [EventRequest], bytes: u32) {
    let traced: Vec<bool> = requests.iter().map(|own| own.aux.is_traced).collect();
    for request in requests {
        let leader = request.leader.and_then(|leader| traced.get(leader));
        if leader == Some(&true) {
            request.aux.sample_size.get_or_insert(bytes);
        }
    }
}

/// An event that acts on a trace joins the group of the trace before it, with all events between them, unless one of these
/// has a group of its own.
fn join_traces(requests: &mut [EventRequest]) {
    let mut trace = None;
    for place in 0..requests.len() {
        if requests[place].aux.is_traced {
            trace = Some(place);
        } else if let Some(trace) = trace
            && acts(&requests[place])
            && are_free(requests, trace, place)
        {
            let between = requests.iter_mut().take(place + 1).skip(trace + 1);
            between.for_each(|request| request.leader = Some(trace));
        }
    }
}

fn acts(request: &EventRequest) -> bool {
    samples_trace(request) || request.aux.acts_on_a_trace()
}

/// Returns whether the events behind `trace` up to `last` are in no group but that of the trace.
fn are_free(requests: &[EventRequest], trace: usize, last: usize) -> bool {
    let mut between = trace + 1..=last;
    between.all(|place| {
        let leads = requests.iter().any(|other| other.leader == Some(place));
        let leader = requests[place].leader;
        !leads && leader.is_none_or(|leader| leader == trace)
    })
}

fn leader_is_traced(requests: &[EventRequest], request: &EventRequest) -> bool {
    let leader = request.leader.and_then(|leader| requests.get(leader));
    leader.is_some_and(|leader| leader.aux.is_traced)
}

fn check_actions(requests: &[EventRequest]) -> Result<(), TraceError> {
    for request in requests {
        let aux = request.aux;
        match aux.action {
            Some(AuxAction::StartPaused) if !aux.is_traced => return Err(TraceError::BeginsPaused),
            Some(AuxAction::Pause) if aux.is_traced => {
                return Err(TraceError::ActsOnItself("pause"));
            }
            Some(AuxAction::Resume) if aux.is_traced => {
                return Err(TraceError::ActsOnItself("resume"));
            }
            _ => {}
        }
        if aux.acts_on_a_trace() && !aux.is_traced && !leader_is_traced(requests, request) {
            return Err(TraceError::ActsOnNothing);
        }
    }
    Ok(())
}

fn check_samples(requests: &[EventRequest]) -> Result<(), TraceError> {
    let sampling: Vec<&EventRequest> = requests.iter().filter(|own| samples_trace(own)).collect();
    if sampling.is_empty() {
        return Err(TraceError::NobodySamples);
    }
    for request in sampling {
        if let Some(size) = request
            .aux
            .sample_size
            .filter(|size| *size > TraceSampleSize::MOST)
        {
            return Err(TraceError::SampleTooBig { size });
        }
        if request.aux.is_traced {
            return Err(TraceError::SamplesOfTrace);
        }
        if request.leader.is_none() {
            return Err(TraceError::SamplesOfLeader);
        }
        if !leader_is_traced(requests, request) {
            return Err(TraceError::SamplesElsewhere);
        }
    }
    Ok(())
}

/// The requests with the group of the one at `place` before all others; the rest keeps its order.
pub(super) fn to_front(requests: Vec<EventRequest>, place: usize) -> Vec<EventRequest> {
    let leader = requests[place].leader.unwrap_or(place);
    let belongs = |index: usize, own: &EventRequest| index == leader || own.leader == Some(leader);
    let (group, others): (Vec<_>, Vec<_>) = requests
        .into_iter()
        .enumerate()
        .partition(|(index, own)| belongs(*index, own));
    let ordered: Vec<(usize, EventRequest)> = group.into_iter().chain(others).collect();
    let places: Vec<usize> = ordered.iter().map(|(before, _)| *before).collect();
    let moved = |leader: usize| places.iter().position(|before| *before == leader);
    let request = |(_, own): (usize, EventRequest)| EventRequest {
        leader: own.leader.and_then(moved),
        ..own
    };
    ordered.into_iter().map(request).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::SoftwareId;

    fn event(name: &str) -> EventRequest {
        EventRequest::software(SoftwareId::CpuClock, name)
    }

    fn trace() -> EventRequest {
        let mut request = event("pt");
        request.aux.is_traced = true;
        request
    }

    fn sized(bytes: u32) -> EventRequest {
        let mut request = event("sized");
        request.aux.sample_size = Some(bytes);
        request
    }

    fn led(mut request: EventRequest, leader: usize) -> EventRequest {
        request.leader = Some(leader);
        request
    }

    /// Leader and size.
    type Arranged = (Option<usize>, Option<u32>);

    /// Leaders and sizes, or what cannot be.
    fn arranged(
        mut requests: Vec<EventRequest>,
        asked: Option<u64>,
    ) -> Result<Vec<Arranged>, TraceError> {
        let options = AuxOptions {
            sample: asked.and_then(TraceSampleSize::new),
            ..AuxOptions::default()
        };
        arrange(&mut requests, &options)?;
        let shown = requests.iter().map(|own| (own.leader, own.aux.sample_size));
        Ok(shown.collect())
    }

    #[test]
    fn members_have_the_size_that_is_asked_for_unless_they_say_another() {
        let members = vec![
            trace(),
            led(event("a"), 0),
            led(sized(8), 0),
            led(sized(0), 0),
        ];
        let expected = vec![
            (None, None),
            (Some(0), Some(5)),
            (Some(0), Some(8)),
            (Some(0), Some(0)),
        ];
        assert_eq!(arranged(members, Some(5)), Ok(expected));
    }

    #[test]
    fn who_acts_on_a_trace_joins_it_with_all_between() {
        let joined = arranged(vec![trace(), event("a"), sized(8), event("b")], None).unwrap();
        let leaders: Vec<_> = joined.iter().map(|(leader, _)| *leader).collect();
        assert_eq!(leaders, [None, Some(0), Some(0), None]);
        let apart = vec![trace(), event("a"), led(event("b"), 1), sized(8)];
        assert_eq!(arranged(apart, None), Err(TraceError::SamplesOfLeader));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |requests, asked| arranged(requests, asked).unwrap_err();
        assert_eq!(
            refused(vec![event("a")], Some(0)),
            TraceError::NothingToSample
        );
        assert_eq!(
            refused(vec![trace(), event("a")], Some(0)),
            TraceError::NobodySamples
        );
        assert_eq!(
            refused(vec![trace(), sized(0)], None),
            TraceError::NobodySamples
        );
        let elsewhere = vec![event("a"), led(sized(8), 0), trace()];
        assert_eq!(refused(elsewhere, None), TraceError::SamplesElsewhere);
        let large = vec![trace(), led(sized(61441), 0)];
        assert_eq!(
            refused(large, None),
            TraceError::SampleTooBig { size: 61441 }
        );
        let mut itself = trace();
        itself.aux.sample_size = Some(8);
        assert_eq!(refused(vec![itself], None), TraceError::SamplesOfTrace);
        let acting = |mut request: EventRequest, action| {
            request.aux.action = Some(action);
            request
        };
        let alone = vec![acting(event("a"), AuxAction::Pause), trace()];
        assert_eq!(refused(alone, None), TraceError::ActsOnNothing);
        let begins = vec![trace(), acting(event("a"), AuxAction::StartPaused)];
        assert_eq!(refused(begins, None), TraceError::BeginsPaused);
        let itself = vec![acting(trace(), AuxAction::Resume)];
        assert_eq!(refused(itself, None), TraceError::ActsOnItself("resume"));
    }

    #[test]
    fn the_group_of_a_trace_comes_first() {
        let requests = vec![
            event("a"),
            event("b"),
            led(event("c"), 1),
            trace(),
            led(event("d"), 3),
        ];
        let moved = to_front(requests, 3);
        let shown: Vec<_> = moved.iter().map(|own| (&*own.name, own.leader)).collect();
        let expected = [
            ("pt", None),
            ("d", Some(0)),
            ("a", None),
            ("b", None),
            ("c", Some(3)),
        ];
        assert_eq!(shown, expected);
    }
}
