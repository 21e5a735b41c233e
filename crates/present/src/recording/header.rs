//! The text of `report --header-only [-I]`: what a recording says about itself and its host.

mod bpf;
mod clock;
mod events;
mod host;
mod memory;
mod pmu;
mod simpleperf;
mod topology;

use std::fmt::Write;

use oxperf_data::{Container, DataError, Feature, FeatureId, Features, Reader};

use crate::text::attr_text::EventNames;
use crate::text::calendar::CivilTime;

/// Options of a header.
pub struct HeaderOptions<'a> {
    /// Show also topologies and caches (`-I`), not just that they are there.
    pub full: bool,
    /// The file's last change: seconds since 1970 UTC. `None` leaves the line out.
    pub captured_on: Option<i64>,
    /// Seconds east of UTC that the reader's time zone has at a moment in seconds since 1970.
    pub utc_offset: &'a dyn Fn(i64) -> i32,
}

/// Writes the header between its two rulers.
///
/// A feature that cannot be decoded gets a line that says so; unknown features are passed over.
pub fn write(
    out: &mut String,
    reader: &Reader<'_>,
    options: &HeaderOptions<'_>,
    names: &dyn EventNames,
) {
    let mut page = Page {
        out,
        features: reader.features(),
        options,
        names,
    };
    page.line("========");
    page.file_lines(reader);
    if reader.container() == Container::Stream {
        // A stream's own features are no part of its header.
        page.end();
        page.features();
        return;
    }
    page.features();
    page.missing();
    page.end();
}

/// Writes the lines of one feature in full; none for a feature that has no lines.
pub(crate) fn write_feature(
    out: &mut String,
    features: &Features<'_>,
    id: FeatureId,
    utc_offset: &dyn Fn(i64) -> i32,
    names: &dyn EventNames,
) {
    let options = HeaderOptions {
        full: true,
        captured_on: None,
        utc_offset,
    };
    Page {
        out,
        features,
        options: &options,
        names,
    }
    .feature(id);
}

/// One header on its way to text.
struct Page<'a> {
    out: &'a mut String,
    features: &'a Features<'a>,
    options: &'a HeaderOptions<'a>,
    names: &'a dyn EventNames,
}

/// The result of writing the lines of a feature.
type Lines = Result<(), DataError>;

impl Page<'_> {
    /// Adds a line.
    fn line(&mut self, text: impl std::fmt::Display) {
        let _ = writeln!(self.out, "# {text}");
    }

    fn end(&mut self) {
        self.line("========");
        self.out.push_str("#\n");
    }

    fn features(&mut self) {
        for id in self.features.bits().iter() {
            self.feature(id);
        }
    }

    /// The feature's value. Only asked for features whose bit is set; without its bytes it counts as empty.
    fn get<F: Feature + Default>(&self) -> Result<F, DataError> {
        Ok(self.features.get()?.unwrap_or_default())
    }

    fn file_lines(&mut self, reader: &Reader<'_>) {
        let header = *reader.header();
        if let Some(seconds) = self.options.captured_on {
            self.line(format_args!(
                "captured on    : {}",
                self.local(seconds).ctime()
            ));
        }
        self.line(format_args!(
            "header version : {}",
            u8::from(!header.first_version)
        ));
        self.line(format_args!("data offset    : {}", header.data.offset));
        self.line(format_args!("data size      : {}", header.data.size));
        self.line(format_args!(
            "feat offset    : {}",
            header.feature_table_offset()
        ));
    }

    /// A moment in the reader's time zone.
    fn local(&self, seconds: i64) -> CivilTime {
        CivilTime::new(seconds, (self.options.utc_offset)(seconds))
    }

    fn feature(&mut self, id: FeatureId) {
        if !self.options.full && SHOWN_IN_FULL.contains(&id) {
            self.line(format_args!("{id} info available, use -I to display"));
            return;
        }
        if let Err(error) = self.feature_lines(id) {
            self.line(format_args!("{id} cannot be read: {}", cause(&error)));
        }
    }

    fn feature_lines(&mut self, id: FeatureId) -> Lines {
        match id {
            FeatureId::HOSTNAME
            | FeatureId::OSRELEASE
            | FeatureId::VERSION
            | FeatureId::ARCH
            | FeatureId::NRCPUS
            | FeatureId::CPUDESC
            | FeatureId::CPUID
            | FeatureId::TOTAL_MEM
            | FeatureId::CMDLINE
            | FeatureId::E_MACHINE => self.host(id),
            FeatureId::EVENT_DESC => self.event_desc(),
            FeatureId::GROUP_DESC => self.group_desc(),
            FeatureId::CPU_TOPOLOGY => self.cpu_topology(),
            FeatureId::NUMA_TOPOLOGY => self.numa_topology(),
            FeatureId::HYBRID_TOPOLOGY => self.hybrid_topology(),
            FeatureId::CPU_DOMAIN_INFO => self.cpu_domains(),
            FeatureId::CACHE => self.cache(),
            FeatureId::CLN_SIZE => self.cache_line(),
            FeatureId::MEM_TOPOLOGY => self.mem_topology(),
            FeatureId::PMU_MAPPINGS => self.pmu_mappings(),
            FeatureId::CPU_PMU_CAPS => self.cpu_pmu_caps(),
            FeatureId::PMU_CAPS => self.pmu_caps(),
            FeatureId::SAMPLE_TIME => self.sample_time(),
            FeatureId::CLOCKID => self.clock_resolution(),
            FeatureId::CLOCK_DATA => self.clock_data(),
            FeatureId::BPF_PROG_INFO => self.bpf_programs(),
            FeatureId::BPF_BTF => self.bpf_types(),
            id if id.simpleperf_name().is_some() => self.simpleperf(id),
            _ => self.format(id),
        }
    }

    /// Writes the line about the form of the data.
    fn format(&mut self, id: FeatureId) -> Lines {
        use oxperf_data::features::{Compression, DirFormat};
        match id {
            FeatureId::BRANCH_STACK => self.line("contains samples with branch stack"),
            FeatureId::AUXTRACE => self.line("contains AUX area data (e.g. instruction trace)"),
            FeatureId::STAT => self.line("contains stat data"),
            FeatureId::DIR_FORMAT => {
                let version = self.get::<DirFormat>()?.version;
                self.line(format_args!("directory data version : {version}"));
            }
            FeatureId::COMPRESSED => {
                let Compression {
                    method,
                    level,
                    ratio,
                    ..
                } = self.get()?;
                let method = if method == 1 { "Zstd" } else { "Unknown" };
                self.line(format_args!(
                    "compressed : {method}, level = {level}, ratio = {ratio}"
                ));
            }
            _ => {}
        }
        Ok(())
    }

    /// Names what a recorder could have written and did not.
    fn missing(&mut self) {
        let bits = self.features.bits();
        let missing = FeatureId::ALL.iter().filter(|id| !bits.contains(**id));
        let names: String = missing.map(|id| format!("{id} ")).collect();
        self.line(format_args!("missing features: {names}"));
    }
}

/// Features that take many lines.
const SHOWN_IN_FULL: [FeatureId; 8] = [
    FeatureId::CPU_TOPOLOGY,
    FeatureId::NUMA_TOPOLOGY,
    FeatureId::CACHE,
    FeatureId::MEM_TOPOLOGY,
    FeatureId::HYBRID_TOPOLOGY,
    FeatureId::CPU_DOMAIN_INFO,
    FeatureId::SIMPLEPERF_FILE,
    FeatureId::SIMPLEPERF_FILE2,
];

/// The innermost reason, as the line already names the feature.
fn cause(error: &DataError) -> String {
    match error {
        DataError::Feature { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
