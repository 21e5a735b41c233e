//! Faults in the options of `stat`, and perf's words and exit codes for them.

use crate::cmd::record::ArgumentProblem;
use crate::failure::code;

/// perf's exit code for options that make no sense together.
pub(super) const CONTRADICTION: i32 = 22;

/// A fault in the options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StatProblem {
    /// The fault.
    pub(super) message: String,
    /// The options that it is about.
    pub(super) options: Vec<&'static str>,
    /// The exit code.
    pub(super) code: i32,
}

impl StatProblem {
    /// Options that exclude each other, or that need another one.
    pub(super) fn contradiction(message: &str, options: &[&'static str]) -> StatProblem {
        StatProblem {
            message: format!("{message}\n"),
            options: options.to_vec(),
            code: CONTRADICTION,
        }
    }

    /// The value of an option is no number.
    pub(super) fn no_number(option: &str) -> StatProblem {
        const LETTERS: [(&str, char); 3] =
            [("repeat", 'r'), ("interval-print", 'I'), ("delay", 'D')];
        let letter = LETTERS.iter().find(|(name, _)| *name == option);
        let named = match letter {
            Some((_, letter)) => format!("switch `{letter}'"),
            None => format!("option `{option}'"),
        };
        StatProblem {
            message: format!(" Error: {named} expects a numerical value"),
            options: Vec::new(),
            code: code::BAD_OPTION,
        }
    }

    /// The value of an option makes no sense, for which there is a sentence.
    pub(super) fn bad_value(message: String) -> StatProblem {
        StatProblem {
            message,
            options: Vec::new(),
            code: code::BAD_OPTION,
        }
    }

    /// A cache level that no machine has.
    pub(super) fn cache_level(text: &str) -> StatProblem {
        StatProblem {
            message: format!("Cache level must be of form L[1-4], or l[1-4]: '{text}' is not"),
            options: vec!["--per-cache"],
            code: code::BAD_OPTION,
        }
    }

    /// An option of perf's that is not here yet.
    pub(super) fn later(option: &str, instead: &str) -> StatProblem {
        StatProblem {
            message: format!("--{option} is not here yet: {instead}"),
            options: Vec::new(),
            code: code::BAD_OPTION,
        }
    }

    /// Runs of which only one can be recorded.
    pub(super) fn no_repeats() -> StatProblem {
        StatProblem {
            message: "Cannot use -r option with perf stat record.".to_owned(),
            options: Vec::new(),
            code: code::FAILED,
        }
    }

    /// A target that cannot be read, or of which nothing exists.
    pub(super) fn of_target(problem: ArgumentProblem) -> StatProblem {
        match problem {
            ArgumentProblem::NoTask(_) => StatProblem::no_task(),
            ArgumentProblem::Value(_) | ArgumentProblem::Contradiction(_) => {
                StatProblem::contradiction(
                    "failed to parse CPUs map: No such file or directory",
                    &["--cpu", "--all-cpus"],
                )
            }
        }
    }

    /// There is no terminal to be cleared.
    pub(super) fn no_screen() -> StatProblem {
        StatProblem {
            code: code::USAGE_OF_PROGRAM,
            ..StatProblem::contradiction(
                "--interval-clear does not work with output",
                &["--output", "--log-fd", "--interval-clear"],
            )
        }
    }

    /// No task of the target exists.
    pub(super) fn no_task() -> StatProblem {
        StatProblem::contradiction("Problems finding threads of monitor", &["--pid", "--tid"])
    }
}
