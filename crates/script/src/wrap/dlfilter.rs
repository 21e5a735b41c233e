//! `--dlfilter`: a shared object of the user's keeps samples or drops them. It runs in a process of its own.

use std::process::Child;
use std::sync::Arc;

use oxperf_abi::CpuMode;
use oxperf_dlfilter::{Client, FilterSample as Asked, ResolvedAddress as Told, Resolver, Which};
use oxperf_itrace::{CodeInstruction, Images};
use oxperf_machine::Machine;
use oxperf_resolve::{DsoAddressTable, Names};
use oxperf_session::{EventIndex, SampleEvent, SampleTextWriter, SessionEvent};
use oxperf_symbols::SymbolBinding;
use oxperf_wire::{Encoder, Endian, SampleWeight, StoredAttr};

use crate::error::ScriptError;
use crate::event_style::EventStyle;
use crate::format::{RecordingInfo, SampleFormat, Stage};
use crate::output::ScriptOutput;
use crate::view::SampleView;

/// A filter in its process.
pub struct Dlfilter {
    client: Client,
    child: Child,
    name: String,
    names: Arc<Names<'static>>,
    addresses: DsoAddressTable,
    images: Images,
    /// The attributes of the events, as the kernel lays them out.
    attributes: Vec<Vec<u8>>,
}

impl Dlfilter {
    /// The filter of this name, which `client` speaks to and `child` runs. Code comes from `images`.
    pub fn new(
        name: String,
        client: Client,
        child: Child,
        names: Arc<Names<'static>>,
        images: Images,
    ) -> Dlfilter {
        Dlfilter {
            client,
            child,
            name,
            names,
            addresses: DsoAddressTable::default(),
            images,
            attributes: Vec::new(),
        }
    }

    fn add_event(&mut self, event: &SessionEvent) {
        let mut encoder = Encoder::new(Endian::Little);
        let stored = StoredAttr {
            attr: event.attr,
            size: ATTRIBUTE_SIZE,
            extra: Vec::new(),
        };
        stored.encode(&mut encoder);
        self.attributes.push(encoder.into_bytes());
    }

    /// Whether the filter keeps a sample; what it prints goes out.
    fn keeps(
        &mut self,
        stage: Stage,
        view: &SampleView<'_>,
        filtered: bool,
        out: &mut Vec<u8>,
    ) -> Result<bool, ScriptError> {
        let event = view.event;
        let names_data = view.style.data_location.is_some();
        let sample = filter_sample(event, view.machine, &view.style.name, names_data);
        let attribute = self.attributes.get(event.event.0);
        let mut answers = Answers {
            machine: view.machine,
            event,
            names: &self.names,
            places: &mut self.addresses,
            images: &mut self.images,
            attribute: attribute.map_or(&[], Vec::as_slice),
            filtered,
            names_data,
        };
        let early = stage == Stage::Early;
        let decision = self.client.ask(early, &sample, &mut answers);
        let decision = decision.map_err(|error| ScriptError::dlfilter(&self.name, &error))?;
        out.extend_from_slice(&decision.printed);
        Ok(decision.keeps)
    }

    /// Ends the filter; gives what it printed.
    fn stop(mut self) -> Result<Vec<u8>, ScriptError> {
        let stopped = self.client.stop();
        let printed = stopped.map_err(|error| ScriptError::dlfilter(&self.name, &error))?;
        self.child.wait()?;
        Ok(printed)
    }
}

/// Shows the samples that a filter keeps; without one, all.
pub struct DlfilterFormat<F> {
    filter: Option<Dlfilter>,
    inner: F,
}

impl<F> DlfilterFormat<F> {
    /// Asks the filter about samples before `inner` gets them.
    pub fn new(filter: Option<Dlfilter>, inner: F) -> DlfilterFormat<F> {
        DlfilterFormat { filter, inner }
    }
}

impl<F: SampleFormat> SampleFormat for DlfilterFormat<F> {
    type Inner = F;

    fn inner(&mut self) -> Option<&mut F> {
        Some(&mut self.inner)
    }

    fn add_event(&mut self, event: &SessionEvent, style: &EventStyle) {
        if let Some(filter) = &mut self.filter {
            filter.add_event(event);
        }
        self.inner.add_event(event, style);
    }

    fn begin(
        &mut self,
        recording: &RecordingInfo<'_>,
        out: &mut ScriptOutput,
    ) -> Result<(), ScriptError> {
        if let Some(filter) = &mut self.filter {
            let printed = filter.client.take_printed();
            out.buffer().extend_from_slice(&printed);
        }
        self.inner.begin(recording, out)
    }

    #[inline]
    fn keeps(
        &mut self,
        stage: Stage,
        view: &SampleView<'_>,
        filtered: &mut dyn FnMut() -> bool,
        out: &mut ScriptOutput,
    ) -> Result<bool, ScriptError> {
        if let Some(filter) = &mut self.filter
            && filter.client.wants(stage == Stage::Early)
            && !filter.keeps(stage, view, filtered(), out.buffer())?
        {
            return Ok(false);
        }
        self.inner.keeps(stage, view, filtered, out)
    }

    fn text_writer<'w>(
        &mut self,
        event: EventIndex,
        styles: &[EventStyle],
    ) -> Option<Arc<dyn SampleTextWriter + 'w>>
    where
        Self: 'w,
    {
        if self.filter.is_none() {
            self.inner.text_writer(event, styles)
        } else {
            None
        }
    }

    fn close(&mut self, out: &mut ScriptOutput) -> Result<(), ScriptError> {
        if let Some(filter) = self.filter.take() {
            let printed = filter.stop()?;
            out.buffer().extend_from_slice(&printed);
        }
        self.inner.close(out)
    }
}

/// The size of the attribute that filters get: all that the kernel knows by now.
const ATTRIBUTE_SIZE: u32 = 136;

/// The sample as filters see it.
fn filter_sample(
    event: &SampleEvent<'_>,
    machine: &Machine,
    name: &str,
    names_data: bool,
) -> Asked {
    let sample = &event.sample;
    let thread = machine.thread_info(event.thread);
    let (weight, ins_lat, p_stage_cyc) = match sample.weight {
        Some(SampleWeight::Whole(weight)) => (weight, 0, 0),
        Some(SampleWeight::Parts { var1, var2, var3 }) => (var1.into(), var2, var3),
        None => (0, 0, 0),
    };
    Asked {
        ip: sample.ip.unwrap_or(0),
        pid: thread.pid.map_or(-1, |pid| pid.0),
        tid: thread.tid.0,
        // As perf has it for what was not recorded.
        time: sample.time.map_or(u64::MAX, |time| time.0),
        addr: sample.addr.unwrap_or(0),
        id: sample.id.map_or(u64::MAX, |id| id.0),
        stream_id: sample.stream_id.unwrap_or(u64::MAX),
        period: event.period,
        weight,
        ins_lat,
        p_stage_cyc,
        transaction: sample.transaction.unwrap_or(0),
        insn_cnt: event.traced.map_or(0, |traced| traced.instructions),
        cyc_cnt: event.traced.map_or(0, |traced| traced.cycles),
        cpu: sample.cpu.map_or(-1, |cpu| cpu.0 as i32),
        flags: event.traced.map_or(0, |traced| traced.flags.0),
        data_src: sample.data_src.unwrap_or(0),
        phys_addr: sample.phys_addr.unwrap_or(0),
        data_page_size: sample.data_page_size.unwrap_or(0),
        code_page_size: sample.code_page_size.unwrap_or(0),
        cgroup: sample.cgroup.unwrap_or(0),
        misc: event.misc.0,
        addr_correlates_sym: names_data,
        raw: sample.raw.map(<[u8]>::to_vec),
        branches: sample.branch_stack.map(|stack| {
            stack
                .entries()
                .map(|entry| [entry.from, entry.to, entry.flags])
                .collect()
        }),
        callchain: sample.callchain.map(|chain| chain.iter().collect()),
        event: name.to_owned(),
        machine_pid: 0,
        vcpu: 0,
    }
}

/// Answers questions about the sample at hand.
struct Answers<'a, 's> {
    machine: &'a Machine,
    event: &'a SampleEvent<'a>,
    names: &'a Names<'s>,
    places: &'a mut DsoAddressTable,
    images: &'a mut Images,
    attribute: &'a [u8],
    filtered: bool,
    names_data: bool,
}

impl Answers<'_, '_> {
    fn told(&mut self, mode: CpuMode, address: u64) -> Told {
        let place = self
            .places
            .locate(self.machine, self.event.thread, mode, address);
        let name = place.and_then(|(_, place)| self.names.name(self.machine.objects(), &place));
        let binding = place.zip(name).and_then(|((_, place), name)| {
            let table = self.names.table(self.machine.objects(), place.dso)?;
            table.symbol(name.symbol?).map(|symbol| symbol.binding)
        });
        let dso = place.map(|(_, place)| self.machine.dso(place.dso));
        Told {
            address: place.map_or(address, |(_, place)| place.address),
            symbol: name.map(|name| (name.text.to_owned(), name.start, name.end)),
            binding: match binding {
                Some(SymbolBinding::Global) => 1,
                Some(SymbolBinding::Weak) => 2,
                _ => 0,
            },
            dso: dso.map(|dso| dso.shown.clone()),
            is_64_bit: dso.is_some(),
            is_kernel: address >> 63 != 0,
            build_id: dso
                .and_then(|dso| dso.build_id)
                .map_or(Vec::new(), |id| id.as_bytes().to_vec()),
            comm: String::new(),
            filtered: false,
        }
    }
}

impl Resolver for Answers<'_, '_> {
    fn place(&mut self, which: Which) -> Option<Told> {
        let mode = self.event.misc.cpu_mode();
        let guess = |address| match self.machine.locate(self.event.thread, mode, address) {
            Some(_) => mode,
            None => self.machine.guess_mode(self.event.thread, address),
        };
        match which {
            Which::Ip => {
                let told = self.told(mode, self.event.sample.ip.unwrap_or(0));
                let comm = self.machine.comm_of(self.event.thread).to_owned();
                Some(Told {
                    comm,
                    filtered: self.filtered,
                    ..told
                })
            }
            Which::Addr if !self.names_data => None,
            Which::Addr => {
                let address = self.event.sample.addr.unwrap_or(0);
                Some(self.told(guess(address), address))
            }
            Which::Address(address) => Some(self.told(guess(address), address)),
        }
    }

    fn instruction(&mut self) -> Option<Vec<u8>> {
        if let Some(traced) = self.event.traced
            && let Some(instruction) = traced.code.instruction()
        {
            return Some(instruction.to_vec());
        }
        let ip = self.event.sample.ip?;
        let code = self.images.read(
            self.machine,
            self.event.thread,
            ip,
            CodeInstruction::LONGEST,
        );
        let found = CodeInstruction::first_of(&code.bytes, code.width)?;
        code.bytes.get(..found.length).map(<[u8]>::to_vec)
    }

    fn source_line(&mut self) -> Option<(String, u32)> {
        let (mode, ip) = (self.event.misc.cpu_mode(), self.event.sample.ip?);
        let (_, place) = self
            .places
            .locate(self.machine, self.event.thread, mode, ip)?;
        let line = self
            .names
            .source(self.machine.objects(), place.dso)?
            .line(place.address)?;
        Some((line.file.as_ref().to_owned(), line.line))
    }

    fn attribute(&mut self) -> Vec<u8> {
        self.attribute.to_vec()
    }

    fn code(&mut self, address: u64, length: u32) -> Option<Vec<u8>> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let code = self
            .images
            .read(self.machine, self.event.thread, address, length);
        Some(code.bytes).filter(|bytes| !bytes.is_empty())
    }
}
