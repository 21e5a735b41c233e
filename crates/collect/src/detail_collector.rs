//! The details of samples while they are collected: each combination gets a number.

use std::collections::HashMap;

use oxperf_abi::RecordType;
use oxperf_machine::{Machine, ThreadId as MachineThread};
use oxperf_resolve::{KernelNames, LocatedFrame as Located};
use oxperf_session::{SampleEvent, SidebandEvent};
use oxperf_tracepoint::{FormatField, Formatter, Formatters};
use oxperf_wire::kernel::{Cgroup, Namespaces};
use oxperf_wire::{Cursor, Endian};
use rustc_hash::FxHashMap;

use super::access_table::AccessTable;
use super::lookup::SymbolLookup;
use super::named_frames::NamedFrames;
use oxperf_profile::{Detail, DetailId, DetailOptions, DetailText, Details, NumberInput};

/// The text of a sample of no tracepoint.
const NO_RECORD: &[u8] = b"N/A";
/// The place of the cgroup's among a thread's namespaces.
const CGROUP_NAMESPACE: usize = 6;

/// The combinations so far.
#[derive(Clone)]
pub(super) struct DetailCollector<'s> {
    wanted: DetailOptions,
    formats: Option<&'s Formatters>,
    endian: Endian,
    known: FxHashMap<Box<[Option<u64>]>, DetailId>,
    texts: FxHashMap<(Vec<u8>, Vec<u8>), u64>,
    details: Details,
    accesses: AccessTable,
    namespaces: HashMap<MachineThread, (u64, u64)>,
    scratch: Vec<u8>,
    values: Vec<Option<u64>>,
}

impl<'s> DetailCollector<'s> {
    /// Collects these details; texts of tracepoints' records need their formats.
    pub(super) fn new(
        wanted: DetailOptions,
        formats: Option<&'s Formatters>,
        endian: Endian,
    ) -> DetailCollector<'s> {
        let details = Details {
            kinds: wanted.details.clone(),
            fields: wanted.fields.clone(),
            ..Details::default()
        };
        DetailCollector {
            wanted,
            formats,
            endian,
            known: FxHashMap::default(),
            texts: FxHashMap::default(),
            details,
            accesses: AccessTable::default(),
            namespaces: HashMap::new(),
            scratch: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Takes a record that names a cgroup or a namespace.
    pub(super) fn follow(&mut self, machine: &Machine, event: &SidebandEvent<'_>) {
        let kind = event.record.header.kind;
        let mut cursor = Cursor::new(event.record.body, self.endian);
        match kind {
            RecordType::CGROUP => {
                let Ok(Cgroup { id, path }) = Cgroup::decode(&mut cursor) else {
                    return;
                };
                self.details
                    .cgroups
                    .insert(id, String::from_utf8_lossy(path).into_owned());
            }
            RecordType::NAMESPACES => {
                let Ok(namespaces) = Namespaces::decode(&mut cursor) else {
                    return;
                };
                let link = namespaces.links().nth(CGROUP_NAMESPACE);
                if let (Some(thread), Some(link)) = (machine.find_thread(namespaces.tid), link) {
                    self.namespaces.insert(thread, (link.device, link.inode));
                }
            }
            _ => {}
        }
    }

    /// The number of a sample's combination.
    pub(super) fn of(
        &mut self,
        event: &SampleEvent<'_>,
        threads: u32,
        lookup: SymbolLookup<'_, '_>,
    ) -> DetailId {
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        for nth in 0..self.wanted.details.len() {
            let detail = self.wanted.details[nth];
            let value = match detail {
                Detail::Trace => Some(self.trace(event, lookup)),
                Detail::Field(number) => self.field(usize::from(number), event),
                Detail::CgroupId => Some(self.cgroup_id(event.thread)),
                Detail::Number(key) => (key.value)(&NumberInput {
                    sample: &event.sample,
                    options: &self.wanted,
                    threads,
                }),
                Detail::Access => Some(self.accesses.of(event, self.wanted.access, lookup.machine)),
                _ => self.number(detail, event),
            };
            values.push(value);
        }
        let next = DetailId(self.known.len() as u32);
        let id = self.known.get(values.as_slice()).copied().unwrap_or(next);
        if id == next {
            self.details.values.extend_from_slice(&values);
            self.known.insert(values.as_slice().into(), id);
        }
        self.values = values;
        id
    }

    /// A detail of the sample that is a number.
    fn number(&self, detail: Detail, event: &SampleEvent<'_>) -> Option<u64> {
        let sample = &event.sample;
        match detail {
            Detail::Time => {
                let time = sample.time.map_or(0, |time| time.0);
                Some(time - time.checked_rem(self.wanted.time_quantum).unwrap_or(0))
            }
            Detail::Transaction => Some(sample.transaction.unwrap_or(0)),
            Detail::Cgroup => Some(sample.cgroup.unwrap_or(0)),
            Detail::CgroupId
            | Detail::Number(_)
            | Detail::Trace
            | Detail::Field(_)
            | Detail::Access
            | Detail::Parent => None,
        }
    }

    /// The record's text, `N/A` of a sample without one.
    fn trace(&mut self, event: &SampleEvent<'_>, lookup: SymbolLookup<'_, '_>) -> u64 {
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        match (event.sample.raw, self.formats) {
            (Some(raw), Some(formats)) if self.wanted.raw_traces => match formatter(formats, raw) {
                Some(formatter) => formatter.list(raw, &mut text),
                None => text.extend_from_slice(NO_RECORD),
            },
            (Some(raw), Some(formats)) => {
                formats.format(
                    raw,
                    &KernelNames::new(lookup.names, lookup.machine.objects()),
                    &mut text,
                );
            }
            _ => text.extend_from_slice(NO_RECORD),
        }
        let number = self.text(&text, &text);
        self.scratch = text;
        number
    }

    /// A field of a sample of the event that the field belongs to.
    fn field(&mut self, number: usize, event: &SampleEvent<'_>) -> Option<u64> {
        let wanted = self
            .wanted
            .fields
            .get(number)
            .filter(|wanted| wanted.event == event.event.0)?;
        let raw = event.sample.raw?;
        let formatter = formatter(self.formats?, raw)?;
        let field = formatter
            .event()
            .all_fields()
            .find(|field| field.name == wanted.name)?;
        let mut text = std::mem::take(&mut self.scratch);
        text.clear();
        if wanted.raw || !shown_field(formatter, field, raw, &mut text) {
            text.clear();
            formatter.write_field(field, raw, &mut text);
        }
        let bytes = field.bytes(raw, formatter.order()).unwrap_or_default();
        let number = self.text(bytes, &text);
        self.scratch = text;
        Some(number)
    }

    /// Device and inode of a thread's cgroup namespace.
    fn cgroup_id(&mut self, thread: MachineThread) -> u64 {
        let (device, inode) = self.namespaces.get(&thread).copied().unwrap_or_default();
        let order = [device.to_be_bytes(), inode.to_be_bytes()].concat();
        self.text(&order, format!("{device}/{inode:#x}").as_bytes())
    }

    fn text(&mut self, order: &[u8], text: &[u8]) -> u64 {
        let texts = &mut self.details.texts;
        *self
            .texts
            .entry((order.to_vec(), text.to_vec()))
            .or_insert_with(|| {
                let text = String::from_utf8_lossy(text).into_owned();
                texts.push(DetailText {
                    order: order.to_vec(),
                    text,
                });
                texts.len() as u64 - 1
            })
    }

    /// The addresses that were accessed, and those of the instructions that did.
    pub(super) fn accessed(&self) -> &[Located] {
        self.accesses.located()
    }

    /// All details, with the names of addresses.
    pub(super) fn into_details(self, named: &NamedFrames) -> Details {
        Details {
            accesses: self.accesses.named(named),
            ..self.details
        }
    }
}

fn formatter<'f>(formats: &'f Formatters, raw: &[u8]) -> Option<&'f Formatter> {
    formats.event_of(raw).and_then(|id| formats.get(id))
}

/// A field as the text of its record has it: what stands behind the name, up to the next blank. Whether it does.
fn shown_field(formatter: &Formatter, field: &FormatField, raw: &[u8], text: &mut Vec<u8>) -> bool {
    let mut record = Vec::new();
    formatter.format(raw, &mut record);
    let mut words = record.split(|&byte| byte == b' ');
    let Some(word) = words.find(|word| word.starts_with(field.name.as_bytes())) else {
        return false;
    };
    // As perf has it, whatever stands between them: a field may be shown with another sign than `=`, and then as nothing.
    text.extend_from_slice(word.get(field.name.len() + 1..).unwrap_or_default());
    true
}
