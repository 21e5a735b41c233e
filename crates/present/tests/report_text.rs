//! Report tables as text, from stacks written as `outermost;..;innermost PERIOD`.

use oxperf_abi::{Pid, Tid};
use oxperf_analysis::hist::{
    CallGraphOptions, Field, HistOptions, Measure, Shape, SortKey, histograms,
};
use oxperf_present::report::{GraphText, GraphValue, ReportText, table};
use oxperf_profile::ChainOrder;
use oxperf_profile::{
    CommId, DetailId, DsoId, EventProfile, Frame, FrameId, Level, Profile, ProfileDso,
    ProfileSymbol, ProfileThread, SampleGroup, SymbolId, ThreadId,
};

fn profile(samples: &[&str]) -> Profile {
    let mut profile = Profile {
        comms: vec!["app".to_owned()],
        dsos: vec![ProfileDso {
            long: "/bin/app".to_owned(),
            short: "app".to_owned(),
        }],
        threads: vec![ProfileThread {
            pid: Pid(7),
            tid: Tid(8),
            comm: CommId(0),
        }],
        events: vec![EventProfile {
            name: "cycles".to_owned(),
            has_callchains: true,
            ..EventProfile::default()
        }],
        ..Profile::default()
    };
    samples.iter().for_each(|line| sample(&mut profile, line));
    profile
}

fn sample(profile: &mut Profile, line: &str) {
    let (stack, period) = line.rsplit_once(' ').unwrap();
    let frames: Vec<FrameId> = stack.split(';').map(|name| frame(profile, name)).collect();
    let (chain, period) = (profile.chains.insert(&frames), period.parse().unwrap());
    let (thread, comm, frame) = (ThreadId(0), CommId(0), *frames.last().unwrap());
    let event = &mut profile.events[0];
    let order = event.sample_count;
    event.groups.push(SampleGroup {
        branch: None,
        history: None,
        thread,
        comm,
        detail: DetailId(0),
        frame,
        chain,
        samples: 1,
        period,
        latency: 0,
        order,
    });
    event.sample_count += 1;
    event.period_total += period;
}

fn frame(profile: &mut Profile, name: &str) -> FrameId {
    let start = u64::from(name.as_bytes()[0]) << 8;
    let known = profile
        .symbols
        .iter()
        .position(|symbol| symbol.name == name);
    let index = known.unwrap_or_else(|| {
        let symbol = Some(SymbolId(profile.symbols.len() as u32));
        profile.symbols.push(ProfileSymbol {
            name: name.to_owned(),
            dso: DsoId(0),
            start,
            end: start + 1,
            inlined: false,
            is_data: false,
        });
        let level = Level::User;
        profile.frames.add(Frame {
            dso: Some(DsoId(0)),
            symbol,
            address: start,
            dso_address: start,
            level,
            source: None,
            alone: false,
            outermost: true,
        });
        profile.frames.len() - 1
    });
    FrameId(index as u32)
}

fn text(samples: &[&str], keys: &[SortKey], graph: Option<GraphText>) -> String {
    let profile = profile(samples);
    let order = ChainOrder::Callee;
    let call_graph = graph.map(|graph| CallGraphOptions {
        shape: graph.shape,
        order,
        min_percent: 0.5,
        by_address: false,
    });
    let hist = HistOptions {
        keys: keys.to_vec(),
        children: false,
        order,
        call_graph,
        ..HistOptions::default()
    };
    let numbers = [Measure::Own, Measure::Samples].map(Field::Measure);
    let columns = numbers
        .into_iter()
        .chain(keys.iter().copied().map(Field::Key))
        .collect();
    let report = ReportText {
        columns,
        graph,
        ..ReportText::default()
    };
    let mut out = Vec::new();
    for drawn in histograms(&profile, &hist) {
        table(&mut out, &profile, &drawn, &report).unwrap();
    }
    String::from_utf8(out).unwrap()
}

fn graph(shape: Shape) -> Option<GraphText> {
    Some(GraphText {
        shape,
        value: GraphValue::Percent,
        limit: None,
        skip_first: false,
        coloured: false,
        with_source: false,
    })
}

#[test]
fn columns_are_as_wide_as_their_rows() {
    let keys = [SortKey::Thread, SortKey::Dso, SortKey::Symbol];
    let expected = "\
# Samples: 2  of event 'cycles'
# Event count (approx.): 4
#
# Overhead       Samples      Pid:Command  Shared Object  Symbol          
# ........  ............  ...............  .............  ................
#
    75.00%             1        8:app      app            [.] longest_name
    25.00%             1        8:app      app            [.] main


";
    assert_eq!(
        text(&["main 1", "main;longest_name 3"], &keys, None),
        expected
    );
}

fn rows(text: &str) -> &str {
    text.splitn(7, '\n').last().unwrap().trim_end()
}

#[test]
fn shares_of_time_stand_beside_those_of_samples() {
    let mut profile = profile(&["main;leaf 3", "main 1"]);
    (profile.has_latency, profile.events[0].latency_total) = (true, 5);
    for (group, latency) in profile.events[0].groups.iter_mut().zip([1, 4]) {
        group.latency = latency;
    }
    let table = |children| {
        let options = HistOptions {
            keys: vec![SortKey::Comm, SortKey::Symbol],
            children,
            ..HistOptions::default()
        };
        let numbers = [
            Measure::Children,
            Measure::ChildrenLatency,
            Measure::Own,
            Measure::OwnLatency,
        ];
        let numbers = &numbers[if children { 0 } else { 2 }..];
        let numbers = numbers.iter().copied().map(Field::Measure);
        let columns = numbers
            .chain(options.keys.iter().copied().map(Field::Key))
            .collect();
        let text = ReportText {
            columns,
            own_is_self: children,
            ..ReportText::default()
        };
        let mut out = Vec::new();
        oxperf_present::report::table(
            &mut out,
            &profile,
            &histograms(&profile, &options)[0],
            &text,
        )
        .unwrap();
        String::from_utf8(out).unwrap()
    };
    let own = "\
# Overhead   Latency  Command  Symbol  
# ........  ........  .......  ........
#
    75.00%    20.00%  app      [.] leaf
    25.00%    80.00%  app      [.] main
";
    assert!(table(false).contains(own), "{}", table(false));
    let children = "\
# Children  Latency      Self   Latency  Command  Symbol  
# ........  .......  ........  ........  .......  ........
#
   100.00%   100.00%    25.00%    80.00%  app      [.] main
    75.00%   20.00%    75.00%    20.00%  app      [.] leaf
";
    assert!(table(true).contains(children), "{}", table(true));
}

#[test]
fn a_fork_shows_what_goes_where() {
    let got = text(
        &["main;a;leaf 3", "main;b;leaf 1"],
        &[SortKey::Comm],
        graph(Shape::Graph),
    );
    let expected = "   100.00%             2  app    
            |
            ---leaf
               |          
               |--75.00%--a
               |          main
               |          
                --25.00%--b
                          main";
    assert_eq!(rows(&got), expected);
}

#[test]
fn fractal_numbers_are_parts_of_the_branch() {
    let got = text(
        &["main;a;leaf 3", "main;b;a;leaf 1", "x 96"],
        &[SortKey::Symbol],
        graph(Shape::Fractal),
    );
    let leaf = rows(&got).split_once("leaf\n").unwrap().1;
    let expected = "            |
            ---leaf
               a
               |          
               |--75.00%--main
               |          
                --25.00%--b
                          main";
    assert_eq!(leaf, expected);
}

#[test]
fn lists_show_chain_by_chain() {
    let samples = ["main;a;leaf 3", "main;b;leaf 1"];
    let got = text(&samples, &[SortKey::Comm], graph(Shape::Folded));
    assert_eq!(
        rows(&got),
        "   100.00%             2  app    \n75.00% leaf;a;main\n25.00% leaf;b;main"
    );
    let got = text(&samples[..1], &[SortKey::Comm], graph(Shape::Flat));
    let flat = "   100.00%             1  app    
           100.00%
                leaf
                a
                main";
    assert_eq!(rows(&got), flat);
}

#[test]
fn names_cannot_steer_the_terminal() {
    let got = text(
        &["main;\x1b[31mred 1"],
        &SortKey::DEFAULT,
        graph(Shape::Graph),
    );
    assert!(!got.contains('\x1b'), "{got:?}");
    assert!(got.contains("\\x1b[31mred"));
}
