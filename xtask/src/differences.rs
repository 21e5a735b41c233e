//! `differences`: makes the pages of `docs/differences` of `xtask/differences.tsv`, one a command.
//!
//! The list is the one place where a difference from perf stands with its reason. The sweep's list of accepted
//! differences refers to it by id, so that no difference is accepted that users are not told of.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::args::Args;
use crate::sweep::accepted;
use crate::workspace;

/// Pages in their order: the name in the list, the title, and the commands or topics.
const PAGES: [(&str, &str); 13] = [
    ("report", "`report`"),
    ("script", "`script` and dumps"),
    ("annotate", "`annotate`"),
    ("diff", "`diff`"),
    ("record", "`record`"),
    ("stat", "`stat`"),
    ("events", "Events by name"),
    ("data", "`data convert`"),
    ("pt", "Intel PT"),
    ("names", "Names, source lines, stacks"),
    ("files", "Files: caches, archives, outputs, debuginfod"),
    ("format", "Forms of recordings, headers, damage"),
    (
        "references",
        "Texts of other tools that the sweep compares with",
    ),
];

/// A row of the list.
struct Difference {
    page: String,
    /// Differs for good; otherwise until later.
    on_purpose: bool,
    id: String,
    /// Texts of the columns: where, perf 7.2, oxperf, reason.
    cells: [String; 4],
}

/// Writes the pages.
pub(crate) fn run(args: Args) -> Result<ExitCode> {
    args.finish()?;
    let folder = workspace::root().join("docs/differences");
    std::fs::create_dir_all(&folder)?;
    let pages = pages(&read()?);
    for (path, text) in &pages {
        std::fs::write(path, text)?;
    }
    println!("differences: {} pages", pages.len());
    Ok(ExitCode::SUCCESS)
}

/// Returns everything that is wrong with the list and with the pages that were made of it.
pub(crate) fn problems() -> Result<Vec<String>> {
    let list = read()?;
    let mut problems = Vec::new();
    let mut ids = BTreeSet::new();
    for row in &list {
        if !ids.insert(&row.id) {
            problems.push(format!("{}: the id stands twice", row.id));
        }
        if !PAGES.iter().any(|(name, _)| *name == row.page) {
            problems.push(format!("{}: there is no page {}", row.id, row.page));
        }
        if row.cells.iter().any(|cell| cell.is_empty() || cell == "-") {
            problems.push(format!("{}: a column is empty", row.id));
        }
    }
    for id in accepted::ids()?.iter().filter(|id| !ids.contains(id)) {
        problems.push(format!("{id}: accepted by the sweep, not in the list"));
    }
    for (path, text) in pages(&list) {
        if std::fs::read_to_string(&path).unwrap_or_default() != text {
            problems.push(format!("{}: run cargo xtask differences", path.display()));
        }
    }
    Ok(problems)
}

fn read() -> Result<Vec<Difference>> {
    let path = workspace::root().join("xtask/differences.tsv");
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(parse).collect()
}

fn parse(line: &str) -> Result<Difference> {
    let columns: Vec<String> = line.split('\t').map(str::to_owned).collect();
    let Ok([page, kind, id, cells @ ..]) = <[String; 7]>::try_from(columns) else {
        bail!("differences.tsv: seven columns are expected: {line:?}");
    };
    let on_purpose = match kind.as_str() {
        "purpose" => true,
        "later" => false,
        _ => bail!("differences.tsv: a difference is on purpose or for later: {line:?}"),
    };
    Ok(Difference {
        page,
        on_purpose,
        id,
        cells,
    })
}

/// Makes the text of every page, the first of all pages among them.
fn pages(list: &[Difference]) -> Vec<(PathBuf, String)> {
    let docs = workspace::root().join("docs");
    let mut pages = vec![(docs.join("differences.md"), contents(list))];
    for (name, title) in PAGES {
        let rows: Vec<&Difference> = list.iter().filter(|row| row.page == name).collect();
        pages.push((
            docs.join(format!("differences/{name}.md")),
            page(title, &rows),
        ));
    }
    pages
}

fn contents(list: &[Difference]) -> String {
    let mut text = String::from(
        "# Differences from perf\n\n\
         The reference is perf 7.2. What is not on these pages is meant to be the same, byte for byte, for the\n\
         commands and options that exist; `cargo xtask sweep` checks it. A difference stays on purpose, or is one\n\
         that oxperf does not have yet.\n\n\
         | page | on purpose | not yet |\n|---|---|---|\n",
    );
    for (name, title) in PAGES {
        let rows = list.iter().filter(|row| row.page == name);
        let (purpose, later): (Vec<_>, Vec<_>) = rows.partition(|row| row.on_purpose);
        let _ = writeln!(
            text,
            "| [{title}](differences/{name}.md) | {} | {} |",
            purpose.len(),
            later.len()
        );
    }
    text.push_str(
        "\nTwo kinds of lines do not depend on the recording and are not compared: `# captured on` (the file's own\n\
         time) and the `# (Tip: ...)` line at the end of a report.\n\n\
         These pages are made by `cargo xtask differences` of [differences.tsv](../xtask/differences.tsv); the texts\n\
         that the sweep accepts ([sweep-accepted.tsv](../xtask/sweep-accepted.tsv)) refer to it by id.\n",
    );
    text
}

fn page(title: &str, rows: &[&Difference]) -> String {
    let mut text = format!(
        "# Differences from perf: {title}\n\n\
         Made by `cargo xtask differences` of [differences.tsv](../../xtask/differences.tsv).\n"
    );
    table(&mut text, "On purpose", rows, true);
    table(&mut text, "Not yet", rows, false);
    text
}

fn table(text: &mut String, title: &str, rows: &[&Difference], on_purpose: bool) {
    let _ = write!(text, "\n## {title}\n\n");
    let rows = rows.iter().filter(|row| row.on_purpose == on_purpose);
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        text.push_str("Nothing is known.\n");
        return;
    }
    text.push_str("| where | perf 7.2 | oxperf | reason |\n|---|---|---|---|\n");
    for row in rows {
        let cells = row.cells.each_ref().map(|cell| cell.replace('|', "\\|"));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}
