//! Rows and their calls: opening, closing, other keys.

use super::support::*;
use crate::Key;

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
fn rows_have_other_keys() {
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
fn calls_show_their_objects() {
    let profile = profile(&STACKS);
    let mut browser = browser(&profile);
    keys(&mut browser, "+V");
    assert!(screen(&mut browser, 80, 12).contains("work app"));
    keys(&mut browser, "V");
    assert!(!screen(&mut browser, 80, 12).contains("work app"));
}
