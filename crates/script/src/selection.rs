//! The samples that are shown: by time, CPU, thread and function, between switching events, up to a limit.

use oxperf_machine::Machine;
use oxperf_session::SampleEvent;

use crate::functions::FunctionFilter;
use crate::view::SampleView;
use oxperf_query::Filter;
use oxperf_query::Switching;

/// Judges samples.
pub struct Selection {
    /// Times, CPUs and threads.
    pub filter: Filter,
    /// Functions and objects.
    pub functions: FunctionFilter,
    /// The events between which samples count.
    pub switching: Switching,
    /// Samples that may still be shown.
    pub remaining: Option<u64>,
}

impl Selection {
    /// Whether a sample is shown as far as its thread and its function go, and where samples are switched on.
    #[inline]
    pub fn takes(&mut self, view: &SampleView<'_>) -> bool {
        self.filter.takes_thread(view.machine, view.event.thread)
            && self.functions.takes(view)
            && self.switching.takes(view.event.event)
    }

    /// Whether a sample is left out by its thread or its function, as a filter of the user's is to know; calls are not
    /// followed for that.
    pub fn leaves_out(&mut self, view: &SampleView<'_>) -> bool {
        !self.filter.takes_thread(view.machine, view.event.thread)
            || !self.functions.choice.asks_for_graph() && !self.functions.takes(view)
    }

    /// Whether samples that come as text are judged by their threads and CPUs alone.
    pub fn takes_any_text(&self) -> bool {
        self.remaining.is_none()
            && self.switching.takes_all()
            && self.filter.times_pass()
            && !self.functions.choice.asks_anything()
    }

    /// Whether the samples of a text are shown, which have their thread and CPU in common.
    pub fn takes_text(&self, machine: &Machine, common: &SampleEvent<'_>) -> bool {
        self.filter.takes(machine, common)
    }
}
