//! `--dlfilter`: shared objects that decide which samples are shown. They run in a process of their own.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use clap::{Arg, ArgAction, ArgMatches};
use oxperf_abi::CpuMode;
use oxperf_dlfilter::{
    Client, DlfilterError, FilterSample as Asked, ResolvedAddress as Told, Resolver, Which,
};
use oxperf_itrace::{CodeInstruction, Images};
use oxperf_machine::Machine;
use oxperf_present::text::sanitize;
use oxperf_resolve::{DsoAddressTable, Names};
use oxperf_session::{SampleEvent, SessionEvent};
use oxperf_symbols::SymbolBinding;
use oxperf_wire::{Encoder, Endian, SampleWeight, StoredAttr};

use super::printer::Printer;
use crate::cmd::dlfilter_helper;
use crate::failure::Failure;
use crate::output::print_line;

/// The options.
pub(super) fn arguments() -> [Arg; 3] {
    [
        Arg::new("dlfilter")
            .long("dlfilter")
            .value_name("FILE.so")
            .help("Show the samples that a shared object with perf's dlfilter interface keeps"),
        Arg::new("dlarg")
            .long("dlarg")
            .value_name("TEXT")
            .allow_hyphen_values(true)
            .action(ArgAction::Append)
            .requires("dlfilter")
            .help("An argument for the filter; again for more"),
        Arg::new("list-dlfilters")
            .long("list-dlfilters")
            .action(ArgAction::SetTrue)
            .help("List the filters in this folder with what they say of themselves"),
    ]
}

/// A filter in its process.
pub(super) struct DlFilter {
    client: Client,
    child: Child,
    name: String,
    images: Images,
    /// The attributes of the events, as the kernel lays them out.
    attributes: Vec<Vec<u8>>,
}

impl DlFilter {
    /// Starts the filter that the options name, if any.
    pub(super) fn start(
        matches: &ArgMatches,
        images: impl FnOnce() -> Images,
    ) -> Result<Option<DlFilter>, Failure> {
        let Some(name) = matches.get_one::<String>("dlfilter") else {
            return Ok(None);
        };
        let arguments: Vec<String> = matches
            .get_many("dlarg")
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        let (ours, theirs) = UnixStream::pair()?;
        let mut command = helper(&located(name))?;
        let child = command.stdin(Stdio::from(OwnedFd::from(theirs))).spawn();
        let child = child
            .map_err(|error| Failure::new(format!("cannot run the process of {name}: {error}")))?;
        // The process has its end; ours alone must not keep it open.
        drop(command);
        let client = Client::start(ours, &arguments).map_err(|error| failure(name, &error))?;
        Ok(Some(DlFilter {
            client,
            child,
            name: name.clone(),
            images: images(),
            attributes: Vec::new(),
        }))
    }

    /// Takes the attribute of one more event.
    pub(super) fn add_event(&mut self, event: &SessionEvent) {
        let mut encoder = Encoder::new(Endian::Little);
        let stored = StoredAttr {
            attr: event.attr,
            size: ATTRIBUTE_SIZE,
            extra: Vec::new(),
        };
        stored.encode(&mut encoder);
        self.attributes.push(encoder.into_bytes());
    }

    /// What the filter printed when it started.
    pub(super) fn printed_at_start(&mut self) -> Vec<u8> {
        self.client.take_printed()
    }

    /// Ends the filter; gives what it printed.
    pub(super) fn stop(mut self) -> Result<Vec<u8>, Failure> {
        let printed = self
            .client
            .stop()
            .map_err(|error| failure(&self.name, &error))?;
        self.child.wait()?;
        Ok(printed)
    }
}

/// The size of the attribute that filters get: all that the kernel knows by now.
const ATTRIBUTE_SIZE: u32 = 136;

fn failure(name: &str, error: &DlfilterError) -> Failure {
    Failure::new(format!(
        "dlfilter {}: {}",
        sanitize(name),
        sanitize(&error.to_string())
    ))
}

/// This program, as the process of a filter.
fn helper(filter: &Path) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(dlfilter_helper::NAME).arg(filter);
    Ok(command)
}

/// A name alone is a file of this folder, if it is there.
fn located(name: &str) -> PathBuf {
    let here = Path::new(".").join(name);
    if !name.contains('/') && here.exists() {
        here
    } else {
        PathBuf::from(name)
    }
}

/// Lists the filters of this folder; each is loaded in a process of its own.
pub(super) fn list() -> Result<(), Failure> {
    print_line("List of available dlfilters:")?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(".")?
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    files.retain(|path| path.extension().is_some_and(|suffix| suffix == "so"));
    files.sort();
    for path in files {
        let output = helper(&path)?
            .arg("--describe")
            .stderr(Stdio::null())
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(line) = said.lines().next().filter(|_| output.status.success()) {
            print_line(&format!("  {:<36} {}", sanitize(&name), sanitize(line)))?;
        }
    }
    Ok(())
}

impl Printer<'_> {
    /// Whether the filter keeps a sample; what it prints goes out.
    pub(super) fn passes_dlfilter(
        &mut self,
        early: bool,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> Result<bool, Failure> {
        let Some(mut filter) = self.dlfilter.take() else {
            return Ok(true);
        };
        let asked = self.ask_dlfilter(&mut filter, early, machine, event);
        self.dlfilter = Some(filter);
        asked
    }

    fn ask_dlfilter(
        &mut self,
        filter: &mut DlFilter,
        early: bool,
        machine: &Machine,
        event: &SampleEvent<'_>,
    ) -> Result<bool, Failure> {
        if !filter.client.wants(early) {
            return Ok(true);
        }
        let filtered = !self.filter.takes_thread(machine, event.thread)
            || !self.symbols.asks_for_graph() && !self.takes_function(machine, event);
        let view = &self.views[event.event.0];
        let asked = asked(event, machine, &view.name, view.data_lines.is_some());
        let mut answers = Answers {
            machine,
            event,
            names: &self.names,
            places: &mut self.places,
            images: &mut filter.images,
            attribute: filter
                .attributes
                .get(event.event.0)
                .map_or(&[], Vec::as_slice),
            filtered,
            names_data: view.data_lines.is_some(),
        };
        let decision = filter.client.ask(early, &asked, &mut answers);
        let decision = decision.map_err(|error| failure(&filter.name, &error))?;
        self.output.buffer().extend_from_slice(&decision.printed);
        Ok(decision.keeps)
    }
}

/// A sample as filters see it.
fn asked(event: &SampleEvent<'_>, machine: &Machine, name: &str, names_data: bool) -> Asked {
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
        let code = self
            .event
            .traced
            .map(|traced| traced.code)
            .filter(|code| code.length > 0);
        if let Some(code) = code {
            return code
                .bytes
                .get(..usize::from(code.length))
                .map(<[u8]>::to_vec);
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
