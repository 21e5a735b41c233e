//! `tidy`: the rules of the project that no compiler checks.

mod circles;
mod docs;
mod figures;
mod layers;
mod licences;
mod manifests;
mod modules;
mod names;
mod parsed;
mod sizes;
mod sources;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use crate::args::Args;
use crate::differences;
use crate::sweep::perf_tests::table as perf_tests;
use crate::workspace;

/// What the checks found.
#[derive(Default)]
struct Findings {
    broken: Vec<String>,
    /// Worth a look, but no failure.
    noted: Vec<String>,
}

impl Findings {
    fn broken(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.broken.push(format!("{place}: {what}"));
    }

    fn noted(&mut self, place: impl std::fmt::Display, what: impl std::fmt::Display) {
        self.noted.push(format!("{place}: {what}"));
    }
}

/// A text file of the project.
struct Source {
    /// Relative to the root.
    path: PathBuf,
    text: String,
}

/// Runs every check; fails when a rule is broken.
pub(crate) fn run(mut args: Args) -> Result<ExitCode> {
    let with_figures = args.flag("--figures");
    args.finish()?;
    let mut findings = Findings::default();
    let files = workspace::files()?;
    let metadata = workspace::metadata()?;
    layers::check(&metadata, &mut findings);
    licences::check(&metadata, &mut findings)?;
    manifests::check(&sources(&files, "toml"), &mut findings);
    let rust = sources(&files, "rs");
    sources::check(&rust, &mut findings);
    modules::check(&rust, &mut findings);
    sizes::check(&files, &rust, &mut findings);
    docs::check(&files, &sources(&files, "md"), &mut findings);
    let differences = differences::problems()?;
    differences
        .into_iter()
        .for_each(|problem| findings.broken("xtask/differences.tsv", problem));
    perf_tests::problems()?
        .into_iter()
        .for_each(|problem| findings.broken("xtask/perf-tests.tsv", problem));
    let parsed = parsed::parse(&rust);
    names::check(&parsed, &mut findings);
    if with_figures {
        figures::print(&parsed);
        circles::print(&parsed);
    }
    Ok(print(&findings, files.len()))
}

fn sources(files: &[PathBuf], extension: &str) -> Vec<Source> {
    let named = files
        .iter()
        .filter(|path| path.extension().is_some_and(|found| found == extension));
    named.filter_map(|path| read(path)).collect()
}

fn read(path: &Path) -> Option<Source> {
    let text = std::fs::read_to_string(workspace::root().join(path)).ok()?;
    Some(Source {
        path: path.to_path_buf(),
        text,
    })
}

fn print(findings: &Findings, files: usize) -> ExitCode {
    findings
        .noted
        .iter()
        .for_each(|line| println!("note: {line}"));
    findings
        .broken
        .iter()
        .for_each(|line| println!("BROKEN: {line}"));
    println!(
        "tidy: {files} files, {} rules broken, {} notes",
        findings.broken.len(),
        findings.noted.len()
    );
    if findings.broken.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
