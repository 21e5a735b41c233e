//! `list`: everything that this machine can count, by the names that other commands take.

mod arguments;
mod probe;
mod why;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oxperf_capture::host_files::{HostFiles, MetricScope};
use oxperf_inventory::{Instances, Inventory, ListOptions, SdtMarker, Sources, sections};
use oxperf_metric::MetricCatalogue;
use oxperf_objects::BuildIdCache;
use oxperf_pmu::metrics::MetricSystem;
use oxperf_pmu::{Catalogue, DrmPmus, HwmonPmus, MemoryTracepoints, SystemPmus, UserSpacePmus};
use oxperf_pmu_events::EventTables;
use oxperf_present::list::{self, JsonList, ListFormat, ListTextOptions, TextList};
use oxperf_tracepoint::{SystemTracefs, Tracefs};

use crate::arguments::Invocation;
use crate::cmd::Entry;
use crate::environment;
use crate::event_tables::{self, TablesOptions};
use crate::failure::{Failure, code};
use crate::output::{Output, print_error};
use crate::pager::{self, Habit};
use crate::resources;

/// The command.
pub(crate) const ENTRY: Entry = Entry {
    name: "list",
    command: arguments::command,
    run: |matches, invocation| {
        let command = arguments::options(matches, &invocation.configuration);
        run(&command, invocation)
    },
    // The files of tracepoints alone are read by several threads.
    shares_work: false,
};

/// The options of `list`.
struct ListCommand {
    /// Categories and patterns.
    words: Vec<String>,
    form: Form,
    /// The file that takes the list in the place of standard output.
    output: Option<PathBuf>,
    /// A pattern of PMUs.
    unit: Option<String>,
    /// A type of cores.
    core_type: Option<String>,
    deprecated: bool,
    /// Folders of tables of events.
    tables: TablesOptions,
    /// The build-id cache, which knows markers of programs.
    build_id_cache: Option<PathBuf>,
    /// A folder or an archive of tables to be imported, in the place of a list.
    import: Option<PathBuf>,
    /// Tells which CPU model the tables are for.
    debug: bool,
    /// An event text that is explained in the place of a list.
    why: Option<String>,
}

/// The form of the list.
enum Form {
    Json,
    /// The width of the terminal is found out later.
    Text(ListTextOptions),
}

impl Form {
    /// Returns whether the files of tracepoints are to be read.
    fn needs_tracepoint_files(&self) -> bool {
        match self {
            Form::Json => true,
            Form::Text(options) => !options.names_only && (options.long || options.details),
        }
    }

    /// Every PMU of several alike is shown.
    fn instances(&self) -> Instances {
        match self {
            Form::Text(options) if !options.long => Instances::First,
            _ => Instances::All,
        }
    }
}

fn run(command: &ListCommand, invocation: &Invocation) -> Result<i32, Failure> {
    if let Some(source) = &command.import {
        return import(source);
    }
    if let Some(event) = &command.why {
        let text = why::answer(event, command)?;
        return write(command, invocation, |out| out.write_all(&text));
    }
    let pmus = SystemPmus::below(environment::sysfs().root());
    let tracepoints = MemoryTracepoints::default();
    let catalogue = Catalogue::new(&pmus, &tracepoints);
    let Some(options) = list_options(command, &catalogue) else {
        print_error("ERROR: cputype is not supported!");
        return Ok(code::FAILED);
    };
    if let Some(model) = environment::cpu_model().filter(|_| command.debug) {
        print_error(&format!("Using CPUID {}", model.as_str()));
    }
    let tables = event_tables::of_machine(&command.tables)?;
    let catalogue = catalogue.with_tables(&tables);
    let metrics = || metrics(&catalogue, &tables);
    let markers = || markers(command);
    let tracefs = SystemTracefs::find().ok();
    let sensors = HwmonPmus::below(environment::sysfs().root());
    let graphics = DrmPmus::of_machine();
    let user_space: [&dyn UserSpacePmus; 2] = [&sensors, &graphics];
    let mut inventory = Inventory::new(Sources {
        user_space: &user_space,
        tables: Some(&tables),
        metrics: Some(&metrics),
        markers: Some(&markers),
        tracefs: tracefs
            .as_ref()
            .map(|tracefs| tracefs as &(dyn Tracefs + Sync)),
        support: Some(&probe::Kernel),
        old_names: command.deprecated,
        instances: command.form.instances(),
        ..Sources::new(&catalogue)
    });
    let sections = sections(&command.words, &options);
    if command.form.needs_tracepoint_files() {
        resources::start_threads()?;
        inventory.complete_tracepoints(&sections);
    }
    write(command, invocation, |out| {
        list::write(&inventory, &sections, &mut *format(&command.form), out)
    })?;
    event_tables::problems(&tables)
        .iter()
        .for_each(|problem| print_error(problem));
    // The command ends: giving back thousands of texts one by one takes a part of the time of a list.
    std::mem::forget(inventory);
    Ok(code::SUCCESS)
}

/// Takes tables in, and says where they are.
fn import(source: &Path) -> Result<i32, Failure> {
    let summary = event_tables::import::import(source)?;
    let folder = summary.folder.display();
    print_error(&format!(
        "{} files of tables of events are in {folder}",
        summary.files
    ));
    Ok(code::SUCCESS)
}

/// The metrics of this machine.
fn metrics(catalogue: &Catalogue<'_>, tables: &EventTables) -> MetricCatalogue {
    with_system(catalogue, |system| system.metrics(Some(tables)))
}

/// Asks this machine as expressions of metrics see it.
fn with_system<T>(catalogue: &Catalogue<'_>, ask: impl FnOnce(&MetricSystem<'_>) -> T) -> T {
    let model = environment::cpu_model();
    let files = HostFiles::this(&environment::sysfs());
    ask(&MetricSystem {
        catalogue,
        constants: files.metric_constants(&MetricScope::default()),
        model: model.as_ref(),
    })
}

/// The markers of the programs in the build-id cache.
fn markers(command: &ListCommand) -> Vec<SdtMarker> {
    let Some(root) = &command.build_id_cache else {
        return Vec::new();
    };
    let cached = BuildIdCache::new(root.clone()).markers().into_iter();
    let markers = cached.map(|marker| SdtMarker {
        name: marker.name,
        identity: marker.identity,
        binary: marker.binary,
    });
    markers.collect()
}

/// The options of all words; `None` for a type of cores that is not here.
fn list_options(command: &ListCommand, catalogue: &Catalogue<'_>) -> Option<ListOptions> {
    let mut options = ListOptions {
        unit: command.unit.clone(),
        deprecated: command.deprecated,
        ..ListOptions::default()
    };
    if let Some(core_type) = &command.core_type {
        let cores = catalogue.core_names();
        let is_meant =
            |core: &&str| core == core_type || core.strip_prefix("cpu_") == Some(core_type);
        options.unit = Some(cores.into_iter().find(is_meant)?.to_owned());
        options.unit_is_core_type = true;
    }
    Some(options)
}

fn format(form: &Form) -> Box<dyn ListFormat> {
    match form {
        Form::Json => Box::new(JsonList::default()),
        Form::Text(options) => Box::new(TextList::new(*options)),
    }
}

/// Writes the list to where it is wanted.
fn write(
    command: &ListCommand,
    invocation: &Invocation,
    list: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<i32, Failure> {
    if let Some(path) = &command.output {
        let written = File::create(path).and_then(|mut file| list(&mut file));
        written
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
        return Ok(code::SUCCESS);
    }
    let names_only = matches!(&command.form, Form::Text(options) if options.names_only);
    let habit = if names_only {
        Habit::Unpaged
    } else {
        Habit::Paged
    };
    let _pager = pager::start(invocation, "list", habit);
    let mut output = crate::output::stdout();
    list(&mut Whole(&mut output))?;
    output.finish()?;
    Ok(code::SUCCESS)
}

/// Standard output for pieces of text that are long enough to be written as they are.
struct Whole<'a>(&'a mut Output);

impl Write for Whole<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.pass(text)?;
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
