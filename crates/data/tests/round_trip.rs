//! Read, then written, then read again: every recording in every form says what it said.

#![allow(clippy::print_stderr, reason = "what was skipped is for people")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use oxperf_abi::RecordType;
use oxperf_data::features::{DirFormat, EventDesc, NamedEvent, TotalMem};
use oxperf_data::{
    Container, Damage, FeatureId, FeatureSet, Framed, PackedAs, Packer, PartWriter, Reader,
    RecordSource, StreamWriter, Writer, directory,
};
use oxperf_testkit::Recording;
use oxperf_wire::{Encoder, Endian, RecordHeader};

/// A record without its place: header, body, what follows.
type Bare = (RecordHeader, Vec<u8>, Vec<u8>);

/// Kinds that only say how the others come.
const OF_THE_FORM: [RecordType; 5] = [
    RecordType::COMPRESSED,
    RecordType::COMPRESSED2,
    RecordType::HEADER_ATTR,
    RecordType::HEADER_FEATURE,
    RecordType::HEADER_TRACING_DATA,
];

/// The whole records of a recording that are not of its form.
fn records(reader: &Reader<'_>) -> Vec<Bare> {
    fn bare<B: AsRef<[u8]>>(records: impl Iterator<Item = Result<Framed<B>, Damage>>) -> Vec<Bare> {
        let whole = records
            .filter_map(Result::ok)
            .filter(|record| !OF_THE_FORM.contains(&record.header.kind));
        whole
            .map(|record| {
                (
                    record.header,
                    record.body.as_ref().to_vec(),
                    record.payload.as_ref().to_vec(),
                )
            })
            .collect()
    }
    match reader.source().unwrap() {
        RecordSource::Borrowed(parts) => parts.into_iter().flat_map(bare).collect(),
        RecordSource::Buffered(records) => bare(records),
    }
}

fn encode((header, body, payload): &Bare, out: &mut Encoder) {
    header.encode(out);
    out.bytes(body);
    out.bytes(payload);
}

fn encoded(records: &[Bare]) -> Vec<u8> {
    let mut out = Encoder::new(Endian::NATIVE);
    records.iter().for_each(|record| encode(record, &mut out));
    out.into_bytes()
}

/// The content that is written of a recording.
struct Content {
    events: EventDesc,
    features: FeatureSet,
    records: Vec<Bare>,
}

impl Content {
    fn of(reader: &Reader<'_>) -> Content {
        let events = reader.events().iter().cloned().map(|event| NamedEvent {
            stored: event.stored,
            name: event.name.unwrap_or_default(),
            ids: event.ids,
        });
        let mut features = FeatureSet::new();
        for id in reader
            .features()
            .bits()
            .iter()
            .filter(|id| !FORM_FEATURES.contains(id))
        {
            if let Ok(Some(bytes)) = reader.features().raw(id) {
                features.insert_raw(id, bytes.to_vec());
            }
        }
        Content {
            events: EventDesc {
                events: events.collect(),
            },
            features,
            records: records(reader),
        }
    }

    fn file(&self, records: &[u8], features: &FeatureSet) -> Vec<u8> {
        let mut writer = Writer::begin_described(Vec::new(), self.events.clone()).unwrap();
        writer.append(records).unwrap();
        writer.finish(features).unwrap()
    }

    fn packed(&self, packed_as: PackedAs) -> Vec<u8> {
        let (records, packer) = pack(&self.records, packed_as);
        let mut features = self.features.clone();
        features.insert(&packer.feature());
        self.file(&records, &features)
    }

    /// The stream, and the features that are too large for one.
    fn stream(&self) -> (Vec<u8>, Vec<FeatureId>) {
        let mut writer =
            StreamWriter::begin_described(Vec::new(), &self.events, &self.features).unwrap();
        let left_out = writer.left_out().to_vec();
        writer.append(&encoded(&self.records)).unwrap();
        (writer.finish(&[]).unwrap(), left_out)
    }

    /// The first third of the records in the file with the header, the others in two more.
    fn directory(&self) -> (Vec<u8>, Vec<Vec<u8>>) {
        let third = self.records.len() / 3;
        let part = |records: &[Bare]| {
            let mut part = PartWriter::new(Vec::new());
            part.append(&encoded(records)).unwrap();
            part.into_output()
        };
        let parts = [&self.records[third..2 * third], &self.records[2 * third..]];
        let mut features = self.features.clone();
        features.insert(&DirFormat { version: 1 });
        let data = self.file(&encoded(&self.records[..third]), &features);
        (data, parts.map(part).to_vec())
    }

    fn check(&self, again: &Reader<'_>, form: &str) {
        let found = Content::of(again);
        assert!(again.damage().is_empty(), "{form}");
        assert!(found.records == self.records, "{form}");
        let named = |content: &Content| content.features.bits().contains(FeatureId::EVENT_DESC);
        for (before, after) in self.events.events.iter().zip(&found.events.events) {
            assert_eq!(
                (&before.stored.attr, &before.ids),
                (&after.stored.attr, &after.ids),
                "{form}"
            );
            assert!(before.name == after.name || !named(self), "{form}");
        }
        assert_eq!(
            found.events.events.len(),
            self.events.events.len(),
            "{form}"
        );
    }
}

/// Features of the form, which each form states anew.
const FORM_FEATURES: [FeatureId; 2] = [FeatureId::COMPRESSED, FeatureId::DIR_FORMAT];

/// Packs all records but those with something behind them.
fn pack(records: &[Bare], packed_as: PackedAs) -> (Vec<u8>, Packer) {
    let mut packer = Packer::new(1, packed_as).unwrap();
    let mut out = Encoder::new(Endian::NATIVE);
    for run in records.chunk_by(|one, next| one.2.is_empty() == next.2.is_empty()) {
        match run {
            [(_, _, payload), ..] if !payload.is_empty() => out.bytes(&encoded(run)),
            run => packer.pack(&encoded(run), &mut out).unwrap(),
        }
    }
    (out.into_bytes(), packer)
}

/// The features encoded once more: equal when they say the same.
fn said(reader: &Reader<'_>, left_out: &[FeatureId]) -> Vec<(FeatureId, Vec<u8>)> {
    let ids = reader
        .features()
        .bits()
        .iter()
        .filter(|id| !FORM_FEATURES.contains(id) && !left_out.contains(id));
    let again = |id| {
        Some((
            id,
            reader
                .features()
                .in_order(id, Endian::NATIVE)
                .ok()
                .flatten()?,
        ))
    };
    ids.filter_map(again).collect()
}

/// The features that do not say the same any more.
fn lost(before: &[(FeatureId, Vec<u8>)], after: &[(FeatureId, Vec<u8>)]) -> Vec<FeatureId> {
    before
        .iter()
        .filter(|said| !after.contains(said))
        .map(|(id, _)| *id)
        .collect()
}

/// Data, attributes and features byte for byte.
fn check_bytes(file: &[u8], reader: &Reader<'_>) {
    let mut features = FeatureSet::new();
    for id in reader.features().bits().iter() {
        if let Ok(Some(bytes)) = reader.features().raw(id) {
            features.insert_raw(id, bytes.to_vec());
        }
    }
    let data = reader.data().slice(file);
    let written = Content::of(reader).file(data, &features);
    let again = Reader::open(&written).unwrap();
    assert!(again.data().slice(&written) == data);
    for (id, bytes) in features.iter() {
        assert_eq!(again.features().raw(id), Ok(Some(bytes)), "{id}");
    }
    assert_eq!(again.header().features.words(), {
        let mut bits = features.bits();
        again
            .features()
            .bits()
            .iter()
            .filter(|id| *id == FeatureId::EVENT_DESC)
            .for_each(|id| bits.insert(id));
        bits.words()
    });
}

/// Every form.
fn check_forms(reader: &Reader<'_>) {
    let content = Content::of(reader);
    let said_before = said(reader, &[]);
    let mut recoded = FeatureSet::new();
    said_before
        .iter()
        .for_each(|(id, bytes)| recoded.insert_raw(*id, bytes.clone()));
    if recoded.bits().is_empty() {
        // Without any, a file is one whose recorder did not finish; what came as a stream may have none.
        recoded.insert(&TotalMem { kilobytes: 0 });
    }
    let written = content.file(&encoded(&content.records), &recoded);
    let again = Reader::open(&written).unwrap();
    content.check(&again, "file");
    assert_eq!(lost(&said(reader, &ADDED), &said(&again, &ADDED)), []);

    for packed_as in [PackedAs::Exact, PackedAs::Padded] {
        let packed = content.packed(packed_as);
        content.check(&Reader::open(&packed).unwrap(), "packed");
    }
    let (stream, left_out) = content.stream();
    let again = Reader::open(&stream).unwrap();
    content.check(&again, "stream");
    let left_out = [&NOT_IN_STREAMS[..], &left_out].concat();
    assert_eq!(lost(&said(reader, &left_out), &said(&again, &left_out)), []);
    let (data, parts) = content.directory();
    let parts = parts.iter().map(Vec::as_slice).collect();
    content.check(&Reader::open_directory(&data, parts).unwrap(), "directory");
}

/// Features that a writer adds.
const ADDED: [FeatureId; 1] = [FeatureId::EVENT_DESC];
/// Features that stand in no stream, or come there as records.
const NOT_IN_STREAMS: [FeatureId; 5] = [
    FeatureId::EVENT_DESC,
    FeatureId::BUILD_ID,
    FeatureId::AUXTRACE,
    FeatureId::BRANCH_STACK,
    FeatureId::STAT,
];

/// Checks a recording; says what of it was not.
fn check(file: &[u8]) -> Result<(), String> {
    let reader = Reader::open(file).map_err(|error| error.to_string())?;
    if reader.endian() != Endian::NATIVE {
        return Err("of the other byte order".into());
    }
    if reader.container() == Container::File {
        check_bytes(file, &reader);
    }
    if reader.container() == Container::Directory || !reader.damage().is_empty() {
        return Err("only bytes".into());
    }
    if records(&reader)
        .iter()
        .any(|(header, ..)| header.kind.0 > 32768)
    {
        return Err("only bytes: records of simpleperf".into());
    }
    if records(&reader).len() < 3 {
        return Err("only bytes: too few records".into());
    }
    check_forms(&reader);
    Ok(())
}

/// The recordings in the project, written by hand.
fn own() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/golden");
    let cases = fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("recording.txt"));
    let notations = cases.filter_map(|path| Some((fs::read_to_string(&path).ok()?, path)));
    notations
        .map(|(text, path)| (path, Recording::parse(&text).unwrap().to_file()))
        .collect()
}

/// Recordings beside the project, up to a size that a test can take.
fn shared(folders: &[&str]) -> Vec<(PathBuf, Vec<u8>)> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("OXPERF_SHARED")
        .map_or(beside, PathBuf::from)
        .join("fixtures");
    let mut paths = Vec::new();
    folders
        .iter()
        .for_each(|folder| find(&root.join(folder), &mut paths));
    if paths.is_empty() {
        eprintln!("SKIPPED: no recordings below {}", root.display());
    }
    let file = |path: PathBuf| Some((fs::read(&path).ok()?, path));
    let read = paths
        .into_iter()
        .filter_map(file)
        .map(|(bytes, path)| match path.extension() {
            Some(extension) if extension == "zst" => {
                (path, zstd::decode_all(&bytes[..]).unwrap_or_default())
            }
            _ => (path, bytes),
        });
    read.filter(|(_, bytes)| bytes.len() < 512 << 10).collect()
}

fn find(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => find(&path, found),
            false if entry.metadata().is_ok_and(|file| file.len() < 2 << 20) => found.push(path),
            false => {}
        }
    }
}

#[test]
fn own_recordings_come_back() {
    for (path, file) in own() {
        let name = path.parent().and_then(Path::file_name).unwrap_or_default();
        let reason = check(&file).err();
        let expected = match name.to_str() {
            Some("big-endian") => Some("of the other byte order"),
            Some("killed") => Some("only bytes"),
            _ => None,
        };
        assert_eq!(reason.as_deref(), expected, "{}", path.display());
    }
}

#[test]
fn recordings_beside_the_project_come_back() {
    for (path, file) in shared(&["recorded", "public", "pt"]) {
        if !(file.starts_with(b"PERFILE2") || file.starts_with(b"PERFFILE")) {
            continue;
        }
        eprintln!("{}", path.display());
        if let Err(reason) = check(&file) {
            eprintln!("   {reason}");
        }
    }
}

/// Runs a perf over a recording; `None` when there is no such perf.
fn perf_script(perf: &str, recording: &Path) -> Option<(String, String)> {
    let mut command = Command::new(perf);
    command
        .args(["script", "-F", "comm,tid,time,event", "-i"])
        .arg(recording)
        .stdin(Stdio::null());
    let output = command.output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&output.stdout), text(&output.stderr)))
}

/// Writes every form of a recording and lets a perf read it.
fn check_perf(perf: &str, name: &str, file: &[u8]) -> Option<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("forms")
        .join(perf)
        .join(name);
    let _ = fs::remove_dir_all(&folder);
    let directory = folder.join("directory");
    fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let content = Content::of(&Reader::open(file).unwrap());
    let (expected, _) = perf_script(perf, &write("original", file))?;
    assert!(!expected.is_empty(), "{perf} reads nothing of {name}");
    let (data, parts) = content.directory();
    fs::write(directory.join(directory::DATA_NAME), data).unwrap();
    for (index, part) in parts.iter().enumerate() {
        fs::write(directory.join(directory::part_name(index)), part).unwrap();
    }
    let forms = [
        write(
            "file",
            &content.file(&encoded(&content.records), &content.features),
        ),
        write("exact", &content.packed(PackedAs::Exact)),
        write("stream", &content.stream().0),
        directory,
    ];
    let padded = (perf != "perf").then(|| write("padded", &content.packed(PackedAs::Padded)));
    for path in forms.iter().chain(&padded) {
        let (found, errors) = perf_script(perf, path)?;
        assert!(
            found == expected,
            "{perf} reads {} otherwise: {errors}",
            path.display()
        );
    }
    Some(())
}

/// Only what is written by this machine's perf can be expected to be read by it without a difference.
#[test]
fn perf_reads_every_form() {
    let recordings = shared(&[
        "recorded/6.1.187/default-cycles",
        "recorded/6.1.187/multi-events",
    ]);
    for (path, file) in recordings
        .iter()
        .filter(|(path, _)| path.ends_with("perf.data"))
    {
        let name = path
            .parent()
            .and_then(Path::file_name)
            .unwrap()
            .to_string_lossy();
        for perf in ["perf", "perf7"] {
            if check_perf(perf, &name, file).is_none() {
                eprintln!("SKIPPED: there is no {perf} here");
            }
        }
    }
}
