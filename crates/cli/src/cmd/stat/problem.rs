//! Faults in the options of `stat`, and perf's words and exit codes for them.

use crate::cmd::control::{self, Unopened};
use crate::cmd::record::ArgumentProblem;
use crate::cmd::record::behind::BehindProblem;
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

    /// The same, where the options are named in the message.
    pub(super) fn plain(message: &str) -> StatProblem {
        StatProblem {
            message: message.to_owned(),
            options: Vec::new(),
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

    /// A kind of cores that this machine does not have.
    pub(super) fn core_type(kind: &str) -> StatProblem {
        StatProblem {
            message: format!("--cputype {kind} is not supported!"),
            options: vec!["--cputype"],
            code: code::BAD_OPTION,
        }
    }

    /// Root ports that this machine does not have.
    pub(super) fn root_ports(message: &str) -> StatProblem {
        StatProblem {
            message: message.to_owned(),
            options: vec!["--iostat"],
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

    /// A way to choose a latency of retirement that is none.
    pub(super) fn latency_mode(text: &str) -> StatProblem {
        let text = oxperf_present::text::sanitize(text);
        StatProblem {
            message: format!("--tpebs-mode is mean, min, max or last: '{text}' is not"),
            options: vec!["--tpebs-mode"],
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
            ArgumentProblem::Value(_)
            | ArgumentProblem::Contradiction(_)
            | ArgumentProblem::NeedsBpf(_)
            | ArgumentProblem::Failed(_) => StatProblem::contradiction(
                "failed to parse CPUs map: No such file or directory",
                &["--cpu", "--all-cpus"],
            ),
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

    /// A filter or a control group does not fit the events before it.
    pub(super) fn of_behind(problem: BehindProblem) -> StatProblem {
        StatProblem {
            message: format!("{problem}\n"),
            options: vec![problem.option()],
            code: code::BAD_OPTION,
        }
    }

    /// There are no events to be counted in control groups.
    pub(super) fn no_events_for_cgroups() -> StatProblem {
        StatProblem::contradiction(&BehindProblem::NoEvents.to_string(), &["--for-each-cgroup"])
    }

    /// No control group has the name, behind what was said about each.
    pub(super) fn no_cgroup_matched(messages: &str, list: &str) -> StatProblem {
        let list = oxperf_present::text::sanitize(list);
        let message = format!("{messages}no cgroup matched: {list}");
        StatProblem::contradiction(&message, &["--for-each-cgroup"])
    }

    /// A pattern of control groups that cannot be understood.
    pub(super) fn no_pattern(pattern: &str, why: &str) -> StatProblem {
        let pattern = oxperf_present::text::sanitize(pattern);
        let message = format!("'{pattern}' is no pattern of cgroups: {why}");
        StatProblem::contradiction(&message, &["--for-each-cgroup"])
    }

    /// What is possible only where CPUs are counted, and not tasks.
    pub(super) fn needs_cpus() -> StatProblem {
        StatProblem::contradiction(
            "both cgroup and no-aggregation modes only available in system-wide mode",
            &["--cgroup", "--no-aggr", "--all-cpus", "--for-each-cgroup"],
        )
    }

    /// A source of commands that cannot be opened.
    pub(super) fn no_control(unopened: &Unopened) -> StatProblem {
        StatProblem {
            message: format!("{unopened}\n"),
            options: vec!["--control"],
            code: code::BAD_OPTION,
        }
    }

    /// A source of commands that is none.
    pub(super) fn bad_control(text: &str) -> StatProblem {
        StatProblem {
            message: format!("{}\n", control::no_source(text)),
            options: vec!["--control"],
            code: code::BAD_OPTION,
        }
    }

    /// Both ways to name control groups.
    pub(super) fn cgroups_twice() -> StatProblem {
        StatProblem {
            code: code::BAD_OPTION,
            ..StatProblem::contradiction(
                "--cgroup and --for-each-cgroup cannot be used together",
                &["--cgroup", "--for-each-cgroup"],
            )
        }
    }

    /// No task of the target exists.
    pub(super) fn no_task() -> StatProblem {
        StatProblem::contradiction("Problems finding threads of monitor", &["--pid", "--tid"])
    }
}
