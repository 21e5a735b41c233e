//! Small chains of branches.

use super::*;
use crate::hist::{HistOptions, histograms};
use oxperf_profile::{
    CommId, DetailId, DsoId, Level, ProfileDso, ProfileSymbol, Source, SymbolId, ThreadId,
};

/// A profile of an object with functions of 16 bytes, `f0` at 0, each byte a line of its own but for the first two.
struct Maker {
    profile: Profile,
    event: EventProfile,
}

impl Maker {
    fn new() -> Maker {
        let mut profile = Profile {
            comms: vec!["a".into()],
            ..Profile::default()
        };
        profile.dsos.push(ProfileDso {
            long: "/bin/a".into(),
            short: "a".into(),
        });
        profile.sources.push("a.c".into());
        Maker {
            profile,
            event: EventProfile::default(),
        }
    }

    fn frame(&mut self, address: u64) -> FrameId {
        let function = address / 16;
        while self.profile.symbols.len() as u64 <= function {
            let start = self.profile.symbols.len() as u64 * 16;
            self.profile.symbols.push(ProfileSymbol {
                name: format!("f{}", start / 16),
                dso: DsoId(0),
                start,
                end: start + 16,
                inlined: false,
                is_data: false,
            });
        }
        let known = self
            .profile
            .frames
            .iter()
            .position(|frame| frame.address == address);
        if let Some(known) = known {
            return FrameId(known as u32);
        }
        let line = format!("a.c:{}", address.max(1));
        let sources = &mut self.profile.sources;
        let line = sources
            .iter()
            .position(|known| *known == line)
            .unwrap_or_else(|| {
                sources.push(line);
                sources.len() - 1
            });
        self.profile.frames.add(Frame {
            dso: Some(DsoId(0)),
            symbol: Some(SymbolId(function as u32)),
            address,
            dso_address: address,
            level: Level::User,
            source: Some(Source {
                number: None,
                line: SourceId(line as u32),
                file: SourceId(0),
            }),
            alone: true,
            outermost: true,
        })
    }

    /// Adds a sample with the chain of branches before it, the newest first.
    fn sample(&mut self, address: u64, chain: &[u64], period: u64) {
        let frame = self.frame(address);
        let chain: Vec<FrameId> = chain
            .iter()
            .rev()
            .map(|&address| self.frame(address))
            .collect();
        let chain = self.profile.chains.insert(&chain);
        self.event.sample_count += 1;
        self.event.period_total += period;
        self.event.groups.push(SampleGroup {
            thread: ThreadId(0),
            comm: CommId(0),
            detail: DetailId(0),
            branch: None,
            history: None,
            frame,
            chain,
            samples: 1,
            period,
            latency: 0,
            order: self.event.sample_count,
        });
    }

    fn finish(mut self) -> Profile {
        self.profile.events.push(self.event);
        self.profile.frames.seal();
        self.profile.chains.seal();
        self.profile
    }
}

fn hot(profile: &Profile) -> HotStreams {
    let options = HistOptions {
        keys: KEYS.to_vec(),
        children: false,
        ..HistOptions::default()
    };
    hot_streams(
        profile,
        &profile.events[0],
        &histograms(profile, &options)[0],
    )
}

/// Hits, and the places as addresses, negative where the name is not shown.
fn shown(profile: &Profile, hot: &HotStreams) -> Vec<(u64, Vec<i64>)> {
    let place = |place: &StreamPlace| {
        let address = profile.frames[place.frame.index()].address as i64;
        if place.named { address } else { -address }
    };
    hot.streams
        .iter()
        .map(|stream| (stream.hits, stream.places.iter().map(place).collect()))
        .collect()
}

#[test]
fn a_stream_is_what_a_branch_adds() {
    let mut maker = Maker::new();
    maker.sample(0x20, &[0x30, 0x40, 0x50], 5);
    maker.sample(0x20, &[0x30, 0x40], 7);
    maker.sample(0x20, &[0x30, 0x40, 0x60, 0x70], 5);
    let profile = maker.finish();
    let hot = hot(&profile);
    let expected = vec![
        (7, vec![0x30, 0x40]),
        (5, vec![0x60, 0x70]),
        (5, vec![0x50]),
    ];
    assert_eq!(shown(&profile, &hot), expected);
    assert_eq!(hot.all_hits, 17);
}

#[test]
fn names_are_those_of_the_lowest_address() {
    let mut maker = Maker::new();
    // Both addresses are of line 1.
    maker.sample(0, &[0x30, 0x40], 2);
    maker.sample(1, &[0x30, 0x50], 3);
    let profile = maker.finish();
    assert_eq!(
        shown(&profile, &hot(&profile)),
        vec![(3, vec![-0x50]), (2, vec![0x40])]
    );
}

#[test]
fn the_least_hot_makes_room() {
    let mut maker = Maker::new();
    // Rows of 9, 8 and so on, the first with a stream of 1.
    maker.sample(0x20, &[0x110], 1);
    (0..6).for_each(|row| maker.sample(0x20 + 0x10 * row, &[0x100], 9 - row));
    let profile = maker.finish();
    let hits: Vec<u64> = hot(&profile)
        .streams
        .iter()
        .map(|stream| stream.hits)
        .collect();
    assert_eq!(hits, [9, 5, 8, 7, 6]);
    assert_eq!(hot(&profile).all_hits, 40);
}

#[test]
fn streams_are_alike_by_their_lines() {
    let maker = |chain: &[u64]| {
        let mut maker = Maker::new();
        maker.sample(0x20, chain, 1);
        maker.finish()
    };
    let (one, same) = (maker(&[0x30, 0]), maker(&[0x30, 1]));
    let (other, shorter) = (maker(&[0x30, 2]), maker(&[0x30]));
    let stream = |profile| hot(profile).streams.remove(0);
    let like_one = |profile| are_alike((&one, &stream(&one)), (profile, &stream(profile)));
    assert!(like_one(&same) && !like_one(&other) && !like_one(&shorter));
}

#[test]
fn of_rows_that_weigh_the_same_the_shorter_chains_come_first() {
    let mut maker = Maker::new();
    maker.sample(0x20, &[0x110, 0x120], 1);
    maker.sample(0x30, &[0x100], 1);
    maker.sample(0x40, &[0x100], 2);
    // Line 1 has two addresses, and long chains at the other one.
    maker.sample(0, &[0x100], 0);
    maker.sample(1, &[0x110, 0x120, 0x130], 1);
    let profile = maker.finish();
    let lengths: Vec<usize> = hot(&profile)
        .streams
        .iter()
        .map(|stream| stream.places.len())
        .collect();
    assert_eq!(lengths, [1, 3, 1, 2]);
}
