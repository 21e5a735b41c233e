//! The values that a row shows: those of its first sample.

use oxperf_profile::{ChainOrder, Frame, FrameId, Level, SampleGroup};

use super::counted_rows::CountedRow;
use super::level::{FirstSample, shown_level};
use super::location::Location;
use super::table::Row;
use super::table_context::TableContext;

/// The values of a row.
pub(crate) fn row(context: &TableContext<'_>, row: &CountedRow) -> Row {
    let profile = context.profile();
    let location = context.shared.locations.get(row.location);
    let group = context.group(row.member as usize, row.first);
    let (frame, level) = if group.branch.is_some() {
        let own = profile.frames.get(group.frame.index());
        let level = own.map_or(Level::User, |own| own.level);
        (group.counted_at(&profile.branches), level)
    } else {
        (location.frame, level(context, row, group, location.frame))
    };
    Row {
        thread: row.thread(),
        comm: group.comm,
        detail: group.detail,
        branch: group.branch,
        frame,
        address: first_address(context, row, group, location),
        level,
    }
}

/// The address at which the first sample of a row was in it. As in perf it is the recorded one where the sample was
/// called from there, and else that in the object.
fn first_address(
    context: &TableContext<'_>,
    row: &CountedRow,
    group: &SampleGroup,
    location: Location,
) -> u64 {
    let profile = context.profile();
    let locations = &context.shared.locations;
    let frame = |id: FrameId| profile.frames.get(id.index());
    let is_kept_apart = |frame: &Frame| frame.alone && frame.symbol.is_some();
    if !frame(location.frame).is_some_and(is_kept_apart) {
        return location.address;
    }
    let own = group.counted_at(&profile.branches);
    if locations.own(own) == Some(row.location) {
        return frame(own).map_or(location.address, |frame| frame.dso_address);
    }
    let mut callers = profile.chains.path_to_root(group.chain);
    let is_row = |id: &FrameId| locations.called(*id) == Some(row.location);
    let met = match context.scope.order {
        ChainOrder::Callee => callers.find(is_row),
        ChainOrder::Caller => callers.filter(is_row).last(),
    };
    met.and_then(frame)
        .map_or(location.address, |frame| frame.address)
}

fn level(
    context: &TableContext<'_>,
    row: &CountedRow,
    group: &SampleGroup,
    frame: FrameId,
) -> Level {
    let locations = &context.shared.locations;
    let is_row = |id| locations.called(id) == Some(row.location);
    let first = FirstSample {
        group,
        ran_there: locations.own(group.frame) == Some(row.location),
        passed_object: row.passed_object,
    };
    shown_level(
        context.profile(),
        &first,
        frame,
        context.scope.order,
        is_row,
    )
}
