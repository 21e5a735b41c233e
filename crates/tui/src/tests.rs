//! Browsers driven by keys and drawn on a made-up screen.

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
use ratatui_core::style::{Color, Modifier};

use crate::{Browser, Key, Look, Request};

const STACKS: [&str; 5] = [
    "app main;work;sort 50",
    "app main;work;hash 30",
    "app main;idle 5",
    "log write 10",
    "log main;write 5",
];
const MANY: u32 = 20_000;
const PLAIN: Look = Look { colour: false };

/// Samples written as `COMM OUTERMOST;..;INNERMOST PERIOD`; `write` is the kernel's.
fn profile(samples: &[&str]) -> Profile {
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

fn sample(profile: &mut Profile, event: usize, line: &str) {
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

fn comm_id(profile: &mut Profile, name: &str) -> CommId {
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

fn frame(profile: &mut Profile, name: &str) -> FrameId {
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

fn options() -> (HistOptions, ReportText) {
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

fn browser(profile: &Profile) -> Browser<'_> {
    let (hist, text) = options();
    Browser::new(profile, hist, text)
}

fn cells(browser: &mut Browser<'_>, width: u16, height: u16, look: Look) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    browser.draw(&mut buffer, area, look);
    buffer
}

/// What is on a screen, line by line, without blanks at the ends. The line of the cursor begins with `>`.
fn screen(browser: &mut Browser<'_>, width: u16, height: u16) -> String {
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

fn keys(browser: &mut Browser<'_>, text: &str) -> Option<Request> {
    text.chars()
        .filter_map(|c| browser.press(Key::Char(c)))
        .last()
}

#[test]
fn a_table_is_seen_with_its_cursor() {
    let profile = profile(&STACKS);
    let expected = "\
|Samples: 5  of event 'cycles', Event count (approx.): 100
|  Children      Self  Command  Shared Object  Symbol
>+   85.00%     0.00%  app      app            [.] main
|+   80.00%     0.00%  app      app            [.] work
|+   50.00%    50.00%  app      app            [.] sort
|+   30.00%    30.00%  app      app            [.] hash
|+   15.00%    15.00%  log      [kernel]       [k] write
|+    5.00%     5.00%  app      app            [.] idle
|+    5.00%     0.00%  log      app            [.] main
|Press '?' for help on key bindings
";
    assert_eq!(screen(&mut browser(&profile), 80, 10), expected);
}

#[test]
fn rows_open_level_by_level() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    browser.press(Key::Down);
    keys(&mut browser, "+");
    let expected = "\
|Samples: 5  of event 'cycles', Event count (approx.): 100
|  Children      Self  Command  Shared Object  Symbol
|+   85.00%     0.00%  app      app            [.] main
>-   80.00%     0.00%  app      app            [.] work
|   - work
|        50.00% sort
|        30.00% hash
|+   50.00%    50.00%  app      app            [.] sort
";
    assert!(
        screen(&mut browser, 80, 20).starts_with(expected),
        "{}",
        screen(&mut browser, 80, 20)
    );
    browser.press(Key::Down);
    keys(&mut browser, "+");
    let text = screen(&mut browser, 80, 20);
    assert!(text.contains(">   + work\n|+   50.00%"), "{text}");
    browser.press(Key::Up);
    keys(&mut browser, "+");
    assert!(!screen(&mut browser, 80, 20).contains("+ work"));
}

#[test]
fn all_rows_open_and_close() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    browser.press(Key::End);
    keys(&mut browser, "E");
    let open = screen(&mut browser, 80, 60);
    assert_eq!(
        open.lines()
            .filter(|line| line.starts_with("|-") || line.starts_with(">-"))
            .count(),
        7,
        "{open}"
    );
    assert!(
        open.contains(">-    5.00%     0.00%  log      app            [.] main"),
        "the cursor stays: {open}"
    );
    keys(&mut browser, "C");
    assert_eq!(
        screen(&mut browser, 80, 60)
            .lines()
            .filter(|line| line.len() > 1)
            .count(),
        2 + 7 + 1
    );
    keys(&mut browser, "e");
    assert!(screen(&mut browser, 80, 60).contains(">-    5.00%"));
}

#[test]
fn zooms_are_told_and_taken_back() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "dt");
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains(", DSO: app, Thread: app\n|  Children      Self  Symbol"),
        "{text}"
    );
    assert!(!text.contains("log") && text.contains("[.] main"), "{text}");
    assert!(
        screen(&mut browser, 40, 10).starts_with("|Samples: 5  of .., DSO: app, Thread: app\n")
    );
    browser.press(Key::Escape);
    browser.press(Key::Left);
    assert!(screen(&mut browser, 80, 10).contains("log      [kernel]"));
    keys(&mut browser, "k");
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains("[k] write") && !text.contains("[.]"),
        "{text}"
    );
    keys(&mut browser, "k");
    assert!(
        screen(&mut browser, 80, 10).contains("[.] main"),
        "the same key goes back"
    );
}

#[test]
fn functions_are_searched_and_light_rows_hidden() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "/wx");
    assert!(screen(&mut browser, 80, 10).contains("> wx_"));
    browser.press(Key::Backspace);
    browser.press(Key::Enter);
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains("symbol with 'w'") && text.contains("work") && text.contains("write"),
        "{text}"
    );
    assert!(!text.contains("main"), "{text}");
    keys(&mut browser, "/");
    browser.press(Key::Backspace);
    browser.press(Key::Enter);
    keys(&mut browser, "L40%");
    browser.press(Key::Enter);
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains("50.00%    50.00%") && !text.contains("30.00%"),
        "{text}"
    );
    keys(&mut browser, "Lmany");
    browser.press(Key::Enter);
    assert!(screen(&mut browser, 80, 10).contains("A percentage is a number"));
}

#[test]
fn rows_are_told_apart_by_other_keys() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "o");
    for _ in 0..4 {
        browser.press(Key::Down);
    }
    browser.press(Key::Enter);
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains("Self  Command\n") && text.contains("85.00%    85.00%  app"),
        "{text}"
    );
    keys(&mut browser, "n");
    assert!(screen(&mut browser, 80, 10).contains("Overhead  Command"));
    browser.press(Key::Down);
    keys(&mut browser, "d");
    assert!(screen(&mut browser, 80, 10).contains("These rows do not tell that"));
    keys(&mut browser, "o");
    browser.press(Key::End);
    browser.press(Key::Enter);
    keys(&mut browser, "srcline");
    browser.press(Key::Enter);
    assert!(screen(&mut browser, 80, 10).contains("cannot be told apart by 'srcline'"));
}

#[test]
fn of_several_events_one_is_chosen() {
    let mut profile = profile(&STACKS);
    sample(&mut profile, 1, "app main;fault 3");
    let mut browser = browser(&profile);
    let text = screen(&mut browser, 80, 6);
    assert!(text.starts_with("|Available samples\n>"), "{text}");
    browser.press(Key::Down);
    browser.press(Key::Enter);
    assert!(screen(&mut browser, 80, 6).contains("of event 'faults'"));
    browser.press(Key::Tab);
    assert!(screen(&mut browser, 80, 6).contains("of event 'cycles'"));
    browser.press(Key::Escape);
    assert!(screen(&mut browser, 80, 6).contains("Available samples"));
}

#[test]
fn percentages_are_of_what_is_left() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "k");
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains("15.00%") && !text.contains("100.00%"),
        "{text}"
    );
    keys(&mut browser, "F");
    let text = screen(&mut browser, 80, 10);
    assert!(
        text.contains(", kernel, relative") && text.contains("100.00%"),
        "{text}"
    );
    keys(&mut browser, "F");
    assert!(screen(&mut browser, 80, 10).contains("15.00%"));
}

#[test]
fn calls_tell_their_objects() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "+V");
    assert!(screen(&mut browser, 80, 12).contains("work app"));
    keys(&mut browser, "V");
    assert!(!screen(&mut browser, 80, 12).contains("work app"));
}

#[test]
fn samples_scripts_and_other_recordings_are_offered() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "r");
    assert!(screen(&mut browser, 80, 14).contains("Samples of threads named app"));
    let which = vec!["--comms=app".to_owned()];
    assert_eq!(browser.press(Key::Enter), Some(Request::Samples { which }));
    keys(&mut browser, "r");
    browser.press(Key::End);
    assert_eq!(browser.press(Key::Enter), None);
    keys(&mut browser, "wc -l");
    assert_eq!(
        browser.press(Key::Enter),
        Some(Request::Program("wc -l".to_owned()))
    );
    assert_eq!(keys(&mut browser, "s"), Some(Request::Recordings));
    browser.offer_recordings(vec!["perf.data.old".to_owned()]);
    assert_eq!(
        browser.press(Key::Enter),
        Some(Request::Switch("perf.data.old".to_owned()))
    );
    browser.offer_recordings(Vec::new());
    assert!(screen(&mut browser, 80, 10).contains("no other recording"));
    keys(&mut browser, "S");
    assert!(screen(&mut browser, 80, 10).contains("These rows do not tell that"));
    keys(&mut browser, "1");
    assert!(screen(&mut browser, 80, 10).contains("events of a group"));
}

#[test]
fn what_the_browser_cannot_do_it_asks_for() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    let (symbol, object) = ("main".to_owned(), "/bin/app".to_owned());
    assert_eq!(
        keys(&mut browser, "a"),
        Some(Request::Annotate { symbol, object })
    );
    assert_eq!(keys(&mut browser, "i"), Some(Request::Header));
    let Some(Request::Export(text)) = keys(&mut browser, "P") else {
        panic!("no export")
    };
    assert!(
        text.starts_with("+   85.00%     0.00%  app      app            [.] main\n"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 7);
    browser.press(Key::Enter);
    assert!(screen(&mut browser, 80, 12).contains("Annotate main"));
    let (symbol, object) = ("main".to_owned(), "/bin/app".to_owned());
    assert_eq!(
        browser.press(Key::Enter),
        Some(Request::Annotate { symbol, object })
    );
    assert_eq!(browser.press(Key::Interrupt), Some(Request::Quit));
}

#[test]
fn texts_are_looked_through() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    let text: String = (0..50)
        .map(|line| format!("line\t{line}\u{1b}\n"))
        .collect();
    browser.show("Code", &text);
    assert!(screen(&mut browser, 40, 6).contains("|Code\n|line    0\\x1b\n"));
    keys(&mut browser, "/ 17");
    browser.press(Key::Enter);
    assert!(screen(&mut browser, 40, 6).contains("|Code\n|line    17\\x1b\n"));
    browser.press(Key::End);
    assert!(screen(&mut browser, 40, 6).contains("line    49"));
    keys(&mut browser, "q");
    let code: String = (0..40)
        .map(|line| format!(" {}.00 : code {line}\n", 20_i32.abs_diff(line)))
        .collect();
    browser.show_code("main", &format!("Percent\n{code}     : source 99\n"));
    assert!(
        screen(&mut browser, 40, 8).contains("20.00 : code 0\n"),
        "{}",
        screen(&mut browser, 40, 8)
    );
    browser.press(Key::End);
    keys(&mut browser, "H");
    assert!(screen(&mut browser, 40, 8).contains("20.00 : code 0\n"));
    keys(&mut browser, "q?");
    assert!(screen(&mut browser, 80, 24).contains("Zoom into the object"));
    keys(&mut browser, "q");
    assert!(screen(&mut browser, 80, 24).contains("[.] main"));
}

#[test]
fn many_rows_cost_what_is_seen() {
    let names: Vec<String> = (0..MANY).map(|nth| format!("app f{nth} 1")).collect();
    let mut profile = Profile {
        comms: vec!["app".into()],
        ..profile(&[])
    };
    profile.threads.push(ProfileThread {
        pid: Pid(7),
        tid: Tid(7),
        comm: CommId(0),
    });
    for (nth, name) in (0u32..).zip(&names) {
        let start = 0x1000 + 16 * u64::from(nth);
        let name = name.clone();
        profile.symbols.push(ProfileSymbol {
            name,
            dso: DsoId(0),
            start,
            end: start + 16,
            inlined: false,
            is_data: false,
        });
        profile.frames.add(Frame {
            dso: Some(DsoId(0)),
            symbol: Some(SymbolId(nth)),
            address: start,
            dso_address: start,
            level: Level::User,
            source: None,
            alone: false,
            outermost: true,
        });
    }
    let event = &mut profile.events[0];
    event.groups = (0..MANY)
        .map(|nth| SampleGroup {
            thread: ThreadId(0),
            comm: CommId(0),
            detail: DetailId(0),
            frame: FrameId(nth),
            branch: None,
            history: None,
            chain: oxperf_profile::ContextTree::ROOT,
            samples: 1,
            period: 1,
            latency: 0,
            order: u64::from(nth),
        })
        .collect();
    (event.sample_count, event.period_total) = (MANY.into(), MANY.into());
    let (hist, text) = options();
    let mut browser = Browser::new(
        &profile,
        HistOptions {
            keys: vec![SortKey::Symbol],
            ..hist
        },
        text,
    );
    // Each key and screen costs nothing of the rows that are not on it: hundreds of both are done at once.
    for _ in 0..200 {
        browser.press(Key::PageDown);
        let _ = cells(&mut browser, 80, 24, PLAIN);
    }
    browser.press(Key::End);
    assert!(
        screen(&mut browser, 80, 24)
            .lines()
            .nth(22)
            .is_some_and(|line| line.starts_with('>'))
    );
}

#[test]
fn any_size_will_do() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "E");
    for (width, height) in [(0, 0), (1, 1), (3, 2), (20, 3), (300, 100), (2, 50)] {
        for key in ['?', 'q', 'o', 'q', '/', '\u{7f}'] {
            let _ = cells(&mut browser, width, height, PLAIN);
            browser.press(Key::Char(key));
            browser.press(Key::PageDown);
        }
        browser.press(Key::Escape);
    }
    let narrow = screen(&mut browser, 20, 5);
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 21),
        "{narrow}"
    );
    browser.press(Key::Home);
    keys(&mut browser, ">>>");
    assert!(screen(&mut browser, 40, 5).contains("app            [.] main"));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    let hot = |buffer: &Buffer| buffer.cell((5, 3)).map(|cell| cell.fg);
    assert_eq!(
        hot(&cells(&mut browser, 80, 10, Look { colour: true })),
        Some(Color::Red)
    );
    browser.show("Code", "  7.50 : hot\n  0.70 : warm\n  0.00 : cold\n");
    let code = cells(&mut browser, 80, 10, Look { colour: true });
    let colour = |x, y| code.cell((x, y)).map(|cell| cell.fg);
    let seen = [colour(3, 1), colour(9, 1), colour(3, 2), colour(3, 3)];
    assert_eq!(
        seen,
        [Color::Red, Color::Reset, Color::Green, Color::Reset].map(Some)
    );
    let plain = cells(&mut browser, 80, 10, PLAIN);
    assert!(
        plain
            .content()
            .iter()
            .all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset)
    );
}
