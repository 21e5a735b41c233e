//! The binary formats, read back by a walk over fields that knows none of our code.

use oxperf_analysis::flame::FlameTree;
use oxperf_profile::{
    CommId, ContextTree, DetailId, DsoId, EventProfile, Frame, FrameId, Level, Profile, ProfileDso,
    ProfileSymbol, ProfileThread, SampleGroup, SampleMoment, SymbolId, ThreadId,
};

use super::{Exported, Format};

/// `main` calls `work`: two samples there, one in `main` itself.
fn profile() -> Profile {
    let symbol = |name: &str, start| ProfileSymbol {
        name: name.to_owned(),
        dso: DsoId(0),
        start,
        end: start + 16,
        inlined: false,
        is_data: false,
    };
    let frame = |symbol, address| Frame {
        dso: Some(DsoId(0)),
        symbol: Some(SymbolId(symbol)),
        address,
        dso_address: address,
        level: Level::User,
        source: None,
        alone: false,
        outermost: true,
    };
    let mut chains = ContextTree::default();
    let (main, work) = (FrameId(0), FrameId(1));
    let (inner, outer) = (chains.insert(&[main, work]), chains.insert(&[main]));
    let group = |frame, chain, samples, period, order| SampleGroup {
        branch: None,
        history: None,
        thread: ThreadId(0),
        comm: CommId(0),
        detail: DetailId(0),
        frame,
        chain,
        samples,
        period,
        latency: 0,
        order,
    };
    let moment = |time, group, period| SampleMoment {
        time: Some(time),
        cpu: Some(3),
        group,
        period,
    };
    Profile {
        comms: vec!["demo".to_owned()],
        dsos: vec![ProfileDso {
            long: "/bin/demo".to_owned(),
            short: "demo".to_owned(),
        }],
        symbols: vec![symbol("main", 0x100), symbol("work", 0x200)],
        frames: [frame(0, 0x104), frame(1, 0x208)].into_iter().collect(),
        chains,
        threads: vec![ProfileThread {
            pid: oxperf_abi::Pid(40),
            tid: oxperf_abi::Tid(41),
            comm: CommId(0),
        }],
        events: vec![EventProfile {
            name: "cycles".to_owned(),
            groups: vec![group(work, inner, 2, 300, 0), group(main, outer, 1, 50, 2)],
            moments: vec![
                moment(1000, 0, 100),
                moment(1500, 0, 200),
                moment(1700, 1, 50),
            ],
            sample_count: 3,
            period_total: 350,
            ..EventProfile::default()
        }],
        ..Profile::default()
    }
}

fn written(format: Format) -> Vec<u8> {
    let profile = profile();
    let event = &profile.events[0];
    let (tree, places) = FlameTree::with_places(&profile, event);
    let lost = ["2 records were lost".to_owned()];
    let mut out = Vec::new();
    Exported {
        title: "demo -x",
        lost: &lost,
        profile: &profile,
        event,
        tree: &tree,
        places: &places,
    }
    .write(format, &mut out)
    .unwrap();
    out
}

/// A field's value.
#[derive(Clone, Debug, PartialEq)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            Value::Number(number) => panic!("a number, {number}"),
        }
    }

    fn number(self) -> u64 {
        match self {
            Value::Number(number) => number,
            Value::Bytes(bytes) => panic!("bytes, {bytes:?}"),
        }
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().expect("a varint ends");
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return value;
        }
    }
}

fn fields(mut message: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let number = varint(&mut message);
        let value = match key & 7 {
            0 => Value::Number(number),
            2 => {
                let (bytes, rest) = message.split_at(number as usize);
                message = rest;
                Value::Bytes(bytes)
            }
            kind => panic!("wire type {kind}"),
        };
        fields.push((key >> 3, value));
    }
    fields
}

fn all<'a>(message: &'a [u8], field: u64) -> Vec<Value<'a>> {
    fields(message)
        .into_iter()
        .filter(|(number, _)| *number == field)
        .map(|(_, value)| value)
        .collect()
}

fn packed(mut bytes: &[u8]) -> Vec<u64> {
    std::iter::from_fn(|| (!bytes.is_empty()).then(|| varint(&mut bytes))).collect()
}

#[test]
fn pprof_holds_each_stack_with_its_weight() {
    let file = written(Format::Pprof);
    let texts: Vec<String> = all(&file, 6)
        .into_iter()
        .map(|text| String::from_utf8(text.bytes().to_vec()).unwrap())
        .collect();
    assert_eq!(texts[0], "");
    let function = |location: u64| {
        let function = all(&file, 5)
            .into_iter()
            .map(Value::bytes)
            .find(|message| all(message, 1)[0] == Value::Number(location));
        texts[all(function.unwrap(), 2)[0].clone().number() as usize].clone()
    };
    let samples: Vec<(Vec<String>, Vec<u64>)> = all(&file, 2)
        .into_iter()
        .map(|sample| {
            let sample = sample.bytes();
            let locations = packed(all(sample, 1)[0].clone().bytes());
            (
                locations.into_iter().map(function).collect(),
                packed(all(sample, 2)[0].clone().bytes()),
            )
        })
        .collect();
    let stack = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        samples,
        [
            (stack(&["main"]), vec![1, 50]),
            (stack(&["work", "main"]), vec![2, 300])
        ]
    );
    assert_eq!(all(&file, 10), [Value::Number(700)]);
    assert!(texts.iter().any(|text| text == "2 records were lost"));
}

#[test]
fn perfetto_holds_each_sample_at_its_time() {
    let file = written(Format::Perfetto);
    let packets: Vec<&[u8]> = all(&file, 1).into_iter().map(Value::bytes).collect();
    let samples: Vec<(u64, u64, u64)> = packets
        .iter()
        .filter_map(|packet| {
            let sample = all(packet, 66).into_iter().next()?.bytes();
            let number = |field| all(sample, field)[0].clone().number();
            Some((all(packet, 8)[0].clone().number(), number(3), number(6)))
        })
        .collect();
    assert_eq!(samples, [(0, 41, 100), (500, 41, 200), (700, 41, 50)]);
    let stacks = packets
        .iter()
        .flat_map(|packet| all(packet, 12))
        .flat_map(|data| all(data.bytes(), 7));
    let lengths: Vec<usize> = stacks.map(|stack| all(stack.bytes(), 2).len()).collect();
    assert_eq!(lengths, [1, 2]);
}
