//! The JSON of `data convert --to-json`: one object with the header and every sample.

use std::io;
use std::sync::Arc;

use oxperf_abi::{EventType, SampleType};
use oxperf_present::json_export::{self, SampleHead, Samples, write_name, write_trace_field};
use oxperf_resolve::{DsoAddressTable, Names};
use oxperf_tracepoint::Formatters;

use crate::chain_use::ChainUse;
use crate::error::ScriptError;
use crate::event_style::EventStyle;
use crate::format::{NoFormat, RecordingInfo, RunTotals, SampleFormat};
use crate::output::ScriptOutput;
use crate::text_arena::TextArena;
use crate::view::SampleView;

/// Writes samples as objects in an array.
pub struct PerfJsonFormat<'s> {
    names: Arc<Names<'static>>,
    formatters: &'s Formatters,
    samples: Samples,
    addresses: DsoAddressTable,
    /// The names of addresses, by their numbers.
    texts: TextArena,
    /// The configuration of each event that is a tracepoint.
    tracepoints: Vec<Option<u64>>,
    /// `true` where any event records the CPU.
    with_cpu: bool,
    fields: Vec<u8>,
}

impl<'s> PerfJsonFormat<'s> {
    /// Objects with these names.
    pub fn new(names: Arc<Names<'static>>, formatters: &'s Formatters) -> PerfJsonFormat<'s> {
        PerfJsonFormat {
            names,
            formatters,
            samples: Samples::default(),
            addresses: DsoAddressTable::default(),
            texts: TextArena::default(),
            tracepoints: Vec::new(),
            with_cpu: false,
            fields: Vec::new(),
        }
    }

    fn write_chain(&mut self, view: &SampleView<'_>, out: &mut Vec<u8>) {
        let (machine, thread) = (view.machine, view.event.thread);
        let own = [(view.mode(), view.ip_or_zero())];
        let chain = view.chain.map_or(&own[..], |chain| chain.addresses);
        for &(mode, ip) in chain {
            let located = self.addresses.locate(machine, thread, mode, ip);
            let names = &self.names;
            let name = located.map_or(&[][..], |(id, address)| {
                self.texts.get(id.0, |text| {
                    if let Some(name) = names.name(machine.objects(), &address) {
                        write_name(text, name.text, &machine.dso(address.dso).short_name);
                    }
                })
            });
            self.samples.place(out, ip, name);
        }
    }

    fn read_fields(&mut self, view: &SampleView<'_>) {
        self.fields.clear();
        let fields = &mut self.fields;
        let config = self.tracepoints[view.event.event.0];
        let formatter = config.and_then(|config| self.formatters.get(config));
        if let (Some(raw), Some(formatter)) = (view.sample().raw, formatter) {
            formatter.each_text(raw, |field, text| {
                write_trace_field(fields, &field.name, text);
            });
        }
    }
}

impl SampleFormat for PerfJsonFormat<'_> {
    type Inner = NoFormat;

    fn inner(&mut self) -> Option<&mut NoFormat> {
        None
    }

    fn chain_use(&mut self, _: &EventStyle) -> ChainUse {
        ChainUse::WhereRecorded
    }

    fn begin(
        &mut self,
        recording: &RecordingInfo<'_>,
        out: &mut ScriptOutput,
    ) -> Result<(), ScriptError> {
        for event in recording.events.events() {
            let traced = event.attr.kind == EventType::TRACEPOINT;
            self.tracepoints.push(traced.then_some(event.attr.config));
            self.with_cpu |= event.attr.sample_type.contains(SampleType::CPU);
        }
        json_export::begin(out.buffer(), recording.reader, recording.modified);
        Ok(())
    }

    fn sample(&mut self, view: &SampleView<'_>, out: &mut ScriptOutput) -> io::Result<()> {
        let sample = view.sample();
        self.read_fields(view);
        let head = SampleHead {
            time: sample.time.map(|time| time.0),
            pid: view.pid(),
            tid: view.tid(),
            cpu: self.with_cpu.then(|| sample.cpu.map(|cpu| cpu.0)),
            comm: view.comm(),
        };
        self.samples.begin(out.buffer(), &head);
        self.write_chain(view, out.buffer());
        self.samples.end_sample(out.buffer(), &self.fields);
        Ok(())
    }

    fn end(&mut self, _: &RunTotals<'_>, out: &mut ScriptOutput) {
        std::mem::take(&mut self.samples).end(out.buffer());
    }
}
