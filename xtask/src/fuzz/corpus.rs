//! The committed inputs of a target: few and small, chosen so that together they reach as much code as they can.
//!
//! libFuzzer says which edges each input reaches; the input that adds most of them is taken, again and again, until
//! there are enough. Inputs of defects that were found once stay, whatever they reach.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};

use super::target::Target;
use crate::workspace;

/// Inputs of a target.
const MOST: usize = 48;
/// Bytes of an input, and of all of a target.
const LARGEST: u64 = 8 << 10;
const TOTAL: u64 = 96 << 10;
/// What the names of inputs begin with that are never dropped: defects that were found once.
const DEFECT: &str = "defect-";

/// An input with the edges that it reaches.
struct Input {
    path: PathBuf,
    size: u64,
    edges: Vec<u32>,
}

/// Replaces the committed inputs by a choice of them and of what is in `found`.
pub(super) fn select(target: &Target, found: Option<&Path>) -> Result<()> {
    let corpus = target.corpus();
    fs::create_dir_all(&corpus)?;
    let found = found
        .map(|found| std::path::absolute(found).map(|found| found.join(&target.name)))
        .transpose()?;
    let folders: Vec<PathBuf> = [Some(corpus.clone()), found]
        .into_iter()
        .flatten()
        .filter(|folder| folder.is_dir())
        .collect();
    let inputs = inputs(target, &folders)?;
    let all = inputs.len();
    let chosen = choose(inputs);
    for input in &chosen {
        let name = input.path.file_name().context("a file without a name")?;
        if input.path.parent() != Some(&corpus) {
            fs::copy(&input.path, corpus.join(name))?;
        }
    }
    let kept: HashSet<_> = chosen
        .iter()
        .filter_map(|input| input.path.file_name())
        .collect();
    for entry in fs::read_dir(&corpus)? {
        let entry = entry?;
        if !kept.contains(entry.file_name().as_os_str()) {
            fs::remove_file(entry.path())?;
        }
    }
    let size: u64 = chosen.iter().map(|input| input.size).sum();
    println!(
        "{:<16} {} of {all} inputs, {size} bytes",
        target.name,
        chosen.len()
    );
    Ok(())
}

/// Returns what each input reaches, by libFuzzer's own account.
fn inputs(target: &Target, folders: &[PathBuf]) -> Result<Vec<Input>> {
    let scratch = workspace::scratch("fuzz-select")?.join(&target.name);
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(scratch.join("merged"))?;
    let control = scratch.join("control");
    let mut command = target.command()?;
    command.args(["-set_cover_merge=1", "-use_counters=0"]);
    command.arg(format!("-merge_control_file={}", control.display()));
    command.arg(scratch.join("merged")).args(folders);
    let log = fs::File::create(scratch.join("log"))?;
    let status = command.stdout(Stdio::null()).stderr(log).status()?;
    ensure!(
        status.success(),
        "{}: see {}",
        target.name,
        scratch.join("log").display()
    );
    let inputs = parse(&fs::read_to_string(control)?).context("libFuzzer's control file")?;
    fs::remove_dir_all(&scratch)?;
    Ok(inputs)
}

/// Reads a control file: two counts, the paths, then for each input `STARTED INDEX SIZE` and `FT INDEX EDGE..`.
fn parse(text: &str) -> Option<Vec<Input>> {
    let mut lines = text.lines();
    let count: usize = lines.next()?.parse().ok()?;
    lines.next()?;
    let input = |path: &str| Input {
        path: path.into(),
        size: 0,
        edges: Vec::new(),
    };
    let mut inputs: Vec<Input> = lines.by_ref().take(count).map(input).collect();
    for line in lines {
        let mut words = line.split(' ');
        let (kind, index) = (words.next()?, words.next()?.parse::<usize>().ok()?);
        let input = inputs.get_mut(index)?;
        match kind {
            "STARTED" => input.size = words.next()?.parse().ok()?,
            "FT" => input.edges = words.filter_map(|edge| edge.parse().ok()).collect(),
            _ => {}
        }
    }
    Some(inputs)
}

/// The defects that were found once, then whatever adds most.
fn choose(inputs: Vec<Input>) -> Vec<Input> {
    let is_defect = |input: &Input| {
        input
            .path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(DEFECT))
    };
    let (mut chosen, mut rest): (Vec<Input>, Vec<Input>) = inputs.into_iter().partition(is_defect);
    rest.retain(|input| input.size <= LARGEST);
    let mut reached: HashSet<u32> = chosen
        .iter()
        .flat_map(|input| &input.edges)
        .copied()
        .collect();
    let mut left = TOTAL;
    while chosen.len() < MOST {
        rest.retain_mut(|input| {
            input.edges.retain(|edge| !reached.contains(edge));
            !input.edges.is_empty() && input.size <= left
        });
        let best =
            (0..rest.len()).max_by_key(|at| (rest[*at].edges.len(), u64::MAX - rest[*at].size));
        let Some(best) = best.map(|at| rest.swap_remove(at)) else {
            break;
        };
        left -= best.size;
        reached.extend(&best.edges);
        chosen.push(best);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_adds_most_is_chosen_and_defects_stay() {
        let text = "5\n0\n/c/a\n/c/b\n/c/c\n/c/defect-d\n/c/large\n\
            STARTED 0 10\nFT 0 1 2\nCOV 0 7\nSTARTED 1 10\nFT 1 1 2 3\nSTARTED 2 9\nFT 2 4\n\
            STARTED 3 9000\nFT 3 9\nSTARTED 4 9000\nFT 4 1 2 3 4 5 6\n";
        let chosen = choose(parse(text).unwrap());
        let paths: Vec<_> = chosen
            .iter()
            .map(|input| input.path.to_str().unwrap())
            .collect();
        assert_eq!(paths, ["/c/defect-d", "/c/b", "/c/c"]);
        assert!(parse("2\n0\n/c/a\n").is_some_and(|inputs| inputs.len() == 1));
        assert!(parse("x\n").is_none());
    }
}
