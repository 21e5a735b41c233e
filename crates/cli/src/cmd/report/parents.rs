//! `--parent`, `--exclude-other` and `--ignore-callees`: what callers of certain names mean for a sample.

use clap::{Arg, ArgAction};
use oxperf_profile::ChainOrder;
use oxperf_profile::{Detail, Profile};
use regex_lite::Regex;

use crate::failure::Failure;

/// The names of parents unless the user gives some: functions that enter the kernel.
const USUAL: &str = "^sys_|^do_page_fault";

/// The options.
pub(super) fn arguments() -> [Arg; 3] {
    let names = |name: &'static str, help| Arg::new(name).long(name).value_name("regex").help(help);
    [
        names(
            "parent",
            "Show of each row the first function of the chain whose name matches; see -s parent",
        )
        .short('p'),
        Arg::new("exclude-other")
            .long("exclude-other")
            .short('x')
            .action(ArgAction::SetTrue)
            .help("Show only what has such a parent"),
        names(
            "ignore-callees",
            "Count what functions of these names call as their own",
        ),
    ]
}

/// Requests about callers; `None` where names are not given.
#[derive(Clone, Debug)]
pub(super) struct Parents {
    names: Regex,
    pub(super) requested: bool,
    exclude_other: bool,
    roots: Option<Regex>,
}

impl Parents {
    /// True if callers decide which samples are shown.
    pub(super) fn is_requested(&self) -> bool {
        self.requested || self.exclude_other || self.roots.is_some()
    }

    /// Takes the names of parents, if there are any, and of the functions that count what they call as their own.
    ///
    /// # Errors
    ///
    /// A text that is no regular expression.
    pub(super) fn new(
        names: Option<&str>,
        exclude_other: bool,
        roots: Option<&str>,
    ) -> Result<Parents, Failure> {
        Ok(Parents {
            names: regex(names.unwrap_or(USUAL))?,
            requested: names.is_some(),
            exclude_other,
            roots: roots.map(regex).transpose()?,
        })
    }

    /// True if call chains are needed though no table counts them.
    pub(super) fn need_chains(&self) -> bool {
        self.requested || self.roots.is_some()
    }

    /// Finds the parents, where a column shows them, and moves samples to the functions that stand for their callees, where
    /// callers are looked at.
    pub(super) fn apply(
        &self,
        profile: &mut Profile,
        order: ChainOrder,
        is_column: bool,
        looks_at_callers: bool,
    ) {
        if is_column {
            profile.note_parents(order, |name| self.names.is_match(name));
        }
        if self.exclude_other {
            let details = std::mem::take(&mut profile.details);
            for event in &mut profile.events {
                event.retain(false, |group| {
                    details.value(group.detail, Detail::Parent).is_some()
                });
            }
            profile.details = details;
        }
        if let Some(roots) = self.roots.as_ref().filter(|_| looks_at_callers) {
            profile.ignore_callees(order, |name| roots.is_match(name));
        }
    }
}

fn regex(text: &str) -> Result<Regex, Failure> {
    Regex::new(text).map_err(|error| Failure::bad_option(format!("Invalid regex: {text}\n{error}")))
}
