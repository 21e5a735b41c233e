//! From a recording to merged samples: recordings in text notation, profiles as folded stacks.

use std::ops::ControlFlow;
use std::sync::Arc;

use oxperf_collect::{CollectOptions, Collector, MergeThreads};
use oxperf_data::Reader;
use oxperf_machine::{Dso, DsoKind, Machine, Objects};
use oxperf_profile::{ContextTree, Detail, DetailOptions, EventProfile, Profile, SampleGroup};
use oxperf_resolve::SymbolSource;
use oxperf_session::{SampleEvent, Session, Sink};
use oxperf_symbols::{Demangling, SymbolTable, kallsyms_table};
use oxperf_testkit::Recording;

const RECORDING: &str = "
event cycles sample=IP|TID|TIME|CPU|CALLCHAIN|PERIOD flags=sample_id_all
mmap mode=kernel pid=-1 tid=0 0xffffffff81000000+0x1000@0xffffffff81000000 [kernel.kallsyms]_text
comm pid=7 tid=7 reader
mmap2 mode=user pid=7 tid=7 0x400000+0x1000@0 prot=5 flags=2 /bin/reader
sample mode=kernel ip=0xffffffff81000210 pid=7 tid=7 time=100 cpu=0 period=1 chain=kernel,0xffffffff81000210,0xffffffff81000110,user,0x400100
sample mode=kernel ip=0xffffffff81000220 pid=7 tid=7 time=200 cpu=1 period=2 chain=kernel,0xffffffff81000220,0xffffffff81000120,user,0x400100
sample mode=user ip=0x400300 pid=7 tid=7 time=300 cpu=1 period=4 chain=user,0x400300,0x400100
sample mode=user ip=0x400300 pid=7 tid=7 time=400 cpu=1 period=8 chain=0xfffffffffffffff9,0x400300
";

/// Names the kernel only.
struct KernelOnly;

impl SymbolSource for KernelOnly {
    fn table(&self, dso: &Dso, _: &Objects) -> Option<Arc<SymbolTable>> {
        let list = b"ffffffff81000100 T do_syscall_64\nffffffff81000200 T vfs_read\nffffffff81000300 T end\n";
        (dso.kind == DsoKind::Kernel).then(|| Arc::new(kallsyms_table(list, None, Demangling::Off)))
    }
}

fn collect(options: CollectOptions) -> Profile {
    collect_details(options, &[])
}

fn collect_details(options: CollectOptions, details: &[Detail]) -> Profile {
    collect_of(RECORDING, options, details)
}

fn collect_of(recording: &str, options: CollectOptions, details: &[Detail]) -> Profile {
    let file = Recording::parse(recording).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    let mut collector = collector(&reader, options, details);
    let finished = Session::new(&reader).run(&mut collector).unwrap();
    collector.finish(&finished.machine)
}

fn collector(
    reader: &Reader<'_>,
    options: CollectOptions,
    details: &[Detail],
) -> Collector<'static> {
    let events = vec![EventProfile {
        name: "cycles".to_owned(),
        ..EventProfile::default()
    }];
    let wanted = DetailOptions {
        details: details.to_vec(),
        ..DetailOptions::default()
    };
    Collector::new(events, &KernelOnly, options).with_details(wanted, None, reader.endian())
}

/// `comm;outermost;...;innermost samples period`, a line for each group of samples.
fn folded(profile: &Profile) -> Vec<String> {
    profile.events[0]
        .groups
        .iter()
        .map(|group| line(profile, group))
        .collect()
}

fn line(profile: &Profile, group: &SampleGroup) -> String {
    let mut chain: Vec<String> = profile
        .chains
        .path_to_root(group.chain)
        .map(|frame| name(profile, frame.index()))
        .collect();
    chain.push(profile.comms[group.comm.index()].clone());
    chain.reverse();
    let cpu = profile.details.value(group.detail, Detail::CPU);
    let cpu = cpu.map(|cpu| format!(" cpu{cpu}")).unwrap_or_default();
    format!(
        "{} {} {}{cpu}",
        chain.join(";"),
        group.samples,
        group.period
    )
}

fn name(profile: &Profile, frame: usize) -> String {
    let frame = profile.frames[frame];
    match frame.symbol {
        Some(symbol) => profile.symbols[symbol.index()].name.clone(),
        None => format!("{:#x}", frame.address),
    }
}

const ALL: CollectOptions = CollectOptions {
    map_sizes: false,
    by_cost: false,
    addresses_apart: false,
    chains: true,
    chains_of_one: false,
    merge_threads: MergeThreads::Never,
    max_stack: 127,
    keep_outermost: false,
    stitch: None,
    history: false,
    hide_unresolved: false,
    moments: false,
    by_address: false,
    merges_unresolved: false,
    builds_apart: false,
    inlines: false,
    lines: None,
    branches: None,
    blocks: None,
};

#[test]
fn samples_of_one_chain_of_functions_are_one_group() {
    let profile = collect(ALL);
    let expected = [
        "reader;0x400100;do_syscall_64;vfs_read 2 3",
        "reader;0x400100;0x400300 1 4",
        // A chain with a marker that is not known is left out; the sample is not.
        "reader 1 8",
    ];
    assert_eq!(folded(&profile), expected);
    assert_eq!(
        (
            profile.events[0].sample_count,
            profile.events[0].period_total
        ),
        (4, 15)
    );
}

#[test]
fn threads_are_merged_when_nobody_asks_for_them() {
    // The second thread does what the first does, but for one address.
    let samples = RECORDING
        .lines()
        .filter(|line| line.starts_with("sample"))
        .collect::<Vec<_>>()
        .join("\n");
    let samples = samples
        .replace("tid=7", "tid=8")
        .replace("0x400300,", "0x400500,");
    let twice = format!("{RECORDING}fork pid=7 ppid=7 tid=8 ptid=7 time=90\n{samples}\n");
    // A third one of another name, too.
    let other = samples.replace("tid=8", "tid=9");
    let twice = format!(
        "{twice}fork pid=7 ppid=7 tid=9 ptid=7 time=90\ncomm pid=7 tid=9 writer\n{other}\n"
    );
    let groups = |merge_threads| {
        folded(&collect_of(
            &twice,
            CollectOptions {
                merge_threads,
                ..ALL
            },
            &[],
        ))
    };
    let merge_threads = [
        "reader;0x400100;do_syscall_64;vfs_read 4 6",
        "reader;0x400100;0x400300 1 4",
        "reader;0x400100;0x400500 1 4",
        "reader 2 16",
    ];
    let named = |name: &str| {
        groups(MergeThreads::ByComm)
            .into_iter()
            .filter(|group| group.starts_with(name))
            .collect::<Vec<_>>()
    };
    assert_eq!(named("reader"), merge_threads);
    assert_eq!(named("writer").len(), 3);
    assert_eq!(groups(MergeThreads::Never).len(), 9);
    // The name of the first stands for all.
    let counts = |text: &String| text.rsplit(' ').nth(1).map(str::to_owned);
    assert_eq!(
        groups(MergeThreads::Always)
            .iter()
            .filter_map(counts)
            .collect::<Vec<_>>(),
        ["6", "1", "2", "3"]
    );
}

#[test]
fn cpus_are_kept_apart_when_asked_for() {
    let profile = collect_details(
        CollectOptions {
            chains: false,
            ..ALL
        },
        &[Detail::CPU],
    );
    assert_eq!(
        folded(&profile),
        ["reader 1 1 cpu0", "reader 1 2 cpu1", "reader 2 12 cpu1"]
    );
}

#[test]
fn long_chains_are_cut_at_the_side_that_does_not_count() {
    let inner = collect(CollectOptions {
        max_stack: 2,
        ..ALL
    });
    assert_eq!(folded(&inner)[0], "reader;do_syscall_64;vfs_read 2 3");
    let outer = collect(CollectOptions {
        max_stack: 2,
        keep_outermost: true,
        ..ALL
    });
    assert_eq!(folded(&outer)[0], "reader;0x400100;do_syscall_64 2 3");
}

/// A sink that takes a snapshot of a collector before each of some samples.
struct Snapshots<'s> {
    collector: Collector<'s>,
    /// The numbers of these samples.
    before: &'s [usize],
    samples: usize,
    taken: Vec<Profile>,
}

impl<'s> Sink for Snapshots<'s> {
    type Inner = Collector<'s>;

    fn inner(&mut self) -> Option<&mut Collector<'s>> {
        Some(&mut self.collector)
    }

    fn sample(&mut self, machine: &mut Machine, event: &SampleEvent<'_>) -> ControlFlow<()> {
        if self.before.contains(&self.samples) {
            self.taken.push(self.collector.snapshot(machine));
        }
        self.samples += 1;
        self.collector.sample(machine, event)
    }
}

/// The profile of a recording, and the snapshots before some of its samples.
fn collect_with_snapshots(
    recording: &str,
    options: CollectOptions,
    details: &[Detail],
    before: &[usize],
) -> (Profile, Vec<Profile>) {
    let file = Recording::parse(recording).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    let mut sink = Snapshots {
        collector: collector(&reader, options, details),
        before,
        samples: 0,
        taken: Vec::new(),
    };
    let finished = Session::new(&reader).run(&mut sink).unwrap();
    (sink.collector.finish(&finished.machine), sink.taken)
}

#[test]
fn a_snapshot_is_the_profile_of_the_samples_so_far() {
    let all_lines: Vec<&str> = RECORDING.lines().collect();
    let samples = all_lines.iter().filter(|line| line.starts_with("sample"));
    let count = samples.count();
    let first = |samples: usize| all_lines[..all_lines.len() - count + samples].join("\n") + "\n";
    let by_address = CollectOptions {
        chains: false,
        by_address: true,
        moments: true,
        ..ALL
    };
    for (options, details) in [
        (ALL, &[][..]),
        (by_address, &[]),
        (ALL, &[Detail::CPU, Detail::Access]),
        (
            CollectOptions {
                map_sizes: true,
                ..ALL
            },
            &[],
        ),
    ] {
        let whole = collect_of(RECORDING, options, details);
        let before: Vec<usize> = (0..count).collect();
        let (profile, snapshots) = collect_with_snapshots(RECORDING, options, details, &before);
        assert_eq!(format!("{profile:?}"), format!("{whole:?}"));
        assert_eq!(snapshots.len(), count);
        for (samples, snapshot) in snapshots.iter().enumerate() {
            let part = collect_of(&first(samples), options, details);
            assert_eq!(snapshot.events[0].sample_count, samples as u64);
            assert_eq!(format!("{snapshot:?}"), format!("{part:?}"));
        }
    }
}

/// Two passes, of which the second takes the groups of these frames alone.
fn collect_twice(recording: &str, wants: impl Fn(&str) -> bool) -> Profile {
    let file = Recording::parse(recording).unwrap().to_file();
    let reader = Reader::open(&file).unwrap();
    let events = vec![EventProfile {
        name: "cycles".to_owned(),
        ..EventProfile::default()
    }];
    assert!(ALL.allows_two_passes());
    let mut first = Collector::first_pass(events, &KernelOnly, ALL);
    let finished = Session::new(&reader).run(&mut first).unwrap();
    let counts = first.finish_first_pass(&finished.machine);
    assert!(
        counts.profile.events[0]
            .groups
            .iter()
            .all(|group| group.chain == ContextTree::ROOT)
    );
    let wanted = |group: &SampleGroup| {
        wants(&name(
            &counts.profile,
            group.counted_at(&counts.profile.branches).index(),
        ))
    };
    let wanted = counts
        .profile
        .events
        .iter()
        .map(|event| event.groups.iter().map(wanted).collect())
        .collect();
    let mut second = Collector::second_pass(counts, wanted, &KernelOnly, ALL);
    let finished = Session::new(&reader).run(&mut second).unwrap();
    second.finish(&finished.machine)
}

#[test]
fn a_second_pass_takes_the_chains_of_the_rows_that_show_them() {
    let once = collect(ALL);
    let all = collect_twice(RECORDING, |_| true);
    assert_eq!(folded(&all), folded(&once));
    let kernel = collect_twice(RECORDING, |name| name == "vfs_read");
    assert_eq!(
        folded(&kernel),
        ["reader;0x400100;do_syscall_64;vfs_read 2 3", "reader 2 12"]
    );
    let user = collect_twice(RECORDING, |name| name == "0x400300");
    assert_eq!(
        folded(&user),
        ["reader 2 3", "reader;0x400100;0x400300 1 4", "reader 1 8"]
    );
    for profile in [all, kernel, user] {
        assert_eq!(
            (
                profile.events[0].sample_count,
                profile.events[0].period_total
            ),
            (4, 15)
        );
        // Chains that cannot be had are counted whoever asks for them.
        assert_eq!(profile.chain_losses.faulty, 1);
    }
}
