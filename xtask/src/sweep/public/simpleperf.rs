//! simpleperf's own text beside its recordings: what each address is called.

use std::collections::HashSet;
use std::path::Path;

use anyhow::Result;

use super::inputs::Input;
use crate::process::{Job, read_maybe_zstd};
use crate::sweep::accepted::{self, Accepted};
use crate::sweep::compare::Difference;
use crate::sweep::table::{Outcome, Row};
use crate::sweep::{LIMITS, Options};

/// Compares the names with the text beside a recording, where there is one.
pub(super) fn compare(
    input: &Input,
    file: &Path,
    folder: &Path,
    options: &Options,
    accepted: &[Accepted],
) -> Result<Option<Row>> {
    let text = input
        .stored
        .with_file_name(format!("{}.perf-script.zst", stem(input)));
    if !text.is_file() {
        return Ok(None);
    }
    let expected = String::from_utf8_lossy(&read_maybe_zstd(&text)?).into_owned();
    let args = ["script", "-F", "ip,sym,dso", "--symfs", "no-symfs", "-i"].map(str::to_owned);
    let args: Vec<String> = args
        .into_iter()
        .chain([file.display().to_string()])
        .collect();
    let stdout = folder.join("stdout");
    let stderr = folder.join("stderr");
    let job = Job {
        program: &options.binary,
        args: &args,
        folder,
        home: folder,
        stdout: stdout.clone(),
        stderr,
    };
    let outcome = match job.run(LIMITS)?.crash() {
        Some(why) => Outcome::Failed(why),
        None => {
            let got = String::from_utf8_lossy(&std::fs::read(&stdout)?).into_owned();
            first_difference(&expected, &got).map_or(Outcome::Identical, Outcome::Differs)
        }
    };
    let (case, golden) = (format!("public/{}", input.name), "perf-script".to_owned());
    let outcome = match accepted::find(accepted, &case, &golden) {
        Some(entry) => entry.judge(outcome),
        None => outcome,
    };
    Ok(Some(Row {
        case,
        golden,
        outcome,
    }))
}

/// The recording's name without its endings.
fn stem(input: &Input) -> String {
    let name = input
        .stored
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    name.split(".data").next().unwrap_or_default().to_owned()
}

/// The first address with a name that we do not give it, and how many there are.
fn first_difference(expected: &str, got: &str) -> Option<Difference> {
    let ours: HashSet<String> = got.lines().filter_map(place).collect();
    let missing = expected
        .lines()
        .zip(1..)
        .filter_map(|(line, number)| Some((place(line)?, number)));
    let mut missing = missing.filter(|(place, _)| !ours.contains(place));
    let (expected, line) = missing.next()?;
    Some(Difference {
        line,
        lines: 1 + missing.count(),
        expected,
        got: "(another name)".to_owned(),
    })
}

/// The address and its name on a line of a chain, unless simpleperf had no name. The two write `> >` differently.
fn place(line: &str) -> Option<String> {
    let line = line.strip_prefix('\t')?.trim_start();
    (!line.contains("[+")).then(|| line.replace("> >", ">>").replace("> >", ">>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_address_whatever_the_blanks() {
        let expected = "app\t1/2: cycles:\n\t  10 f<a<b>>() (/x)\n\t  20 x[+20] (/x)\n";
        assert!(first_difference(expected, "app: \n\t          10 f<a<b> >() (/x)\n").is_none());
        assert_eq!(
            first_difference(expected, "\t 10 g (/x)\n").unwrap().lines,
            1
        );
    }
}
