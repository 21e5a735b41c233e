//! The checks that words of the command line choose.

use std::fmt;

use oxperf_selftest::{Body, Check, SelfTest};

/// One check of the table.
#[derive(Clone, Copy)]
pub(super) struct Case {
    pub(super) test: &'static SelfTest,
    /// The index of the part, of a check that has several.
    pub(super) part: Option<usize>,
}

impl Case {
    /// All checks, in the order of the table.
    pub(super) fn all() -> impl Iterator<Item = Case> {
        oxperf_selftest::ALL.iter().flat_map(|test| {
            let parts = match test.body {
                Body::Whole(_) => vec![None],
                Body::Parts(parts) => (0..parts.len()).map(Some).collect(),
            };
            parts.into_iter().map(move |part| Case { test, part })
        })
    }

    /// The check of a number such as `25` or `21.2`.
    pub(super) fn numbered(text: &str) -> Option<Case> {
        Case::all().find(|case| case.to_string() == text)
    }

    /// Its name; of a part the part's.
    pub(super) fn name(self) -> &'static str {
        match (&self.test.body, self.part) {
            (Body::Parts(parts), Some(part)) => parts.get(part).map_or("", |part| part.name),
            _ => self.test.name,
        }
    }

    /// The check itself.
    pub(super) fn check(self) -> Option<Check> {
        match &self.test.body {
            Body::Whole(check) => Some(*check),
            Body::Parts(parts) => parts.get(self.part?).map(|part| part.check),
        }
    }
}

/// The number: `25`, or `21.2` of a part.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            Some(part) => write!(f, "{}.{}", self.test.number, part + 1),
            None => write!(f, "{}", self.test.number),
        }
    }
}

/// Words that choose checks: numbers, and parts of names. No word chooses all.
pub(super) struct Selection(pub(super) Vec<String>);

impl Selection {
    /// The chosen checks, in the order of the table.
    pub(super) fn cases(&self) -> Vec<Case> {
        Case::all().filter(|case| self.takes(*case)).collect()
    }

    fn takes(&self, case: Case) -> bool {
        self.0.is_empty() || self.0.iter().any(|word| chooses(word, case))
    }
}

fn chooses(word: &str, case: Case) -> bool {
    if let Ok(number) = word.parse::<u32>() {
        return number == case.test.number;
    }
    let word = word.to_lowercase();
    let within = |name: &str| name.to_lowercase().contains(&word);
    word == case.to_string() || within(case.test.name) || within(case.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(words: &[&str]) -> Vec<String> {
        let words = words.iter().map(ToString::to_string).collect();
        let cases = Selection(words).cases();
        cases.iter().map(Case::to_string).collect()
    }

    #[test]
    fn words_are_numbers_or_parts_of_names() {
        assert_eq!(numbers(&["25"]), ["25"]);
        assert_eq!(numbers(&["DUMMY soft"]), ["25"]);
        assert_eq!(numbers(&["21"]), ["21.1", "21.2", "21.3"]);
        assert_eq!(numbers(&["21.2", "1"]), ["1", "21.2"]);
        assert_eq!(numbers(&["write only"]), ["21.2"]);
        assert!(numbers(&["no such check"]).is_empty());
        assert_eq!(numbers(&[]).len(), Case::all().count());
    }
}
