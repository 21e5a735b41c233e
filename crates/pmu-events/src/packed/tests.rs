//! Tables come back as they were packed; damaged ones end as an error.

use super::*;

fn event(name: &str, pmu: &str, terms: &str) -> PackedEvent {
    PackedEvent {
        name: name.to_owned(),
        pmu: pmu.to_owned(),
        terms: terms.to_owned(),
        topic: "floating point".to_owned(),
        ..PackedEvent::default()
    }
}

fn models() -> Vec<PackedModel> {
    let first = vec![
        event("a.one", "cpu", "event=1"),
        PackedEvent {
            deprecated: true,
            counters: Some("0,1,2,3".to_owned()),
            precise: Some(2),
            ..event("a.one", "cpu_atom", "event=1,umask=3")
        },
        PackedEvent {
            per_package: true,
            precise: Some(0),
            ..event("a.oñe", "uncore_cha", "event=1")
        },
        event("a.oþe", "cpu", ""),
    ];
    let second = vec![event("b", "cpu", "config=0x29")];
    vec![
        PackedModel {
            path: "x/one".to_owned(),
            events: first,
        },
        PackedModel {
            path: "x/two".to_owned(),
            events: second,
        },
    ]
}

#[test]
fn models_come_back() {
    let packed = write("title\n", &models()).unwrap();
    let tables = PackedTables::read(&packed).unwrap();
    assert_eq!(tables.mapfile, "title\n");
    assert_eq!(tables.paths().collect::<Vec<_>>(), ["x/one", "x/two"]);
    for model in models() {
        assert_eq!(tables.events(&[&model.path]).unwrap(), model.events);
    }
    let both = tables.events(&["x/one", "x/two"]).unwrap();
    assert_eq!(both.len(), 5);
    assert_eq!(tables.events(&["x"]).unwrap(), []);
}

#[test]
fn damage_is_an_error() {
    let packed = write("title\n", &models()).unwrap();
    for length in 0..packed.len() {
        let paths = ["x/one", "x/two"];
        let cut = PackedTables::read(&packed[..length]).and_then(|cut| cut.unpack(&paths));
        assert!(cut.is_err(), "{length}");
    }
    let block = block::encode(&models()[0].events);
    for length in 0..block.len() {
        assert!(block::decode(&block[..length], &mut Default::default()).is_none());
    }
    for place in 0..block.len() {
        for bit in 0..8 {
            let mut changed = block.clone();
            changed[place] ^= 1 << bit;
            // Other text may come of it, and nothing worse.
            block::decode(&changed, &mut Default::default());
        }
    }
}
