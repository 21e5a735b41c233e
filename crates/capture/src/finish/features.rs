//! The features that belong to a recording and not to its host, as far as they are known when it begins.

use oxperf_abi::{BranchSampleType, SampleType};
use oxperf_data::FeatureSet;
use oxperf_data::features::{
    BranchStack, CmdLine, GroupDesc, GroupEntry, TracingDataSection, Version,
};

use super::clock::ClockFacts;
use crate::plan::Plan;

/// The facts about a recording that are known when it begins.
pub(crate) struct RecordingFacts<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) command_line: &'a [String],
    pub(crate) tracing_data: Option<Vec<u8>>,
    /// None for the kernel's own clock.
    pub(crate) clock: Option<ClockFacts>,
}

/// Adds the features of a recording to those of its host.
pub(crate) fn add_recording_features(facts: RecordingFacts<'_>, features: &mut FeatureSet) {
    features.insert(&Version(env!("CARGO_PKG_VERSION").to_owned()));
    features.insert(&CmdLine(facts.command_line.to_vec()));
    if let Some(bytes) = facts.tracing_data {
        features.insert(&TracingDataSection(bytes));
    }
    if let Some(clock) = facts.clock {
        clock.add_to(features);
    }
    if has_branches(facts.plan) {
        features.insert(&BranchStack);
    }
    let groups = groups(facts.plan);
    if !groups.0.is_empty() {
        features.insert(&groups);
    }
}

/// Whether branches are sampled for their own sake, not as call chains.
fn has_branches(plan: &Plan) -> bool {
    plan.events.iter().any(|event| {
        let chains = event
            .attr
            .branch_sample_type
            .contains(BranchSampleType::CALL_STACK);
        event.attr.sample_type.contains(SampleType::BRANCH_STACK) && !chains
    })
}

fn groups(plan: &Plan) -> GroupDesc {
    let leaders = plan.events.iter().enumerate().filter_map(|(index, event)| {
        let members = plan
            .events
            .iter()
            .filter(|other| other.request.leader == Some(index))
            .count();
        let name = event
            .request
            .group_name
            .as_deref()
            .unwrap_or(GroupEntry::ANONYMOUS);
        (members > 0).then(|| GroupEntry {
            name: name.to_owned(),
            leader: index as u32,
            members: members as u32 + 1,
        })
    });
    GroupDesc(leaders.collect())
}
