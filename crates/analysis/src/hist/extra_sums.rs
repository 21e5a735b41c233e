//! The sums of a row beside its weights: counted sample group by sample group, for reports that show them.

use oxperf_profile::{Detail, Level, SampleGroup};
use rustc_hash::FxHashMap;

use super::branch_histories::BranchHistories;
use super::count::Counted;
use super::counted_rows::{CountedRows, RowKey};
use super::measure::PrivilegeMode;
use super::table::Extra;
use super::table_context::TableContext;

/// Counts the other sums of all rows.
pub(crate) fn count(context: &TableContext<'_>, counted: &[Counted], rows: &mut CountedRows) {
    count_samples(context, counted, rows);
    count_branches(context, counted, rows);
}

fn count_samples(context: &TableContext<'_>, counted: &[Counted], rows: &mut CountedRows) {
    let width = context.events.len();
    let mut extras = vec![Extra::default(); rows.cells.len()];
    let indices: FxHashMap<RowKey, usize> = rows.keys().zip(0..).collect();
    let shared = context.shared;
    for (member, counted) in counted.iter().enumerate() {
        for placed in &counted.groups {
            let group = context.group(member, placed.group);
            let at = group.counted_at(&context.profile().branches);
            let location = shared.locations.own(at);
            let row = location.and_then(|location| indices.get(&(placed.task, location)));
            if let Some(extra) = row.and_then(|row| extras.get_mut(row * width + member)) {
                add(context, group, extra);
            }
        }
    }
    rows.extras = extras;
}

/// Adds a sample group to the sums of its row.
fn add(context: &TableContext<'_>, group: &SampleGroup, extra: &mut Extra) {
    let profile = context.profile();
    let frame = profile.frames.get(group.frame.index());
    if let Some(mode) = frame.and_then(|frame| mode(frame.level)) {
        let sum = &mut extra.modes[mode as usize];
        *sum = sum.wrapping_add(group.period);
    }
    let details = &profile.details;
    for (sum, weight) in extra.weights.iter_mut().zip(Detail::WEIGHTS) {
        let weight = details.value(group.detail, weight).unwrap_or(0);
        *sum = sum.wrapping_add(weight.wrapping_mul(group.samples));
    }
    if let Some(access) = details.access(group.detail) {
        let by_kind = extra.by_kind.get_or_insert_default();
        by_kind.count(access.source, group.period);
    }
}

/// Counts the branches in chains.
fn count_branches(context: &TableContext<'_>, counted: &[Counted], rows: &mut CountedRows) {
    let width = context.events.len();
    for (member, counted) in counted.iter().enumerate() {
        let event = context.event(member);
        let histories = BranchHistories::new(context.shared, event, counted, context.scope);
        let extras = rows.extras.iter_mut().skip(member).step_by(width);
        for (row, extra) in rows.list.iter().zip(extras) {
            extra.passed = histories.of_row(row.key());
        }
    }
}

/// The mode that a level counts for.
fn mode(level: Level) -> Option<PrivilegeMode> {
    match level {
        Level::Kernel => Some(PrivilegeMode::System),
        Level::User => Some(PrivilegeMode::User),
        Level::GuestKernel => Some(PrivilegeMode::GuestSystem),
        Level::GuestUser => Some(PrivilegeMode::GuestUser),
        Level::Hypervisor => None,
    }
}
