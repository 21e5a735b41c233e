//! Latencies of retirement that were published for the CPU that counts, for where no samples tell them.

use oxperf_capture::EventRequest;
use oxperf_capture::count::LatencyChoice;
use oxperf_pmu_events::RetireLatency;

/// Gives the events whose latencies are shown the published ones of a CPU.
pub(super) fn publish(requests: &mut [EventRequest], cpu_id: &str, choice: LatencyChoice) {
    for request in requests.iter_mut().filter(|own| own.retire_latency) {
        let published = RetireLatency::published(cpu_id, event_of(&request.name));
        request.published_latency = published.map(|own| shown(own, choice));
    }
}

fn shown(published: RetireLatency, choice: LatencyChoice) -> u64 {
    match choice {
        // Nobody publishes the last one.
        LatencyChoice::Mean | LatencyChoice::Last => published.mean.round() as u64,
        LatencyChoice::Minimum => published.least,
        LatencyChoice::Maximum => published.greatest,
    }
}

/// The event in a name: `cpu/inst_retired.any,period=9/R`, `inst_retired.any:R`.
fn event_of(name: &str) -> &str {
    let event = match name.split_once('/') {
        Some((_, terms)) => terms,
        None => name,
    };
    event.split([',', '/', ':']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use oxperf_abi::SoftwareId;

    use super::*;

    #[test]
    fn events_have_what_was_published_for_their_cpu() {
        let name = "cpu/MEM_LOAD_L3_HIT_RETIRED.XSNP_NO_FWD,period=7/R";
        let published = |choice, retire_latency| {
            let mut requests = [EventRequest {
                retire_latency,
                ..EventRequest::software(SoftwareId::Dummy, name)
            }];
            publish(&mut requests, "GenuineIntel-6-AD-1", choice);
            requests[0].published_latency
        };
        assert_eq!(published(LatencyChoice::Mean, true), Some(290));
        assert_eq!(published(LatencyChoice::Last, true), Some(290));
        assert_eq!(published(LatencyChoice::Minimum, true), Some(0));
        assert_eq!(published(LatencyChoice::Maximum, true), Some(3939));
        assert_eq!(published(LatencyChoice::Mean, false), None);
        assert_eq!(event_of("inst_retired.any:upR"), "inst_retired.any");
    }
}
