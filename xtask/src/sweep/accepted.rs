//! The differences that were looked at and accepted: `xtask/sweep-accepted.tsv`.

use anyhow::{Context, Result};

use super::table::Outcome;
use crate::workspace;

/// One accepted difference; xtask/differences.tsv says under its id what differs and why.
pub(super) struct Accepted {
    case: String,
    golden: String,
    /// Number of lines that may differ.
    lines: usize,
    /// The id of the difference.
    id: String,
}

impl Accepted {
    /// An accepted difference must not grow, and must not stay on the list when it is gone.
    pub(super) fn judge(&self, compared: Outcome) -> Outcome {
        match compared {
            Outcome::Differs(found) if found.lines <= self.lines => {
                Outcome::Accepted(self.id.clone())
            }
            Outcome::Identical => Outcome::Stale,
            other => other,
        }
    }
}

/// Reads the list: `case TAB golden TAB lines TAB id`, `#` for comments.
pub(super) fn read() -> Result<Vec<Accepted>> {
    let path = workspace::root().join("xtask/sweep-accepted.tsv");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| parse(line).with_context(|| format!("{}: {line:?}", path.display())))
        .collect()
}

fn parse(line: &str) -> Option<Accepted> {
    let mut columns = line.splitn(4, '\t');
    let (case, golden) = (columns.next()?.to_owned(), columns.next()?.to_owned());
    Some(Accepted {
        case,
        golden,
        lines: columns.next()?.parse().ok()?,
        id: columns.next()?.to_owned(),
    })
}

/// Returns the ids that the list refers to.
pub(crate) fn ids() -> Result<Vec<String>> {
    Ok(read()?.into_iter().map(|entry| entry.id).collect())
}

/// The entry for a text, if there is one.
pub(super) fn find<'a>(list: &'a [Accepted], case: &str, golden: &str) -> Option<&'a Accepted> {
    list.iter()
        .find(|entry| entry.case == case && entry.golden == golden)
}
