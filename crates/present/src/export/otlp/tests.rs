//! Messages read back by a decoder that knows none of our code, and held against the published rules.

use oxperf_abi::Pid;
use oxperf_profile::Profile;
use oxperf_testkit::otlp::{OtlpRequest, OtlpValue};
use rustc_hash::FxHashMap;

use super::super::tests::{code_objects, code_profile};
use super::{Attribute, AttributeValue, MessageLimits, OtlpExport};
use crate::export::CodeExport;

/// A second after 1970, and what the recording's clock showed then.
const WALL_OFFSET: u64 = 1_000_000_000;

/// The messages of a profile, each without a fault.
fn messages(profile: &Profile, limits: MessageLimits) -> Vec<OtlpRequest> {
    let (objects, addresses) = code_objects();
    let events: Vec<_> = profile.events.iter().collect();
    let export = OtlpExport {
        code: CodeExport {
            title: "demo -x",
            lost: &[],
            profile,
            events: &events,
            objects: &objects,
            addresses: &addresses,
            inlines: true,
        },
        resource: &[Attribute::text("host.name", "vm")],
        attributes: &[Attribute {
            key: "pprof.profile.comment".into(),
            value: AttributeValue::Texts(vec!["2 records were lost".to_owned()]),
        }],
        executables: &FxHashMap::from_iter([(Pid(40), "demo".to_owned())]),
        wall_offset: WALL_OFFSET,
        untimed: 7,
    };
    let messages = export.messages(limits).map(|message| {
        let mut bytes = Vec::new();
        message.write(&mut bytes).unwrap();
        let request = OtlpRequest::decode(&bytes).unwrap();
        assert_eq!(request.faults(), [""; 0]);
        assert_eq!(request.mappings_without_identity(), [""; 0]);
        request
    });
    messages.collect()
}

fn one_message(profile: &Profile) -> OtlpRequest {
    let mut messages = messages(profile, MessageLimits::NONE);
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}

/// The functions of each sample, its times and its values, profile after profile.
fn samples(request: &OtlpRequest) -> Vec<(Vec<&str>, Vec<u64>, Vec<i64>)> {
    let samples = request.profiles().flat_map(|profile| &profile.samples);
    let of = samples.map(|sample| {
        let functions = request.functions(sample.stack_index);
        (functions, sample.times.clone(), sample.values.clone())
    });
    of.collect()
}

#[test]
fn a_message_holds_every_sample_at_its_time_with_its_stack() {
    let request = one_message(&code_profile());
    let at = |times: &[u64]| times.iter().map(|time| time + WALL_OFFSET).collect();
    assert_eq!(
        samples(&request),
        [
            (
                vec!["inlined", "work", "main"],
                at(&[1000, 1500]),
                vec![100, 200]
            ),
            (vec!["main"], at(&[1700]), vec![50]),
        ]
    );
    let profile = request.profiles().next().unwrap();
    let (kind, unit) = profile.sample_type;
    assert_eq!(
        [request.text(kind), request.text(unit)],
        ["cycles", "count"]
    );
    assert_eq!((profile.time, profile.duration), (WALL_OFFSET + 1000, 701));
    assert_eq!(profile.period, 116);
}

#[test]
fn attributes_say_where_samples_come_from_and_what_was_lost() {
    let request = one_message(&code_profile());
    let text = |text: &str| OtlpValue::Text(text.to_owned());
    let resource = &request.resources[0];
    assert_eq!(resource.attributes, [("host.name".to_owned(), text("vm"))]);
    assert_eq!(resource.scopes[0].0.0, "oxperf");
    let profile = request.profiles().next().unwrap();
    let lost = OtlpValue::List(vec![text("2 records were lost")]);
    assert_eq!(
        request.attributes(&profile.attribute_indices),
        [
            ("pprof.profile.comment", &lost),
            ("oxperf.event", &text("cycles")),
            ("oxperf.lost_samples", &OtlpValue::Number(0)),
        ]
    );
    assert_eq!(
        request.attributes(&profile.samples[0].attribute_indices),
        [
            ("process.pid", &OtlpValue::Number(40)),
            ("process.executable.name", &text("demo")),
            ("thread.id", &OtlpValue::Number(41)),
            ("thread.name", &text("demo")),
            ("cpu.logical_number", &OtlpValue::Number(3)),
        ]
    );
}

#[test]
fn locations_have_lines_and_mappings_their_identity() {
    let request = one_message(&code_profile());
    let tables = &request.dictionary;
    let mapping = &tables.mappings[1];
    assert_eq!((mapping.start, mapping.limit), (0x40_0000, 0x40_1000));
    assert_eq!(request.text(mapping.filename), "/bin/demo");
    let identity = OtlpValue::Text("ab".repeat(20));
    assert_eq!(
        request.attributes(&mapping.attribute_indices),
        [("process.executable.build_id.gnu", &identity)]
    );
    let work = &tables.locations[1];
    assert_eq!((work.mapping_index, work.address), (1, 0x40_0208));
    let lines = work.lines.iter().map(|&[function, line, _]| {
        let [name, _, file, _] = tables.functions[function as usize];
        (request.text(name), request.text(file), line)
    });
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines, [("inlined", "/src/a.h", 7), ("work", "/src/a.c", 9)]);
}

#[test]
fn several_messages_hold_what_one_holds() {
    let profile = code_profile();
    let limits = MessageLimits {
        samples: 1,
        ..MessageLimits::NONE
    };
    let small = MessageLimits {
        bytes: 1,
        ..MessageLimits::NONE
    };
    for (limits, count) in [(limits, 3), (small, 3)] {
        let messages = messages(&profile, limits);
        assert_eq!(messages.len(), count);
        let ids: Vec<_> = messages
            .iter()
            .flat_map(OtlpRequest::profiles)
            .map(|profile| &profile.id)
            .collect();
        assert_ne!(ids[0], ids[1]);
        let parts = messages.iter().flat_map(samples);
        let whole = one_message(&profile);
        let single = samples(&whole)
            .into_iter()
            .flat_map(|(functions, times, values)| {
                let points = times.into_iter().zip(values);
                points.map(move |(time, value)| (functions.clone(), vec![time], vec![value]))
            });
        assert_eq!(parts.collect::<Vec<_>>(), single.collect::<Vec<_>>());
    }
}

#[test]
fn samples_without_times_are_summed_up() {
    let mut profile = code_profile();
    for moment in &mut profile.events[0].moments {
        moment.time = None;
    }
    let request = one_message(&profile);
    assert_eq!(
        samples(&request),
        [
            (vec!["inlined", "work", "main"], vec![], vec![300]),
            (vec!["main"], vec![], vec![50]),
        ]
    );
    let profile = request.profiles().next().unwrap();
    assert_eq!((profile.time, profile.duration), (7, 0));
}

#[test]
fn each_event_has_a_profile_and_clocks_count_nanoseconds() {
    let mut profile = code_profile();
    let mut clock = profile.events[0].clone();
    clock.name = "cpu-clock:u".to_owned();
    clock.moments.truncate(1);
    let mut empty = clock.clone();
    empty.moments.clear();
    profile.events.extend([clock, empty]);
    let request = one_message(&profile);
    let types = request.profiles().map(|profile| {
        let (kind, unit) = profile.sample_type;
        [request.text(kind), request.text(unit)]
    });
    let types: Vec<_> = types.collect();
    assert_eq!(types, [["cycles", "count"], ["cpu", "nanoseconds"]]);
}

/// The number that stands for a period is not above what the format can hold.
#[test]
fn periods_of_64_bits_are_cut() {
    let mut profile = code_profile();
    profile.events[0].moments[2].period = u64::MAX;
    let request = one_message(&profile);
    assert_eq!(samples(&request)[1].2, [i64::MAX]);
}
