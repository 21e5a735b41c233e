//! Profiles from lines of text, browsers driven by keys, and screens as text.

use oxperf_abi::{Pid, Tid};
use oxperf_analysis::hist::{CallGraphOptions, Field, HistOptions, Measure, Shape, SortKey};
use oxperf_present::report::{GraphText, GraphValue, ReportText};
use oxperf_profile::ChainOrder;
use oxperf_profile::{
    CommId, DetailId, DsoId, EventProfile, Frame, FrameId, Level, Profile, ProfileDso,
    ProfileSymbol, ProfileThread, SampleGroup, SymbolId, ThreadId,
};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Modifier;

use crate::{Browser, Key, Look, Palette, Request};

pub(super) const STACKS: [&str; 5] = [
    "app main;work;sort 50",
    "app main;work;hash 30",
    "app main;idle 5",
    "log write 10",
    "log main;write 5",
];
pub(super) const MANY: u32 = 20_000;
pub(super) const PLAIN: Look = look(false);
pub(super) const COLOURED: Look = look(true);

const fn look(colour: bool) -> Look {
    Look {
        colour,
        palette: Palette::USUAL,
    }
}

/// Samples written as `COMM OUTERMOST;..;INNERMOST PERIOD`; `write` is the kernel's.
pub(super) fn profile(samples: &[&str]) -> Profile {
    let dso = |name: &str| ProfileDso {
        long: format!("/bin/{name}"),
        short: name.to_owned(),
    };
    let event = |name: &str| EventProfile {
        name: name.to_owned(),
        has_callchains: true,
        ..EventProfile::default()
    };
    let mut profile = Profile {
        dsos: vec![dso("app"), dso("[kernel]")],
        events: vec![event("cycles"), event("faults")],
        ..Profile::default()
    };
    samples
        .iter()
        .for_each(|line| sample(&mut profile, 0, line));
    profile
}

pub(super) fn sample(profile: &mut Profile, event: usize, line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let [comm, stack, period] = words.as_slice() else {
        panic!("{line}")
    };
    let frames: Vec<FrameId> = stack.split(';').map(|name| frame(profile, name)).collect();
    let (chain, period) = (profile.chains.insert(&frames), period.parse().unwrap());
    let comm = comm_id(profile, comm);
    let group = SampleGroup {
        thread: ThreadId(comm.0),
        comm,
        detail: DetailId(0),
        frame: *frames.last().unwrap(),
        branch: None,
        history: None,
        chain,
        samples: 1,
        period,
        latency: 0,
        order: profile.events[event].sample_count,
    };
    let event = &mut profile.events[event];
    event.groups.push(group);
    event.sample_count += 1;
    event.period_total += period;
}

pub(super) fn comm_id(profile: &mut Profile, name: &str) -> CommId {
    if let Some(known) = profile.comms.iter().position(|comm| comm == name) {
        return CommId(known as u32);
    }
    let comm = CommId(profile.comms.len() as u32);
    profile.comms.push(name.to_owned());
    profile.threads.push(ProfileThread {
        pid: Pid(7),
        tid: Tid(7 + comm.0 as i32),
        comm,
    });
    comm
}

pub(super) fn frame(profile: &mut Profile, name: &str) -> FrameId {
    if let Some(known) = profile
        .symbols
        .iter()
        .position(|symbol| symbol.name == name)
    {
        return FrameId(known as u32);
    }
    let id = profile.symbols.len() as u32;
    let start = 0x1000 + 0x100 * u64::from(id);
    let kernel = name == "write";
    let dso = DsoId(u32::from(kernel));
    let name = name.to_owned();
    profile.symbols.push(ProfileSymbol {
        name,
        dso,
        start,
        end: start + 0x100,
        inlined: false,
        is_data: false,
    });
    profile.frames.add(Frame {
        dso: Some(dso),
        symbol: Some(SymbolId(id)),
        address: start,
        dso_address: start,
        level: if kernel { Level::Kernel } else { Level::User },
        source: None,
        alone: false,
        outermost: true,
    });
    FrameId(id)
}

pub(super) fn options() -> (HistOptions, ReportText) {
    let graph = CallGraphOptions {
        shape: Shape::Graph,
        order: ChainOrder::Caller,
        min_percent: CallGraphOptions::MIN_PERCENT,
        by_address: false,
    };
    let text = GraphText {
        shape: Shape::Graph,
        value: GraphValue::Percent,
        limit: None,
        skip_first: false,
        coloured: false,
        with_source: false,
    };
    (
        HistOptions {
            call_graph: Some(graph),
            ..HistOptions::default()
        },
        ReportText {
            columns: vec![Field::Measure(Measure::Own)],
            graph: Some(text),
            ..ReportText::default()
        }
        .with_keys(SortKey::DEFAULT)
        .with_children(true),
    )
}

pub(super) fn browser(profile: &Profile) -> Browser<'_> {
    let (hist, text) = options();
    Browser::new(profile, hist, text)
}

pub(super) fn cells(browser: &mut Browser<'_>, width: u16, height: u16, look: Look) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    browser.draw(&mut buffer, area, look);
    buffer
}

/// The text of a screen, line by line, without blanks at the ends. The line of the cursor begins with `>`.
pub(super) fn screen(browser: &mut Browser<'_>, width: u16, height: u16) -> String {
    let buffer = cells(browser, width, height, PLAIN);
    let line = |y: u16| {
        let text: String = (0..width)
            .filter_map(|x| buffer.cell((x, y)))
            .map(|cell| cell.symbol())
            .collect();
        let reversed = buffer
            .cell((0, y))
            .is_some_and(|cell| cell.modifier.contains(Modifier::REVERSED));
        let mark = if reversed && y > 0 { '>' } else { '|' };
        format!("{mark}{}\n", text.trim_end())
    };
    (0..height).map(line).collect()
}

pub(super) fn keys(browser: &mut Browser<'_>, text: &str) -> Option<Request> {
    text.chars()
        .filter_map(|c| browser.press(Key::Char(c)))
        .last()
}
