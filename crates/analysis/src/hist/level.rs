//! The letter before a row's symbol.
//!
//! perf 7.2 takes it from the first sample that added to the row. Where that sample was called from the row and did
//! not run in it, an address with an object counts as a user's whatever it is; one without an object gets the letter
//! that stood before it: the sample's own, or a user's once the chain has passed an object.

use oxperf_profile::ChainOrder;
use oxperf_profile::{Frame, FrameId, Level, Profile, SampleGroup};

/// The first sample of a row.
pub(crate) struct FirstSample<'a> {
    pub(crate) group: &'a SampleGroup,
    /// True if the sample ran in the row.
    pub(crate) ran_there: bool,
    /// True if its chain, read from its outermost frame, came through an object before the row.
    pub(crate) passed_object: bool,
}

/// The level that a row shows.
pub(crate) fn shown_level(
    profile: &Profile,
    first: &FirstSample<'_>,
    row_frame: FrameId,
    order: ChainOrder,
    is_row: impl Fn(FrameId) -> bool,
) -> Level {
    let own = frame(profile, first.group.frame).map_or(Level::User, |frame| frame.level);
    if first.ran_there {
        return own;
    }
    let placed = |id: FrameId| frame(profile, id).is_some_and(|frame| frame.dso.is_some());
    if placed(row_frame) {
        return Level::User;
    }
    let passed_object = match order {
        ChainOrder::Callee => profile
            .chains
            .path_to_root(first.group.chain)
            .take_while(|&id| !is_row(id))
            .any(placed),
        ChainOrder::Caller => first.passed_object,
    };
    if passed_object { Level::User } else { own }
}

fn frame(profile: &Profile, id: FrameId) -> Option<&Frame> {
    profile.frames.get(id.index())
}
