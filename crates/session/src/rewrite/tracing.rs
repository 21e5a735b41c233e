//! The formats of tracepoints for a plain file, and raw data of samples of the other byte order.

use oxperf_abi::EventType;
use oxperf_data::features::TracingDataSection as Section;
use oxperf_data::{EventEntry, Reader};
use oxperf_tracepoint::{ByteOrder, Formatters, SystemFormat, TracingData, WordSize};
use oxperf_wire::Endian;

/// The known formats of the raw data of samples.
#[derive(Debug)]
pub(super) struct RawData {
    order: ByteOrder,
    formats: Formatters,
}

impl RawData {
    /// Reads the formats, unless the data are in this machine's byte order already.
    pub(super) fn new(reader: &Reader<'_>) -> RawData {
        let tracing = if reader.endian() == Endian::NATIVE {
            None
        } else {
            tracing_data(reader)
        };
        let formats = tracing.as_ref().map(Formatters::new).unwrap_or_default();
        RawData {
            order: order(reader.endian()),
            formats,
        }
    }

    /// Turns the raw data of a tracepoint round; `false` when not all of it is understood. Other events have nothing
    /// but padding there where a tracepoint is recorded beside them.
    pub(super) fn reorder(&self, tracepoint: Option<u64>, data: &mut [u8]) -> bool {
        if data.iter().all(|byte| *byte == 0) {
            return true;
        }
        let format = tracepoint.and_then(|id| self.formats.get(id));
        format.is_some_and(|formatter| formatter.event().reorder(data, self.order))
    }
}

/// The formats in this machine's byte order; `None` when they cannot be read.
pub(super) fn reordered(reader: &Reader<'_>) -> Option<Vec<u8>> {
    let mut data = tracing_data(reader)?;
    data.order = ByteOrder::NATIVE;
    Some(data.encode())
}

/// The formats with one for each tracepoint of the recording that has none, as perf refuses a recording without;
/// `None` when nothing is missing. Such a format lists only what all events have. `recorded` are formats that came as
/// a record of simpleperf.
pub(super) fn completed(reader: &Reader<'_>, recorded: Option<&[u8]>) -> Option<Section> {
    let data = recorded
        .and_then(|bytes| TracingData::decode(bytes).ok())
        .or_else(|| tracing_data(reader));
    let known = data.as_ref().map(Formatters::new).unwrap_or_default();
    let is_missing = |event: &&EventEntry| {
        let attr = &event.stored.attr;
        attr.kind == EventType::TRACEPOINT && known.get(attr.config).is_none()
    };
    let missing: Vec<SystemFormat> = reader
        .events()
        .iter()
        .filter(is_missing)
        .map(format_without_fields)
        .collect();
    if missing.is_empty() && recorded.is_none() {
        return None;
    }
    let mut data = data.unwrap_or_else(empty);
    data.order = ByteOrder::NATIVE;
    data.systems.extend(missing);
    Some(Section(data.encode()))
}

/// No formats.
fn empty() -> TracingData {
    TracingData {
        order: ByteOrder::NATIVE,
        word: WordSize::NATIVE,
        page_size: 4096,
        header_page: HEADER_PAGE.into(),
        header_event: HEADER_EVENT.into(),
        ftrace: Vec::new(),
        systems: Vec::new(),
        kallsyms: Vec::new(),
        printk_formats: Vec::new(),
        cmdlines: None,
    }
}

/// The head of pages of the trace buffer, which perf asks for although nothing in a recording is such a page.
const HEADER_PAGE: &str = "\
\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
";

/// The head of entries of the trace buffer.
const HEADER_EVENT: &str = "\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n";

/// The fields that all events begin with, and an own field of no bytes, for perf wants one.
const COMMON: &str = "\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned char data[0];\toffset:8;\tsize:0;\tsigned:0;
";

fn format_without_fields(event: &EventEntry) -> SystemFormat {
    let id = event.stored.attr.config;
    let name = event.name.as_deref().and_then(|name| name.split_once(':'));
    let (system, name) = name.unwrap_or(("unknown", "unknown"));
    // A modifier may stand behind the name.
    let name: String = name
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect();
    let text = format!("name: {name}\nID: {id}\nformat:\n{COMMON}\nprint fmt: \"\"\n");
    SystemFormat {
        system: system.replace('\0', ""),
        formats: vec![text.into_bytes()],
    }
}

fn tracing_data(reader: &Reader<'_>) -> Option<TracingData> {
    let section = reader.features().get::<Section>().ok().flatten()?;
    TracingData::decode(&section.0).ok()
}

fn order(endian: Endian) -> ByteOrder {
    match endian {
        Endian::Little => ByteOrder::Little,
        Endian::Big => ByteOrder::Big,
    }
}
