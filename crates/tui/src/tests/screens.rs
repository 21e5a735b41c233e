//! Texts, sizes, colours, and tables of many rows.

use oxperf_abi::{Pid, Tid};
use oxperf_analysis::hist::{HistOptions, SortKey};
use oxperf_profile::{
    CommId, DetailId, DsoId, Frame, FrameId, Level, Profile, ProfileSymbol, ProfileThread,
    SampleGroup, SymbolId, ThreadId,
};
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Color;

use super::support::*;
use crate::{Browser, Colours, Hue, Key, Look, Palette};

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
fn names_of_columns_may_be_left_out_from_the_beginning() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    assert!(screen(&mut browser, 80, 24).contains("Symbol"));
    browser.hide_headings();
    assert!(!screen(&mut browser, 80, 24).contains("Symbol"));
    keys(&mut browser, "H");
    assert!(screen(&mut browser, 80, 24).contains("Symbol"));
}

#[test]
fn many_rows_cost_what_is_seen() {
    let profile = profile_of_many();
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
fn colours_are_those_of_the_palette() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    let own = |hue| Colours {
        foreground: Hue::parse(hue),
        background: Some(Hue::LightGray),
    };
    let palette = Palette {
        top: own("cyan"),
        selected: Some(own("yellow")),
        root: own("gray"),
        ..Palette::USUAL
    };
    let look = Look {
        colour: true,
        palette,
    };
    let shown = cells(&mut browser, 80, 10, look);
    let used = |colour| shown.content().iter().any(|cell| cell.fg == colour);
    assert!(used(Color::Cyan) && used(Color::Yellow) && used(Color::DarkGray));
    assert!(!used(Color::Red) && Hue::parse("pink").is_none());
}

#[test]
fn colours_only_where_they_are_wanted() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    let hot = |buffer: &Buffer| buffer.cell((5, 3)).map(|cell| cell.fg);
    assert_eq!(
        hot(&cells(&mut browser, 80, 10, COLOURED)),
        Some(Color::Red)
    );
    browser.show("Code", "  7.50 : hot\n  0.70 : warm\n  0.00 : cold\n");
    let code = cells(&mut browser, 80, 10, COLOURED);
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

/// A profile of [`MANY`] functions of one thread.
fn profile_of_many() -> Profile {
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
    profile
}
