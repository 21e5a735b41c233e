//! Small profiles beside each other.

use super::*;
use crate::hist::{HistOptions, histograms};
use oxperf_profile::{
    CommId, ContextTree, DetailId, DsoId, EventProfile, Frame, FrameId, Level, ProfileDso,
    ProfileSymbol, SampleGroup, SymbolId, ThreadId,
};

/// A profile with a sample of each name and period; names that begin with a digit are addresses without a symbol.
fn profile(samples: &[(&str, u64)]) -> Profile {
    let mut profile = Profile {
        comms: vec!["a".into()],
        ..Profile::default()
    };
    profile.dsos.push(ProfileDso {
        long: "/bin/a".into(),
        short: "a".into(),
    });
    let mut event = EventProfile {
        sample_count: samples.len() as u64,
        ..EventProfile::default()
    };
    for (at, &(name, period)) in (0u32..).zip(samples) {
        let bare = name.parse::<u64>().ok();
        let start = u64::from(at) * 16 + 0x1000;
        let symbol = bare
            .is_none()
            .then_some(SymbolId(profile.symbols.len() as u32));
        if symbol.is_some() {
            let (dso, end) = (DsoId(0), start + 16);
            profile.symbols.push(ProfileSymbol {
                name: name.into(),
                dso,
                start,
                end,
                inlined: false,
                is_data: false,
            });
        }
        let address = bare.unwrap_or(start);
        let (dso, level) = (Some(DsoId(0)), Level::User);
        profile.frames.add(Frame {
            dso,
            symbol,
            address,
            dso_address: address,
            level,
            source: None,
            alone: false,
            outermost: true,
        });
        event.period_total += period;
        event.groups.push(SampleGroup {
            thread: ThreadId(0),
            comm: CommId(0),
            detail: DetailId(0),
            branch: None,
            history: None,
            frame: FrameId(at),
            chain: ContextTree::ROOT,
            samples: 1,
            period,
            latency: 0,
            order: at.into(),
        });
    }
    profile.events.push(event);
    profile.frames.seal();
    profile
}

/// The rows as words: what they are about, and the periods.
fn rows(profiles: &[Profile], options: &DiffOptions) -> Vec<String> {
    let hist = HistOptions {
        keys: options.keys.clone(),
        children: false,
        group: false,
        ..HistOptions::default()
    };
    let tables: Vec<_> = profiles
        .iter()
        .map(|profile| histograms(profile, &hist))
        .collect();
    let sides: Vec<Side<'_>> = profiles
        .iter()
        .zip(&tables)
        .map(|(profile, tables)| Side {
            profile,
            event: Some(0),
            table: tables.first(),
        })
        .collect();
    let table = compare(&sides, options);
    let row = |at: usize| {
        let DiffRow { side, row } = table.rows()[at];
        let shown = sides[side].table.unwrap().row(row).unwrap();
        let symbol = profiles[side].frames[shown.frame.index()].symbol;
        let name = symbol.map_or(shown.address.to_string(), |id| {
            profiles[side].symbols[id.index()].name.clone()
        });
        let periods = table
            .periods(at)
            .iter()
            .map(|period| period.map_or("-".into(), |period| period.to_string()));
        format!("{name} {}", periods.collect::<Vec<_>>().join(" "))
    };
    (0..table.rows().len()).map(row).collect()
}

#[test]
fn rows_meet_by_name_and_the_greatest_change_is_first() {
    let sides = [
        profile(&[("gone", 10), ("same", 40), ("less", 50)]),
        profile(&[("same", 40), ("less", 20), ("new", 40)]),
    ];
    assert_eq!(
        rows(&sides, &DiffOptions::default()),
        ["new - 40", "less 50 20", "same 40 40", "gone 10 -"]
    );
    let delta = DiffOptions {
        method: Method::Delta,
        ..DiffOptions::default()
    };
    assert_eq!(
        rows(&sides, &delta),
        ["new - 40", "same 40 40", "less 50 20", "gone 10 -"]
    );
    let ratio = DiffOptions {
        method: Method::Ratio,
        ..DiffOptions::default()
    };
    assert_eq!(
        rows(&sides, &ratio),
        ["same 40 40", "less 50 20", "new - 40", "gone 10 -"]
    );
    let old = DiffOptions {
        order: 0,
        baseline_only: true,
        ..DiffOptions::default()
    };
    assert_eq!(rows(&sides, &old), ["less 50 20", "same 40 40"]);
}

#[test]
fn code_without_symbols_is_one_row_with_its_least_address() {
    let sides = [
        profile(&[("900", 1), ("800", 2), ("f", 1)]),
        profile(&[("7", 3), ("f", 1)]),
    ];
    assert_eq!(rows(&sides, &DiffOptions::default()), ["800 3 3", "f 1 1"]);
}

#[test]
fn changes_as_numbers() {
    let change = DiffChange {
        old: Some(20),
        new: 30,
        old_total: 100,
        new_total: 200,
    };
    assert_eq!(Method::Delta.value(change), -5.0);
    assert_eq!(Method::Ratio.value(change), 1.5);
    assert_eq!(
        Method::Weighted { old: 2, new: 3 }.weighted(change),
        Some(50)
    );
    assert_eq!(
        Method::Ratio.value(DiffChange {
            old: None,
            ..change
        }),
        30.0
    );
}
