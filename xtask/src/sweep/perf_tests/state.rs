//! How a test ended.

/// End of one test with one program.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum State {
    /// Exit code 0.
    Pass,
    /// Exit code 2: the script says that this machine or this program lacks what it needs.
    Skip,
    /// Any other exit code.
    Fail,
    /// It was still running at its limit of time.
    Late,
    /// It has not been run.
    Unknown,
}

/// Every state with its word in tables.
const WORDS: [(State, &str); 5] = [
    (State::Pass, "pass"),
    (State::Skip, "skip"),
    (State::Fail, "fail"),
    (State::Late, "late"),
    (State::Unknown, "-"),
];

impl State {
    /// Takes the exit code of a script.
    pub(super) fn of_script(code: Option<i32>) -> State {
        match code {
            Some(0) => State::Pass,
            Some(2) => State::Skip,
            _ => State::Fail,
        }
    }

    /// Returns the word that stands for it in tables.
    pub(super) fn word(self) -> &'static str {
        WORDS
            .iter()
            .find(|(state, _)| *state == self)
            .map_or("-", |(_, word)| word)
    }

    /// Returns the state that a word stands for.
    pub(super) fn parse(word: &str) -> Option<State> {
        WORDS
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(state, _)| *state)
    }
}
