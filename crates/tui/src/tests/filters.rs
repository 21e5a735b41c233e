//! Zooms, searches and limits.

use super::support::*;
use crate::Key;

#[test]
fn zooms_are_in_the_title_and_taken_back() {
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
