//! `data convert --to-json`: the sink that writes every sample as an object.

use std::io;
use std::ops::ControlFlow;

use oxperf_abi::{EventType, SampleType};
use oxperf_machine::Machine;
use oxperf_present::json_export::{self, SampleHead, Samples, write_name, write_trace_field};
use oxperf_query::{Query, TimeWindows, formatters, unwinder};
use oxperf_resolve::{
    ChainOptions, Chains, DsoAddress, DsoAddressId, DsoAddressTable, Names, SymbolSource,
};
use oxperf_session::{EventTable, NoSink, SampleEvent, Sink};
use oxperf_tracepoint::{Formatter, Formatters};

use super::{Converted, Request};
use crate::failure::Failure;
use crate::input::{report_chains, report_trouble};
use crate::output::Output;
use crate::texts::Texts;
use crate::{arguments, symbol_source};

/// Writes the file.
pub(super) fn run(request: &Request<'_>) -> Result<Converted, Failure> {
    let input = request.input;
    let reader = input.reader()?;
    let symbols = arguments::symbols::options(request.matches);
    let names = symbol_source::open(&symbols, &reader)?;
    let times = request.times(&reader)?;
    let formatters = formatters(&reader);
    let progress = input.progress(false);
    // As perf's: no guests, no samples of hardware trace, and threads end as they were recorded.
    let query = Query {
        jit_logs: Some(&symbols.search_paths),
        progress: Some(&progress),
        ..Query::default()
    };
    let walk = query.start(&reader);
    let mut output = Output::new(request.create_file()?);
    json_export::begin(output.buffer(), &reader, input.modified());
    let chains = Chains::new(
        ChainOptions::default(),
        unwinder(&symbols.search_paths, &reader),
    );
    let mut writer = Writer::new(output, walk.events(), (&formatters, &names), chains, times);
    let finished = walk
        .run(&mut writer)
        .map_err(|error| input.refuse(&error))?;
    let losses = writer.chains.losses();
    let converted = writer.finish()?;
    report_trouble(&finished.diagnostics);
    report_chains(&losses);
    symbol_source::keep(&names);
    symbol_source::report_nameless(names.otherwise());
    Ok(converted)
}

/// The sink.
struct Writer<'s> {
    output: Output,
    failed: Option<io::Error>,
    samples: Samples,
    places: DsoAddressTable,
    texts: Texts,
    names: Names<'s>,
    /// How each event's raw data are read.
    formatters: Vec<Option<&'s Formatter>>,
    /// Whether any event records the CPU.
    with_cpu: bool,
    times: Option<TimeWindows>,
    /// The addresses of a sample with their places.
    chain: Vec<(u64, Option<(DsoAddressId, DsoAddress)>)>,
    fields: Vec<u8>,
    chains: Chains,
    converted: u64,
    skipped: u64,
}

impl<'s> Writer<'s> {
    fn new(
        output: Output,
        events: &EventTable,
        (formatters, source): (&'s Formatters, &'s dyn SymbolSource),
        chains: Chains,
        times: Option<TimeWindows>,
    ) -> Writer<'s> {
        let attrs = || events.events().iter().map(|event| event.attr);
        let formatter = |kind, config| {
            formatters
                .get(config)
                .filter(|_| kind == EventType::TRACEPOINT)
        };
        Writer {
            output,
            failed: None,
            samples: Samples::default(),
            places: DsoAddressTable::default(),
            texts: Texts::default(),
            names: Names::new(source),
            formatters: attrs()
                .map(|attr| formatter(attr.kind, attr.config))
                .collect(),
            with_cpu: attrs().any(|attr| attr.sample_type.contains(SampleType::CPU)),
            times,
            chain: Vec::new(),
            fields: Vec::new(),
            chains,
            converted: 0,
            skipped: 0,
        }
    }

    fn finish(mut self) -> Result<Converted, Failure> {
        if let Some(error) = self.failed {
            return Err(error.into());
        }
        self.samples.end(self.output.buffer());
        let bytes = self.output.finish()?;
        Ok(Converted {
            bytes,
            samples: self.converted,
            others: None,
            skipped: self.skipped,
        })
    }

    /// The addresses of the sample's call chain, or its own where it has none.
    fn locate(&mut self, machine: &Machine, event: &SampleEvent<'_>) {
        self.chain.clear();
        let (places, chain) = (&mut self.places, &mut self.chain);
        let mut add = |mode, ip| chain.push((ip, places.locate(machine, event.thread, mode, ip)));
        let mode = event.misc.cpu_mode();
        if event.sample.callchain.is_none() {
            return add(mode, event.sample.ip.unwrap_or(0));
        }
        self.chains
            .of(machine, event)
            .addresses
            .iter()
            .for_each(|(mode, ip)| add(*mode, *ip));
    }

    fn write_chain(&mut self, machine: &Machine) {
        let (names, out) = (&self.names, self.output.buffer());
        for (ip, place) in &self.chain {
            let name = match place {
                Some((id, place)) => self
                    .texts
                    .get(id.0, |text| render(place, names, machine, text)),
                None => &[],
            };
            self.samples.place(out, *ip, name);
        }
    }

    fn read_fields(&mut self, event: &SampleEvent<'_>) {
        self.fields.clear();
        let fields = &mut self.fields;
        if let (Some(raw), Some(formatter)) = (event.sample.raw, self.formatters[event.event.0]) {
            formatter.each_text(raw, |field, text| {
                write_trace_field(fields, &field.name, text)
            });
        }
    }

    fn write(&mut self, machine: &Machine, event: &SampleEvent<'_>) -> io::Result<()> {
        self.locate(machine, event);
        self.read_fields(event);
        let thread = machine.thread_info(event.thread);
        let head = SampleHead {
            time: event.sample.time.map(|time| time.0),
            pid: thread.pid.map_or(-1, |pid| pid.0),
            tid: thread.tid.0,
            cpu: self.with_cpu.then(|| event.sample.cpu.map(|cpu| cpu.0)),
            comm: machine.comm_of(event.thread),
        };
        self.samples.begin(self.output.buffer(), &head);
        self.write_chain(machine);
        self.samples.end_sample(self.output.buffer(), &self.fields);
        self.converted += 1;
        self.output.settle()
    }
}

#[cold]
fn render(place: &DsoAddress, names: &Names<'_>, machine: &Machine, out: &mut Vec<u8>) {
    if let Some(name) = names.name(machine.objects(), place) {
        write_name(out, name.text, &machine.dso(place.dso).short_name);
    }
}

impl Sink for Writer<'_> {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn wants_batches(&mut self) -> bool {
        self.chains.wants_batches()
    }

    fn prefetch(&mut self, machine: &Machine, samples: &[SampleEvent<'_>]) {
        self.chains.prefetch(machine, samples);
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if !self
            .times
            .as_ref()
            .is_none_or(|times| times.take(event.sample.time))
        {
            self.skipped += 1;
            return ControlFlow::Continue(());
        }
        match self.write(machine, event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failed = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}
