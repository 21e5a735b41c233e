//! Counting and weighing the rows anew.

use oxperf_analysis::hist::{SortKey, histograms};
use oxperf_present::report::ReportText;

use super::Browser;
use crate::view::View;

impl Browser<'_> {
    pub(super) fn count(&mut self) {
        let text = self.narrowed();
        let tables = histograms(self.profile, &self.hist);
        let (profile, filter) = (self.profile, &self.filter);
        self.views = tables
            .into_iter()
            .map(|table| View::new(profile, table, &text, filter))
            .collect();
        let objects = self.objects;
        self.views
            .iter_mut()
            .for_each(|view| view.objects = objects);
        self.at = self.at.min(self.views.len().saturating_sub(1));
    }

    /// The columns without those that a zoom fixes, unless none would be left.
    pub(super) fn narrowed(&self) -> ReportText {
        let fixed: Vec<SortKey> = self
            .filter
            .zooms
            .iter()
            .filter_map(|zoom| zoom.fixed_key())
            .collect();
        let keys: Vec<SortKey> = self
            .text
            .keys()
            .filter(|key| !fixed.contains(key))
            .collect();
        if keys.is_empty() {
            self.text.clone()
        } else {
            self.text.clone().with_keys(keys)
        }
    }

    /// Orders the rows of groups by one of their events.
    pub(super) fn order_by_event(&mut self, nth: usize) {
        match self.view().map(|view| view.table.events.len()) {
            Some(events) if events > 1 && nth < events => {
                self.hist.order_by_event = nth;
                self.count();
                self.set_message(&format!("In order by event {nth}"));
            }
            _ => self.set_message("Digits choose among the events of a group"),
        }
    }

    /// Shows what rows are parts of all samples, or of those that are left.
    pub(super) fn switch_relative(&mut self) {
        self.filter.relative = !self.filter.relative;
        self.refilter();
        self.set_message(if self.filter.relative {
            "Percentages are of what is left"
        } else {
            "Percentages are of all samples"
        });
    }

    /// Shows the objects of calls, or does not.
    pub(super) fn switch_objects(&mut self) {
        self.objects = !self.objects;
        let objects = self.objects;
        self.views
            .iter_mut()
            .for_each(|view| view.objects = objects);
    }

    pub(super) fn refilter(&mut self) {
        let (profile, filter) = (self.profile, &self.filter);
        self.views
            .iter_mut()
            .for_each(|view| view.filter(profile, filter));
    }

    pub(super) fn switch_children(&mut self) {
        if !self.profile.events.iter().any(|event| event.has_callchains) {
            return self.set_message("The recording has no call chains");
        }
        self.hist.children = !self.hist.children;
        self.hist.order_by.clear();
        self.text = std::mem::take(&mut self.text).with_children(self.hist.children);
        self.count();
        self.set_message(if self.hist.children {
            "What functions called counts"
        } else {
            "Only what ran in functions counts"
        });
    }

    pub(super) fn sort(&mut self, names: &str) {
        let words: Vec<&str> = names
            .split([',', ' '])
            .filter(|name| !name.is_empty())
            .collect();
        let keys: Option<Vec<SortKey>> = words.iter().map(|name| SortKey::parse(name)).collect();
        let known = |key: &SortKey| {
            let always = [
                SortKey::Comm,
                SortKey::Dso,
                SortKey::Symbol,
                SortKey::Thread,
                SortKey::Process,
            ];
            always.contains(key) || self.text.keys().any(|known| known == *key)
        };
        match keys {
            Some(keys) if !keys.is_empty() && keys.iter().all(known) => {
                self.hist.keys.clone_from(&keys);
                self.hist.order_by.clear();
                self.text = std::mem::take(&mut self.text).with_keys(keys);
                self.filter.zooms.clear();
                self.count();
            }
            _ => self.set_message(&format!(
                "Rows cannot be told apart by '{names}' here: start with -s {names}"
            )),
        }
    }
}
