//! Tests of the counts of a recording.

use oxperf_abi::{FileOffset, Misc};
use oxperf_data::{FeatureSet, Reader, Writer, WriterEvent};
use oxperf_wire::{Encoder, RecordHeader};

use super::*;

/// A collector of the counts of events with these ids.
fn collector(ids: &[&[u64]]) -> CountCollector {
    let event = |ids: &&[u64]| WriterEvent {
        name: format!("event-{}", ids.len()),
        ids: ids.iter().copied().map(EventId).collect(),
        ..WriterEvent::default()
    };
    let events: Vec<WriterEvent> = ids.iter().map(event).collect();
    let file = Writer::begin(Vec::new(), &events).unwrap();
    let file = file.finish(&FeatureSet::new()).unwrap();
    let reader = Reader::open(&file).unwrap();
    CountCollector::new(&EventTable::new(&reader), Endian::Little)
}

fn give(
    collector: &mut CountCollector,
    kind: RecordType,
    write: impl FnOnce(&mut Encoder),
) -> Option<StatRound> {
    let mut body = Encoder::new(Endian::Little);
    write(&mut body);
    let body = body.into_bytes();
    collector.take(&RawRecord {
        offset: FileOffset(0),
        header: RecordHeader {
            kind,
            misc: Misc(0),
            size: 8 + body.len() as u32,
        },
        body: &body,
        payload: &[],
    })
}

fn count(collector: &mut CountCollector, id: u64, cpu: u32, value: u64) {
    let stat = Stat {
        id: EventId(id),
        cpu,
        thread: 0,
        value,
        enabled: value,
        running: value,
    };
    give(collector, RecordType::STAT, |body| stat.encode(body));
}

fn end_round(collector: &mut CountCollector) -> Option<StatRound> {
    let round = StatRound {
        kind: 0,
        time: oxperf_abi::PerfTime(5),
    };
    give(collector, RecordType::STAT_ROUND, |body| round.encode(body))
}

fn values(collector: &CountCollector, event: usize) -> Vec<u64> {
    let counters = collector.events()[event].counters();
    counters
        .map(|(_, counter)| counter.in_round().value)
        .collect()
}

#[test]
fn a_round_has_what_was_counted_since_the_one_before() {
    let mut collector = collector(&[&[1, 2]]);
    count(&mut collector, 2, 1, 30);
    count(&mut collector, 1, 0, 10);
    assert!(end_round(&mut collector).is_some());
    assert_eq!(values(&collector, 0), [10, 30]);
    collector.begin_round();
    count(&mut collector, 1, 0, 15);
    assert!(end_round(&mut collector).is_some());
    assert_eq!(values(&collector, 0), [5, 0]);
    assert!(end_round(&mut collector).is_none(), "nothing was counted");
}

#[test]
fn an_event_has_its_own_cpus_among_those_that_were_asked_for() {
    let mut collector = collector(&[&[1], &[2, 3]]);
    let map = CpuMap::Range {
        any: false,
        start: 0,
        end: 3,
    };
    give(&mut collector, RecordType::CPU_MAP, |body| map.encode(body));
    let update = EventUpdate {
        id: EventId(2),
        update: Update::Cpus(Some(CpuMap::Cpus(vec![2, 3, 9]))),
    };
    give(&mut collector, RecordType::EVENT_UPDATE, |body| {
        update.encode(body)
    });
    count(&mut collector, 1, 7, 1);
    end_round(&mut collector);
    let cpus = |event| {
        let places = collector.places(event).into_iter();
        places.map(|place| place.cpu.unwrap().0).collect::<Vec<_>>()
    };
    assert_eq!((cpus(0), cpus(1)), (vec![0, 1, 2, 3, 7], vec![2, 3]));
    assert!(collector.places(9).is_empty());
}

#[test]
fn what_cannot_be_taken_is_counted() {
    let mut collector = collector(&[&[1]]);
    count(&mut collector, 99, 0, 1);
    give(&mut collector, RecordType::STAT, |body| body.u64(1));
    let lost = collector.lost();
    assert_eq!((lost.unknown_ids, lost.undecodable), (1, 1));
    assert_eq!((lost.without_round, collector.rounds()), (1, 0));
}

#[test]
fn settings_and_threads() {
    let mut collector = collector(&[&[1]]);
    give(&mut collector, RecordType::STAT_CONFIG, |body| {
        StatConfig::encode_settings(&[(0, 7), (1, 100), (2, 0), (3, 2)], body);
    });
    let settings = collector.settings().unwrap();
    assert_eq!(
        (settings.aggregation, settings.cache_level),
        (Some(7), Some(2))
    );
    assert_eq!((settings.interval, settings.scales), (100, false));
    let entry = |pid, comm: &[u8]| ThreadMapEntry {
        pid,
        comm: comm.to_vec(),
    };
    let map = ThreadMap {
        entries: vec![entry(u64::MAX, b""), entry(7, b"make")],
    };
    give(&mut collector, RecordType::THREAD_MAP, |body| {
        map.encode(body)
    });
    let tids: Vec<Option<Tid>> = collector
        .threads()
        .iter()
        .map(|thread| thread.tid)
        .collect();
    assert_eq!(tids, [None, Some(Tid(7))]);
}

/// A table of many CPUs costs a hostile recording a few bytes for each event.
#[test]
fn made_up_places_are_bounded() {
    let ids: Vec<[u64; 1]> = (1..=20).map(|id| [id]).collect();
    let ids: Vec<&[u64]> = ids.iter().map(|ids| &ids[..]).collect();
    let mut collector = collector(&ids);
    let map = CpuMap::Range {
        any: false,
        start: 0,
        end: u16::MAX,
    };
    give(&mut collector, RecordType::CPU_MAP, |body| map.encode(body));
    end_round(&mut collector);
    let places: usize = (0..20).map(|event| collector.places(event).len()).sum();
    assert_eq!(places, MOST_PLACES);
}

/// Their counts and descriptions name no id: the order says what belongs to which.
#[test]
fn events_that_no_kernel_counts() {
    let tool = |config| WriterEvent {
        attr: oxperf_abi::EventAttr {
            kind: oxperf_abi::EventType(0xffff_fffe),
            config,
            ..Default::default()
        },
        ..WriterEvent::default()
    };
    let cycles = WriterEvent {
        ids: vec![EventId(1)],
        ..WriterEvent::default()
    };
    let file = Writer::begin(Vec::new(), &[cycles, tool(1), tool(1), tool(2)]).unwrap();
    let file = file.finish(&FeatureSet::new()).unwrap();
    let reader = Reader::open(&file).unwrap();
    let table = EventTable::new(&reader);
    let mut collector = CountCollector::new(&table, Endian::Little);
    for name in ["first", "second", "third"] {
        let updates = [
            Update::Cpus(Some(CpuMap::Cpus(vec![0]))),
            Update::Name(name.as_bytes()),
        ];
        for update in updates {
            let update = EventUpdate { id: NO_ID, update };
            give(&mut collector, RecordType::EVENT_UPDATE, |body| {
                update.encode(body)
            });
        }
    }
    // As when a stream renames another event.
    collector.set_events(&table);
    for value in [7, 7, 9] {
        count(&mut collector, 0, 0, value);
    }
    end_round(&mut collector);
    let names: Vec<&str> = collector.events()[1..]
        .iter()
        .map(|event| &*event.name)
        .collect();
    assert_eq!(names, ["first", "second", "third"]);
    let counted: Vec<Vec<u64>> = (0..4).map(|event| values(&collector, event)).collect();
    assert_eq!(counted, [vec![], vec![7], vec![], vec![9]]);
    assert_eq!(collector.lost().unknown_ids, 0);
}
