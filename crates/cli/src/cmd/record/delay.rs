//! When a recording counts, from the text of `-D`: milliseconds, `-1`, or windows such as `10-20,30-40`.

use std::time::Duration;

use oxperf_capture::{Start, Windows};
use oxperf_present::text::sanitize;

use super::ArgumentProblem;

/// When counting begins, and when it pauses and ends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Delay {
    pub(super) start: Start,
    pub(super) windows: Windows,
}

/// The milliseconds of both ends of a window.
type Window = (u32, u32);

impl Delay {
    /// Counting from the beginning to the end.
    pub(super) fn none() -> Delay {
        Delay::from(Start::Now)
    }

    /// Reads the text of `-D`.
    pub(super) fn parse(text: &str) -> Result<Delay, ArgumentProblem> {
        match milliseconds(text) {
            Some(delay) => Ok(Delay::from(after(delay))),
            None if text.trim() == "-1" => Ok(Delay::from(Start::Disabled)),
            None => windows(text).ok_or_else(|| ArgumentProblem::Value(what_is_taken(text))),
        }
    }
}

impl From<Start> for Delay {
    fn from(start: Start) -> Delay {
        Delay {
            start,
            windows: Windows::default(),
        }
    }
}

fn after(delay: u32) -> Start {
    match delay {
        0 => Start::Now,
        delay => Start::After(duration(delay)),
    }
}

fn windows(text: &str) -> Option<Delay> {
    let windows: Option<Vec<Window>> = text.split(',').map(window).collect();
    let windows = windows.filter(|windows| are_apart(windows))?;
    let (first, last) = (windows.first()?, windows.last()?);
    let pauses = windows.windows(2);
    let pauses = pauses.map(|pair| duration(pair[0].1)..duration(pair[1].0));
    Some(Delay {
        start: after(first.0),
        windows: Windows {
            pauses: pauses.collect(),
            end: Some(duration(last.1)),
        },
    })
}

/// Reads a window, which has a length.
fn window(text: &str) -> Option<Window> {
    let (start, end) = text.split_once('-')?;
    let window = (milliseconds(start)?, milliseconds(end)?);
    (window.0 < window.1).then_some(window)
}

/// Each window ends before the next one begins.
fn are_apart(windows: &[Window]) -> bool {
    windows.windows(2).all(|pair| pair[0].1 < pair[1].0)
}

/// As many as perf takes.
fn milliseconds(text: &str) -> Option<u32> {
    let count: u32 = text.trim().parse().ok()?;
    (count <= i32::MAX as u32).then_some(count)
}

fn duration(milliseconds: u32) -> Duration {
    Duration::from_millis(milliseconds.into())
}

fn what_is_taken(text: &str) -> String {
    format!(
        "-D takes milliseconds, -1, or windows that follow each other, such as 10-20,30-40, not '{}'",
        sanitize(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    fn parsed(text: &str) -> (Start, Windows) {
        let delay = Delay::parse(text).unwrap();
        (delay.start, delay.windows)
    }

    #[test]
    fn a_delay_has_no_windows() {
        for (text, start) in [
            ("10", Start::After(ms(10))),
            (" +5", Start::After(ms(5))),
            ("2147483647", Start::After(ms(2_147_483_647))),
            ("-1", Start::Disabled),
            ("0", Start::Now),
        ] {
            assert_eq!(parsed(text), (start, Windows::default()), "{text}");
        }
        assert_eq!(Delay::none().start, Start::Now);
    }

    #[test]
    fn windows_are_pauses_and_an_end() {
        let two = Windows {
            pauses: vec![ms(20)..ms(30)],
            end: Some(ms(40)),
        };
        for text in ["10-20,30-40", "10 - 20 , 30-40", "010-+20,30-40"] {
            assert_eq!(parsed(text), (Start::After(ms(10)), two.clone()), "{text}");
        }
        let one = Windows {
            pauses: Vec::new(),
            end: Some(ms(20)),
        };
        assert_eq!(parsed("0-20"), (Start::Now, one));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "x",
            "-2",
            "1e3",
            "5.5",
            "0x10",
            "5,",
            "2147483648",
            "10-",
            "-",
            "10-x",
            "20-10",
            "10-10",
            "10-20,",
            ",10-20",
            "10-20,30",
            "10-20;30-40",
            "10-20,15-30",
            "10-20,20-30",
            "30-40,10-20",
            "10-20-30",
            "-1-5",
            "10-20,-1-40",
            "2147483647-2147483648",
        ] {
            assert!(Delay::parse(text).is_err(), "{text}");
        }
        let Err(ArgumentProblem::Value(message)) = Delay::parse("\u{1b}") else {
            panic!("a control character is no time");
        };
        assert!(!message.contains('\u{1b}'), "{message}");
    }
}
