//! The binary formats, read back by a walk over fields that knows none of our code.

use std::num::NonZeroU32;

use oxperf_analysis::flame::FlameTree;
use oxperf_profile::{
    CommId, ContextTree, DetailId, DsoId, EventProfile, Frame, FrameId, Level, Profile, ProfileDso,
    ProfileSymbol, ProfileThread, SampleGroup, SampleMoment, Source, SourceId, SymbolId, ThreadId,
};

use super::{CodeExport, CodeFormat, Exported, ExportedMapping, ExportedObject, TreeFormat};

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

fn written(format: TreeFormat) -> Vec<u8> {
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

/// The same profile by address: `inlined` was inlined in `work`, at line 7 of `a.h`.
pub(super) fn code_profile() -> Profile {
    let mut profile = profile();
    profile.sources = ["/src/a.h:7", "/src/a.h", "/src/a.c:9", "/src/a.c"]
        .map(str::to_owned)
        .to_vec();
    let source = |line, number| Source {
        line: SourceId(line),
        file: SourceId(line + 1),
        number: NonZeroU32::new(number),
    };
    let [main, work] = [FrameId(0), FrameId(1)].map(|id| profile.frames[id.index()]);
    profile.symbols.push(ProfileSymbol {
        name: "inlined".to_owned(),
        inlined: true,
        ..profile.symbols[1].clone()
    });
    let inlined = Frame {
        symbol: Some(SymbolId(2)),
        source: Some(source(0, 7)),
        outermost: false,
        ..work
    };
    let work = Frame {
        source: Some(source(2, 9)),
        ..work
    };
    profile.frames = [main, work, inlined].into_iter().collect();
    profile.chains = ContextTree::default();
    let inner = [FrameId(0), FrameId(1), FrameId(2)];
    let chains = [&inner[..], &inner[..1]].map(|chain| profile.chains.insert(chain));
    let event = &mut profile.events[0];
    for (group, chain) in event.groups.iter_mut().zip(chains) {
        group.chain = chain;
    }
    profile
}

/// Its object, and the addresses of its frames.
pub(super) fn code_objects() -> ([ExportedObject; 1], [u64; 3]) {
    let objects = [ExportedObject {
        build_id: oxperf_abi::BuildId::new(&[0xab; 20]),
        is_main: true,
        base: 0,
        mappings: vec![ExportedMapping {
            start: 0x40_0000,
            end: 0x40_1000,
            file_offset: 0,
            bias: 0x40_0000_u64.wrapping_neg(),
        }],
    }];
    (objects, [0x104, 0x208, 0x208])
}

fn code(format: CodeFormat) -> Vec<u8> {
    let profile = code_profile();
    let (objects, addresses) = code_objects();
    let mut out = Vec::new();
    CodeExport {
        title: "demo -x",
        lost: &["2 records were lost".to_owned()],
        profile: &profile,
        events: &[&profile.events[0]],
        objects: &objects,
        addresses: &addresses,
        inlines: true,
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

/// The first number of a field of a message; 0 where it is left out.
fn number(message: &[u8], field: u64) -> u64 {
    all(message, field)
        .into_iter()
        .next()
        .map_or(0, Value::number)
}

#[test]
fn pprof_holds_each_stack_with_its_weight_and_lines() {
    let file = code(CodeFormat::Pprof);
    let texts: Vec<String> = all(&file, 6)
        .into_iter()
        .map(|text| String::from_utf8(text.bytes().to_vec()).unwrap())
        .collect();
    let text = |number: u64| texts[number as usize].as_str();
    assert_eq!(texts[0], "");
    let functions: Vec<(&str, &str)> = all(&file, 5)
        .into_iter()
        .map(Value::bytes)
        .map(|function| (text(number(function, 2)), text(number(function, 4))))
        .collect();
    let locations: Vec<_> = all(&file, 4)
        .into_iter()
        .map(Value::bytes)
        .map(|location| {
            let lines = all(location, 4).into_iter().map(|line| {
                let line = line.bytes();
                let (name, path) = functions[number(line, 1) as usize - 1];
                (name, path, number(line, 2))
            });
            let lines: Vec<(&str, &str, u64)> = lines.collect();
            (number(location, 2), number(location, 3), lines)
        })
        .collect();
    assert_eq!(
        locations,
        [
            (
                1,
                0x40_0208,
                vec![("inlined", "/src/a.h", 7), ("work", "/src/a.c", 9)]
            ),
            (1, 0x40_0104, vec![("main", "", 0)]),
        ]
    );
    let samples: Vec<(Vec<u64>, Vec<u64>)> = all(&file, 2)
        .into_iter()
        .map(|sample| {
            [1, 2].map(|field| packed(all(sample.clone().bytes(), field)[0].clone().bytes()))
        })
        .map(|[locations, values]| (locations, values))
        .collect();
    assert_eq!(
        samples,
        [(vec![1, 2], vec![2, 300]), (vec![2], vec![1, 50])]
    );
    let mapping = all(&file, 3)[0].clone().bytes();
    assert_eq!(
        [2, 3, 4].map(|field| number(mapping, field)),
        [0x40_0000, 0x40_1000, 0]
    );
    assert_eq!(text(number(mapping, 5)), "/bin/demo");
    assert_eq!(text(number(mapping, 6)), "ab".repeat(20));
    assert_eq!([7, 8, 9, 10].map(|field| number(mapping, field)), [1; 4]);
    assert_eq!(all(&file, 10), [Value::Number(700)]);
    assert!(texts.iter().any(|text| text == "2 records were lost"));
}

#[test]
fn callgrind_holds_files_and_lines() {
    let text = String::from_utf8(code(CodeFormat::Callgrind)).unwrap();
    let (_, body) = text.split_once("events: Samples Events\n\n").unwrap();
    assert_eq!(
        body,
        "\
ob=(2) /bin/demo
fl=(1) ???
fn=(1) main
0x104 0 1 50
cob=(2)
cfi=(5) /src/a.c
cfn=(2) work
calls=2 0x200 0
0x104 0 2 300

ob=(2)
fl=(5)
fn=(2)
cob=(2)
cfi=(3) /src/a.h
cfn=(3) inlined
calls=2 0x0 0
0x208 9 2 300

ob=(2)
fl=(3)
fn=(3)
0x208 7 2 300

totals: 3 350
"
    );
}

#[test]
fn firefox_holds_lines_inlined_functions_and_identities() {
    let text = String::from_utf8(code(CodeFormat::Firefox)).unwrap();
    for part in [
        "\"breakpadId\":\"ABABABABABABABABABABABABABABABAB0\"",
        "\"markers\":{\"length\":1,\"category\":[0],\"data\":[{\"type\":\"CPU\",\"cpu\":3}],\"startTime\":[0],\"endTime\":[0.0007],\"name\":[0],\"phase\":[1]}",
        "\"samples\":{\"length\":3,\"weightType\":\"samples\",\"weight\":[100,200,50],\"stack\":[2,2,0]",
        "\"frameTable\":{\"length\":3,\"address\":[260,520,520],\"category\":[1,1,1],\"func\":[0,1,2],\"inlineDepth\":[0,0,1]",
        "\"nativeSymbol\":[0,1,1],\"line\":[null,9,7]",
        "\"fileName\":[null,3,5]",
        "\"nativeSymbols\":{\"length\":2,\"address\":[256,512],\"functionSize\":[16,16],\"libIndex\":[0,0],\"name\":[1,2]}",
        "\"stringArray\":[\"CPU\",\"main\",\"work\",\"/src/a.c\",\"inlined\",\"/src/a.h\",\"demo\"]",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn perfetto_holds_each_sample_at_its_time() {
    let file = written(TreeFormat::Perfetto);
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
