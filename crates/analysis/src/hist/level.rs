//! The letter before a row's symbol.
//!
//! perf 7.2 takes it from the first sample that added to the row. Where that sample was called from the row and did
//! not run in it, an address with an object counts as a user's whatever it is; one without an object gets the letter
//! that stood before it: the sample's own, or a user's once the chain has passed an object.

use super::callgraph::Order;
use crate::profile::{Frame, FrameId, Level, Profile, SampleGroup};

/// The level that a row shows whose first sample is `group`.
pub(crate) fn shown_level(
    profile: &Profile,
    group: &SampleGroup,
    row_frame: FrameId,
    ran_there: bool,
    order: Order,
    is_row: impl Fn(FrameId) -> bool,
) -> Level {
    let own = frame(profile, group.frame).map_or(Level::User, |frame| frame.level);
    if ran_there {
        return own;
    }
    let placed = |id: FrameId| frame(profile, id).is_some_and(|frame| frame.dso.is_some());
    if placed(row_frame) {
        return Level::User;
    }
    let path = profile.chains.path_to_root(group.chain);
    let passed_object = match order {
        Order::Callee => path.take_while(|&id| !is_row(id)).any(placed),
        Order::Caller => {
            let mut path: Vec<FrameId> = path.collect();
            path.reverse();
            path.into_iter().take_while(|&id| !is_row(id)).any(placed)
        }
    };
    if passed_object { Level::User } else { own }
}

fn frame(profile: &Profile, id: FrameId) -> Option<&Frame> {
    profile.frames.get(id.index())
}
