//! Recordings found in public places: opening, decoding and walking each must end, with a value or an error.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is for people"
)]

use std::fs;
use std::path::{Path, PathBuf};

use oxperf_data::features::*;
use oxperf_data::{Feature, FeatureId, Features, Reader};

/// All files below a folder that are not compressed.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_none_or(|extension| extension != "zst") {
            found.push(path);
        }
    }
}

/// Decodes one feature; says its name when that failed.
fn failed<F: Feature>(features: &Features<'_>) -> Option<FeatureId> {
    features.get::<F>().is_err().then_some(F::ID)
}

/// The features that do not decode.
fn broken_features(features: &Features<'_>) -> Vec<FeatureId> {
    let host = [
        failed::<Hostname>(features),
        failed::<OsRelease>(features),
        failed::<Version>(features),
        failed::<Arch>(features),
        failed::<NrCpus>(features),
        failed::<CpuDesc>(features),
        failed::<CpuId>(features),
        failed::<TotalMem>(features),
        failed::<CmdLine>(features),
        failed::<CpuTopology>(features),
        failed::<NumaTopology>(features),
        failed::<CpuCaches>(features),
        failed::<MemTopology>(features),
        failed::<PmuMappings>(features),
        failed::<CpuPmuCaps>(features),
        failed::<PmuCaps>(features),
        failed::<HybridTopology>(features),
        failed::<CpuDomainInfo>(features),
        failed::<ElfMachine>(features),
        failed::<CacheLineSize>(features),
    ];
    let recording = [
        failed::<TracingDataSection>(features),
        failed::<BuildIds>(features),
        failed::<EventDesc>(features),
        failed::<GroupDesc>(features),
        failed::<AuxtraceIndex>(features),
        failed::<SampleTime>(features),
        failed::<ClockResolution>(features),
        failed::<ClockData>(features),
        failed::<DirFormat>(features),
        failed::<Compression>(features),
        failed::<BpfProgInfo>(features),
        failed::<BpfBtf>(features),
    ];
    host.into_iter().chain(recording).flatten().collect()
}

/// Opens and walks a file; says what came out.
fn describe(file: &[u8]) -> String {
    let reader = match Reader::open(file) {
        Ok(reader) => reader,
        Err(error) => return format!("refused: {error}"),
    };
    let records = match reader.records() {
        Ok(records) => {
            let (good, bad): (Vec<_>, Vec<_>) = records.partition(Result::is_ok);
            let end = bad
                .first()
                .and_then(|damage| damage.err())
                .map_or(String::new(), |damage| format!(", {damage}"));
            format!("{} records{end}", good.len())
        }
        Err(error) => error.to_string(),
    };
    let broken = broken_features(reader.features());
    let damage: Vec<_> = reader
        .damage()
        .listed()
        .iter()
        .map(ToString::to_string)
        .collect();
    format!(
        "{} events, {records}, broken features {broken:?}, {damage:?}",
        reader.events().len()
    )
}

#[test]
fn every_found_file_ends_in_a_value_or_an_error() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let mut found = Vec::new();
    files(&root.join("public"), &mut found);
    files(&root.join("recorded"), &mut found);
    if found.is_empty() {
        eprintln!("SKIPPED: no files in ../shared/fixtures");
    }
    for path in found {
        let Ok(file) = fs::read(&path) else { continue };
        let said = describe(&file);
        if !said.contains("not a perf.data") {
            println!(
                "{}: {said}",
                path.strip_prefix(&root).unwrap_or(&path).display()
            );
        }
    }
}

/// Every cut and many single changed bytes of a small recording.
#[test]
fn no_change_of_a_recording_panics() {
    let file = sample_recording();
    for length in 0..file.len() {
        describe(&file[..length]);
    }
    for position in 0..file.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut changed = file.clone();
            changed[position] = value;
            describe(&changed);
        }
    }
}

/// A recording with a feature of most kinds.
fn sample_recording() -> Vec<u8> {
    let attr = oxperf_abi::EventAttr::default();
    let event = oxperf_data::WriterEvent {
        attr,
        name: "cycles".into(),
        ids: vec![oxperf_abi::EventId(1)],
    };
    let mut writer = oxperf_data::Writer::begin(Vec::new(), &[event]).unwrap();
    let mut record = oxperf_wire::Encoder::new(oxperf_wire::Endian::NATIVE);
    record.record(
        oxperf_abi::RecordType::AUXTRACE,
        Default::default(),
        |body| body.u64(8),
    );
    record.u64(0);
    record.record(
        oxperf_abi::RecordType::FINISHED_ROUND,
        Default::default(),
        |_| {},
    );
    writer.append(record.as_bytes()).unwrap();
    let mut features = oxperf_data::FeatureSet::new();
    features.insert(&NrCpus {
        available: 2,
        online: 2,
    });
    features.insert(&CpuTopology {
        cpus: vec![CpuTopologyEntry::default(); 2],
        ..CpuTopology::default()
    });
    features.insert(&MemTopology {
        block_size: 4096,
        nodes: vec![MemNode::new(0, [0, 70])],
    });
    features.insert(&GroupDesc(vec![GroupEntry {
        name: "g".into(),
        leader: 0,
        members: 1,
    }]));
    features.insert(&PmuCaps(vec![PmuCapsEntry::default()]));
    features.insert(&BpfBtf(vec![BpfObject {
        id: 1,
        data: vec![2; 3],
    }]));
    let id = oxperf_abi::BuildId::new(&[1; 20]).unwrap();
    features.insert(&BuildIds(vec![BuildIdEntry::host(
        oxperf_abi::CpuMode::User,
        id,
        "/bin/true".into(),
    )]));
    writer.finish(&features).unwrap()
}
