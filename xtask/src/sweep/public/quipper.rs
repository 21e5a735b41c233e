//! quipper's expected texts beside its recordings: every record and attribute, field by field, as protobuf text.

mod attr;
mod record;
mod textproto;

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use oxperf_abi::RecordType;
use oxperf_data::{RawRecord, Reader};
use oxperf_machine::Machine;
use oxperf_session::{EventIndex, EventTable, NoSink, SampleEvent, Session, Sink};

use super::inputs::Input;
use crate::process::read_maybe_zstd;
use crate::sweep::accepted::{self, Accepted};
use crate::sweep::compare::Difference;
use crate::sweep::table::{Outcome, Row};
use textproto::Message;

/// Endings of the texts that hold what is in the file; others hold what quipper made of it.
const ENDINGS: [&str; 2] = [".pb_text", ".pr.out.pb_text"];

/// A field and its value.
type Leaf = (String, String);

/// Compares a recording with each expected text beside it.
pub(super) fn compare(input: &Input, file: &Path, accepted: &[Accepted]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for ending in ENDINGS {
        let Some(text) = beside(input, ending)? else {
            continue;
        };
        let (case, golden) = (format!("public/{}", input.name), ending[1..].to_owned());
        let outcome = compare_one(file, &text)?;
        let outcome = match accepted::find(accepted, &case, &golden) {
            Some(entry) => entry.judge(outcome),
            None => outcome,
        };
        rows.push(Row {
            case,
            golden,
            outcome,
        });
    }
    Ok(rows)
}

/// The text with an ending, however it is packed.
fn beside(input: &Input, ending: &str) -> Result<Option<String>> {
    let stored = input.stored.to_string_lossy();
    let base = stored.strip_suffix(".zst").unwrap_or(&stored);
    for packing in ["", ".zst", ".gz"] {
        let path = PathBuf::from(format!("{base}{ending}{packing}"));
        if path.is_file() {
            let bytes = if packing == ".gz" {
                unpack_gzip(&path)?
            } else {
                read_maybe_zstd(&path)?
            };
            return Ok(Some(String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(None)
}

fn unpack_gzip(path: &Path) -> Result<Vec<u8>> {
    let output = Command::new("gzip")
        .args(["-dc", "--"])
        .arg(path)
        .output()
        .context("the gzip program")?;
    anyhow::ensure!(
        output.status.success(),
        "gzip could not unpack {}",
        path.display()
    );
    Ok(output.stdout)
}

fn compare_one(file: &Path, text: &str) -> Result<Outcome> {
    let expected = textproto::parse(text)?;
    let bytes = std::fs::read(file)?;
    let reader = Reader::open(&bytes)?;
    let mut found = attr::messages(&reader);
    let mut records = Records {
        endian: reader.endian(),
        events: EventTable::new(&reader),
        messages: Vec::new(),
    };
    Session::new(&reader)
        .in_file_order()
        .leaving_chains_open()
        .run(&mut records)?;
    found.append(&mut records.messages);
    Ok(first_difference(&expected, &found).map_or(Outcome::Identical, Outcome::Differs))
}

/// Takes down every record that quipper lists.
struct Records {
    endian: oxperf_wire::Endian,
    events: EventTable,
    messages: Vec<Vec<Leaf>>,
}

impl Sink for Records {
    type Inner = NoSink;

    fn inner(&mut self) -> Option<&mut NoSink> {
        None
    }

    fn record(
        &mut self,
        _: &mut Machine,
        record: &RawRecord<'_>,
        event: Option<EventIndex>,
    ) -> ControlFlow<()> {
        let in_header = [
            RecordType::HEADER_ATTR,
            RecordType::HEADER_EVENT_TYPE,
            RecordType::HEADER_TRACING_DATA,
            RecordType::HEADER_BUILD_ID,
            RecordType::HEADER_FEATURE,
        ];
        if !in_header.contains(&record.header.kind) {
            let event = event.and_then(|index| self.events.events().get(index.0));
            self.messages.push(record::leaves(
                record,
                event.map(|event| &event.layout),
                self.endian,
            ));
        }
        ControlFlow::Continue(())
    }

    fn sample(&mut self, _: &mut Machine, _: &SampleEvent<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The first expected message that we do not tell, and how many there are. quipper puts records in an order of its own,
/// and does not tell all that we do: a message is found when one of ours has all its fields, each message of ours
/// standing for one of quipper's.
fn first_difference(expected: &Message, found: &[Vec<Leaf>]) -> Option<Difference> {
    let wanted = ["file_attrs", "events"]
        .into_iter()
        .flat_map(|name| expected.all(name));
    let mut seen: HashMap<Vec<String>, HashMap<String, usize>> = HashMap::new();
    let mut difference: Option<Difference> = None;
    for (number, message) in (1..).zip(wanted) {
        let told = told(message.leaves());
        let mut names: Vec<String> = told.iter().map(|(name, _)| name.clone()).collect();
        names.dedup();
        let text = projected(&told, &names);
        let ours = seen
            .entry(names)
            .or_insert_with_key(|names| counted(found, names));
        match ours.get_mut(&text).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => {
                let got = "(no such record)".to_owned();
                let first = Difference {
                    line: number,
                    lines: 0,
                    expected: text,
                    got,
                };
                difference.get_or_insert(first).lines += 1;
            }
        }
    }
    difference
}

/// Fields in the order of their names, without those that quipper computes.
fn told(mut leaves: Vec<Leaf>) -> Vec<Leaf> {
    leaves.retain(|(name, _)| !COMPUTED.iter().any(|ending| name.ends_with(ending)));
    leaves.iter_mut().for_each(unmark);
    leaves.sort_by(|a, b| a.0.cmp(&b.0));
    leaves
}

/// quipper sets the highest bit of addresses that lie in no mapping; without it all addresses can be compared.
fn unmark((name, value): &mut Leaf) {
    const ADDRESSES: [&str; 4] = [".ip", ".callchain", ".from_ip", ".to_ip"];
    if ADDRESSES.iter().any(|ending| name.ends_with(ending))
        && let Ok(address) = value.parse::<u64>()
    {
        *value = (address << 1 >> 1).to_string();
    }
}

/// Our messages with these fields alone, and how often each comes.
fn counted(found: &[Vec<Leaf>], names: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for leaves in found {
        *counts
            .entry(projected(&told(leaves.clone()), names))
            .or_default() += 1;
    }
    counts
}

fn projected(leaves: &[Leaf], names: &[String]) -> String {
    let kept = leaves
        .iter()
        .filter(|(name, _)| names.binary_search(name).is_ok());
    kept.map(|(name, value)| format!("{name}: {value} "))
        .collect()
}

/// What quipper adds of its own (the size is that of its own structure), and payloads that it keeps in pieces.
const COMPUTED: [&str; 6] = [
    "attr.size",
    "md5_prefix",
    "root_path",
    "timestamp",
    "trace_data",
    "unparsed_binary_blob_priv_data",
];
