//! The context of a table that is built: its events, and what all tables of a report share.

use oxperf_profile::{EventProfile, Profile, SampleGroup};

use super::HistOptions;
use super::count::{Scope, Shared};
use super::key::SortKey;
use super::rows::GroupIndex;

/// The context of a table.
#[derive(Clone, Copy)]
pub(crate) struct TableContext<'a> {
    pub(crate) shared: &'a Shared<'a>,
    /// The events of the table, as indices of the profile's.
    pub(crate) events: &'a [usize],
    pub(crate) options: &'a HistOptions,
    pub(crate) scope: Scope,
}

impl<'a> TableContext<'a> {
    pub(crate) fn profile(&self) -> &'a Profile {
        self.shared.profile
    }

    /// One of the table's events.
    pub(crate) fn event(&self, member: usize) -> &'a EventProfile {
        &self.profile().events[self.events[member]]
    }

    /// A sample group of one of the table's events.
    #[inline]
    pub(crate) fn group(&self, member: usize, group: GroupIndex) -> &'a SampleGroup {
        &self.event(member).groups[group as usize]
    }

    /// True if the events stand for a group.
    pub(crate) fn is_grouped(&self) -> bool {
        self.options.group && self.event(0).group.is_some()
    }

    /// True if the table has a key: fields of tracepoints are those of its events.
    pub(crate) fn has(&self, key: SortKey) -> bool {
        let SortKey::Field(number) = key else {
            return true;
        };
        let field = self.profile().details.fields.get(usize::from(number));
        field.is_some_and(|field| self.events.contains(&field.event))
    }

    /// True if the lengths of chains count in the order of rows.
    pub(crate) fn orders_by_chains(&self) -> bool {
        self.scope.children && self.options.call_graph.is_some()
    }
}
