//! `buildid-list`: the binaries of a recording with their identities.

mod arguments;

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;

use oxperf_abi::BuildId;
use oxperf_capture::synthesize::{KernelMap, LoadedModule, ProcDir, loaded_modules};
use oxperf_data::features::BuildIds;
use oxperf_data::{FeatureId, Reader};
use oxperf_machine::{Dso, DsoId, DsoKind, Machine};
use oxperf_objects::Elf;
use oxperf_objects::running_kernel_build_id;
use oxperf_present::recording::buildid_list;
use oxperf_present::text::sanitize;
use oxperf_query::{Query, SymbolOptions, unwinder};
use oxperf_resolve::{ChainOptions, Chains};
use oxperf_session::{NoSink, SampleEvent, Sink};
use oxperf_sys::MappedFile;

use crate::cmd::Entry;
use crate::failure::{Failure, code};
use crate::input::{Input, InputOptions};
use crate::losses::report_trouble;
use crate::output::print_line;
use crate::pager::{self, Habit};

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "buildid-list",
    command: arguments::command,
    run: |matches, invocation| {
        let options = arguments::options(matches, &invocation.configuration);
        let _pager = pager::start(invocation, "buildid-list", Habit::Paged);
        run(&options)
    },
    shares_work: true,
};

/// The options of `buildid-list`.
struct BuildIdListOptions {
    subject: Subject,
    input: InputOptions,
    symbols: SymbolOptions,
    /// The binaries alone that have samples.
    with_hits: bool,
}

/// The owner of the listed build ids.
enum Subject {
    Recording,
    /// The running kernel, without its addresses.
    RunningKernel,
    /// The running kernel and its modules, with their addresses.
    KernelMaps,
}

/// Runs `buildid-list`.
fn run(options: &BuildIdListOptions) -> Result<i32, Failure> {
    match options.subject {
        Subject::Recording => recording(options),
        Subject::RunningKernel => {
            let id = running_kernel_build_id();
            let id = id.ok_or_else(|| Failure::new("the running kernel tells no build id"))?;
            print_line(&id.to_string())?;
            Ok(code::SUCCESS)
        }
        Subject::KernelMaps => kernel_maps(),
    }
}

fn recording(options: &BuildIdListOptions) -> Result<i32, Failure> {
    let named = options.input.path.as_deref().map(Path::new);
    if let Some(id) = named.and_then(elf_build_id) {
        print_line(&id.to_string())?;
        return Ok(code::SUCCESS);
    }
    let input = Input::new(&options.input)?;
    let reader = input.reader()?;
    let binaries = binaries(&options.symbols, &input, &reader, options.with_hits)?;
    let binaries: Vec<(Option<BuildId>, &str)> = binaries
        .iter()
        .map(|(id, name)| (*id, name.as_str()))
        .collect();
    let mut text = String::new();
    buildid_list::write(&mut text, &binaries);
    let mut output = crate::output::stdout();
    output.write_all(text.as_bytes())?;
    output.finish()?;
    Ok(code::SUCCESS)
}

/// Shows where the running kernel and its modules lie.
fn kernel_maps() -> Result<i32, Failure> {
    let root = Path::new("/");
    let kernel = KernelMap::read(&ProcDir::new(&root.join("proc")))
        .map_err(|error| Failure::new(error.to_string()))?;
    let std::ops::Range { start, end } = kernel.range();
    let (name, build_id) = ("[kernel.kallsyms]".to_owned(), running_kernel_build_id());
    let kernel = LoadedModule {
        name,
        start,
        end,
        build_id,
    };
    for LoadedModule {
        name,
        start,
        end,
        build_id,
    } in std::iter::once(kernel).chain(loaded_modules(root))
    {
        let id = build_id.map(|id| id.to_string()).unwrap_or_default();
        print_line(&format!("{id} {start:16x} {end:16x} {}", sanitize(&name)))?;
    }
    Ok(code::SUCCESS)
}

/// A binary's identity and name.
pub(super) type Binary = (Option<BuildId>, String);

/// The binaries that the recorder listed, or those that samples hit where there is no list or `with_hits` asks for them.
pub(super) fn binaries(
    symbols: &SymbolOptions,
    input: &Input,
    reader: &Reader<'_>,
    with_hits: bool,
) -> Result<Vec<Binary>, Failure> {
    // What trace of instructions hits is not known before it is decoded: then all of the table counts.
    let traced = reader.features().bits().contains(FeatureId::AUXTRACE);
    let with_hits = with_hits && !traced;
    let table = reader
        .features()
        .get::<BuildIds>()
        .ok()
        .flatten()
        .filter(|_| !with_hits);
    match table {
        Some(table) => Ok(table
            .0
            .into_iter()
            .map(|entry| (Some(entry.build_id), entry.name))
            .collect()),
        None => hit_binaries(symbols, input, reader),
    }
}

/// The build id of a file that is no recording but an ELF file.
fn elf_build_id(path: &Path) -> Option<BuildId> {
    // Opening a FIFO would wait for somebody to write.
    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let image = MappedFile::open(path).ok()?;
    Elf::parse(image.as_ref()).ok()?.build_id()
}

/// Without a table, the mappings tell the identities: of the binaries that samples hit.
fn hit_binaries(
    symbols: &SymbolOptions,
    input: &Input,
    reader: &Reader<'_>,
) -> Result<Vec<Binary>, Failure> {
    let unwinder = unwinder(&symbols.search_paths, reader);
    let mut hits = Hits {
        chains: Chains::new(ChainOptions::default(), unwinder),
        hit: Vec::new(),
    };
    let progress = input.progress(false);
    // The mappings alone say what was hit: neither guests, logs of JIT compilers nor trace name further binaries, and
    // a thread's end is as it was recorded.
    let query = Query {
        progress: Some(&progress),
        ..Query::default()
    };
    let finished = query
        .start(reader)
        .run(&mut hits)
        .map_err(|error| input.refuse(&error))?;
    drop(progress);
    report_trouble(&finished.diagnostics);
    let dsos = finished
        .machine
        .objects()
        .dsos()
        .zip(hits.hit.iter().chain(std::iter::repeat(&false)));
    let known = dsos
        .filter(|(_, hit)| **hit)
        .map(|(dso, _)| (dso.build_id, hit_name(dso)));
    Ok(known.collect())
}

/// The kernel goes by one name, whatever file it was recorded as.
fn hit_name(dso: &Dso) -> String {
    match dso.kind {
        DsoKind::Kernel => "[kernel.kallsyms]".to_owned(),
        _ => dso.name.clone(),
    }
}

/// Marks what samples and their callers lie in.
struct Hits {
    chains: Chains,
    hit: Vec<bool>,
}

fn mark(hit: &mut Vec<bool>, dso: DsoId) {
    let index = dso.0 as usize;
    if hit.len() <= index {
        hit.resize(index + 1, false);
    }
    hit[index] = true;
}

impl Sink for Hits {
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
        let own = event.sample.ip.map(|ip| (event.misc.cpu_mode(), ip));
        let callers = self.chains.of(machine, event).addresses.iter().copied();
        for (mode, ip) in own.into_iter().chain(callers) {
            if let Some(place) = machine.locate(event.thread, mode, ip) {
                mark(&mut self.hit, place.dso);
            }
        }
        ControlFlow::Continue(())
    }
}
