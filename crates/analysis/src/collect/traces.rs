//! The texts of tracepoints' records, each kept once.

use oxperf_machine::Machine;
use oxperf_resolve::{KernelNames, Names};
use oxperf_session::SampleEvent;
use oxperf_tracepoint::Formatters;
use rustc_hash::FxHashMap;

use crate::profile::TraceId;

/// What stands for the text of a sample of no tracepoint.
const NO_RECORD: &[u8] = b"N/A";

/// The texts so far.
#[derive(Default)]
pub(super) struct Traces<'s> {
    formats: Option<&'s Formatters>,
    texts: Vec<String>,
    ids: FxHashMap<Vec<u8>, TraceId>,
    scratch: Vec<u8>,
}

impl<'s> Traces<'s> {
    pub(super) fn new(formats: &'s Formatters) -> Traces<'s> {
        Traces { formats: Some(formats), ..Traces::default() }
    }

    /// The text of a sample, `N/A` of one without a record; `None` when nobody asks for texts.
    #[inline]
    pub(super) fn of(
        &mut self,
        event: &SampleEvent<'_>,
        names: &mut Names<'_>,
        machine: &Machine,
    ) -> Option<TraceId> {
        let formats = self.formats?;
        self.scratch.clear();
        match event.sample.raw {
            Some(raw) => {
                names.grow(machine);
                formats.format(raw, &KernelNames::new(names, machine), &mut self.scratch);
            }
            None => self.scratch.extend_from_slice(NO_RECORD),
        }
        if let Some(known) = self.ids.get(&self.scratch) {
            return Some(*known);
        }
        let id = TraceId(self.texts.len() as u32);
        self.texts.push(String::from_utf8_lossy(&self.scratch).into_owned());
        self.ids.insert(self.scratch.clone(), id);
        Some(id)
    }

    pub(super) fn into_texts(self) -> Vec<String> {
        self.texts
    }
}
