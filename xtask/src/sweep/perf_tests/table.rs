//! The list `xtask/perf-tests.tsv` and the page docs/perf-tests.md that is made of it.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::States;
use super::programs::Side;
use super::state::State;
use crate::workspace;

const HEAD: &str = "# test\tperf 7.2\toxperf\toxperf with missing commands lent\treason where perf 7.2 alone passes (missing: COMMANDS, purpose: .., later: ..) or -; `cargo xtask sweep --perf-tests --table` writes the states\n";

/// Ways a reason begins.
const REASONS: [&str; 3] = ["missing: ", "purpose: ", "later: "];

/// One test of the list.
pub(super) struct Row {
    pub(super) name: String,
    perf7: State,
    ours: State,
    lent: State,
    /// Text that says why perf 7.2 alone passes it.
    pub(super) reason: Option<String>,
}

impl Row {
    /// Makes a row of what a run found, without a reason.
    pub(super) fn new(name: &str, states: &States) -> Row {
        let of = |side| states.get(&side).copied().unwrap_or(State::Unknown);
        Row {
            name: name.to_owned(),
            perf7: of(Side::Perf7),
            ours: of(Side::Ours),
            lent: of(Side::Lent),
            reason: None,
        }
    }

    /// Returns true if perf 7.2 passes it and oxperf does not.
    pub(super) fn needs_reason(&self) -> bool {
        self.perf7 == State::Pass && self.ours != State::Pass
    }

    fn group(&self) -> Group {
        match (self.perf7 == State::Pass, self.ours == State::Pass) {
            (true, true) => Group::Both,
            (true, false) => Group::Perf7Alone,
            (false, true) => Group::OursAlone,
            (false, false) => Group::Neither,
        }
    }

    fn line(&self) -> String {
        let reason = self.reason.as_deref().unwrap_or("-");
        let states = [self.perf7, self.ours, self.lent].map(State::word);
        format!("{}\t{}\t{reason}\n", self.name, states.join("\t"))
    }
}

/// Who passes a test.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Group {
    Both,
    Perf7Alone,
    OursAlone,
    Neither,
}

const GROUPS: [(Group, &str); 4] = [
    (Group::Both, "both pass"),
    (Group::Perf7Alone, "perf 7.2 alone"),
    (Group::OursAlone, "oxperf alone"),
    (Group::Neither, "neither"),
];

/// Reads the list.
pub(super) fn read() -> Result<Vec<Row>> {
    let path = path();
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(parse)
        .collect()
}

/// Finds a test by its name.
pub(super) fn find<'a>(list: &'a [Row], name: &str) -> Option<&'a Row> {
    list.iter().find(|row| row.name == name)
}

/// Puts what a run found into the list; a reason stays while it is needed, a state that was not looked for stays.
pub(super) fn update(list: &mut Vec<Row>, mut found: Row) {
    let Some(at) = list.iter().position(|row| row.name == found.name) else {
        list.push(found);
        return;
    };
    if found.lent == State::Unknown {
        found.lent = list[at].lent;
    }
    if found.needs_reason() {
        found.reason = list[at].reason.take();
    }
    list[at] = found;
}

/// Writes the list and its page.
pub(super) fn write(list: &[Row]) -> Result<()> {
    let lines: String = list.iter().map(Row::line).collect();
    std::fs::write(path(), format!("{HEAD}{lines}"))?;
    Ok(std::fs::write(page_path(), page(list))?)
}

/// Counts who passes, in words.
pub(super) fn counts(rows: &[&Row]) -> String {
    let of = |group| rows.iter().filter(|row| row.group() == group).count();
    let counts: Vec<String> = GROUPS
        .iter()
        .map(|(group, words)| format!("{words} {}", of(*group)))
        .collect();
    let skipped =
        |side: fn(&Row) -> State| rows.iter().filter(|row| side(row) == State::Skip).count();
    format!(
        "{} tests: {}; skipped by perf 7.2 {}, by oxperf {}; oxperf with missing commands lent passes {}",
        rows.len(),
        counts.join(", "),
        skipped(|row| row.perf7),
        skipped(|row| row.ours),
        rows.iter().filter(|row| row.lent == State::Pass).count()
    )
}

/// Returns everything that is wrong with the list and with the page that was made of it.
pub(crate) fn problems() -> Result<Vec<String>> {
    let list = read()?;
    let mut problems = Vec::new();
    let mut names = BTreeSet::new();
    for row in &list {
        if !names.insert(&row.name) {
            problems.push(format!("{}: stands twice", row.name));
        }
        match &row.reason {
            None if row.needs_reason() => problems.push(format!(
                "{}: perf 7.2 alone passes it, without a reason",
                row.name
            )),
            Some(_) if !row.needs_reason() => {
                problems.push(format!("{}: has a reason and needs none", row.name))
            }
            Some(reason) if !REASONS.iter().any(|kind| reason.starts_with(kind)) => {
                problems.push(format!(
                    "{}: a reason begins with one of {REASONS:?}",
                    row.name
                ));
            }
            _ => (),
        }
    }
    if std::fs::read_to_string(page_path()).unwrap_or_default() != page(&list) {
        problems.push(
            "docs/perf-tests.md is not that of the list: cargo xtask sweep --perf-tests --table"
                .to_owned(),
        );
    }
    Ok(problems)
}

fn path() -> PathBuf {
    workspace::root().join("xtask/perf-tests.tsv")
}

fn page_path() -> PathBuf {
    workspace::root().join("docs/perf-tests.md")
}

fn parse(line: &str) -> Result<Row> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [name, perf7, ours, lent, reason] = columns[..] else {
        bail!("perf-tests.tsv: five columns are expected: {line:?}");
    };
    let state =
        |word| State::parse(word).with_context(|| format!("perf-tests.tsv: no state {word:?}"));
    Ok(Row {
        name: name.to_owned(),
        perf7: state(perf7)?,
        ours: state(ours)?,
        lent: state(lent)?,
        reason: Some(reason.to_owned()).filter(|text| text != "-"),
    })
}

fn page(list: &[Row]) -> String {
    let mut text = String::from(
        "# perf's own tests\n\n\
         The shell tests of perf 7.2, and the expected attributes (`attr`) of perf 7.2 and 6.1, with oxperf as `perf`, beside\n\
         the same with perf 7.2, as root in a virtual machine without hardware counters. `pass` is exit code 0, `skip` is 2,\n\
         `late` is a test that was ended at its limit of time. In the column `lent`, perf 7.2 runs the commands that oxperf\n\
         does not have yet. perf 7.2 runs the workloads of oxperf's `test -w`, since its own have no symbols in packages; in\n\
         expected attributes the size of the kernel's structure is left open. Those of `record` are tried on machines with\n\
         counters, too, which are made up: `attr-7.2@MACHINE`.\n\n\
         Made by `cargo xtask sweep --perf-tests --table` of [perf-tests.tsv](../xtask/perf-tests.tsv).\n",
    );
    for (title, is_attribute) in [("Scripts", false), ("Expected attributes", true)] {
        let rows = list
            .iter()
            .filter(|row| row.name.starts_with("attr-") == is_attribute);
        let rows: Vec<&Row> = rows.collect();
        let _ = writeln!(text, "\n## {title}\n\n{}.", counts(&rows));
        for (group, words) in GROUPS {
            section(
                &mut text,
                words,
                rows.iter().copied().filter(|row| row.group() == group),
            );
        }
    }
    text
}

fn section<'a>(text: &mut String, title: &str, rows: impl Iterator<Item = &'a Row>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return;
    }
    let _ = write!(
        text,
        "\n### {}{}\n\n",
        title[..1].to_uppercase(),
        &title[1..]
    );
    text.push_str("| test | perf 7.2 | oxperf | lent | reason |\n|---|---|---|---|---|\n");
    for row in rows {
        let states = [row.perf7, row.ours, row.lent].map(State::word);
        let reason = row.reason.as_deref().unwrap_or("").replace('|', "\\|");
        let _ = writeln!(
            text,
            "| `{}` | {} | {reason} |",
            row.name,
            states.join(" | ")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Row {
        parse(line).unwrap()
    }

    #[test]
    fn the_list_has_its_shape_and_its_page() {
        assert_eq!(problems().unwrap(), Vec::<String>::new());
        assert!(find(&read().unwrap(), "record.sh").is_some());
    }

    #[test]
    fn a_line_is_read_and_written_alike() {
        let line = "stat.sh\tpass\tfail\tlate\tmissing: stat\n";
        assert_eq!(row(line.trim_end()).line(), line);
        assert!(parse("stat.sh\tpass\tgood\tlate\t-").is_err());
        assert!(parse("stat.sh\tpass").is_err());
    }

    #[test]
    fn a_run_keeps_reasons_that_are_needed() {
        let mut list = vec![
            row("a.sh\tpass\tfail\tpass\tmissing: stat"),
            row("b.sh\tpass\tskip\t-\tmissing: list"),
        ];
        update(&mut list, row("a.sh\tpass\tskip\t-\t-"));
        update(&mut list, row("b.sh\tpass\tpass\tpass\t-"));
        assert_eq!(list[0].line(), "a.sh\tpass\tskip\tpass\tmissing: stat\n");
        assert_eq!(list[1].line(), "b.sh\tpass\tpass\tpass\t-\n");
    }
}
