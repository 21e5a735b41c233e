//! Requests for what the browser cannot do by itself.

use super::support::*;
use crate::{Key, Request};

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
    assert_eq!(keys(&mut browser, "a"), None);
    let said = "No sample is in main itself: it stands in call chains alone";
    assert!(screen(&mut browser, 80, 12).contains(said));
    assert_eq!(keys(&mut browser, "i"), Some(Request::Header));
    let Some(Request::Export(text)) = keys(&mut browser, "P") else {
        panic!("no export")
    };
    assert!(
        text.starts_with("+   85.00%     0.00%  app      app            [.] main\n"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 7);
    browser.press(Key::Down);
    browser.press(Key::Down);
    browser.press(Key::Enter);
    assert!(screen(&mut browser, 80, 12).contains("Annotate sort"));
    let (symbol, object) = ("sort".to_owned(), "/bin/app".to_owned());
    assert_eq!(
        browser.press(Key::Enter),
        Some(Request::Annotate { symbol, object })
    );
    assert_eq!(browser.press(Key::Interrupt), Some(Request::Quit));
}
