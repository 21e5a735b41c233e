//! What hotspot's parser expects of its recordings beside what we find: each sample's frames, which of them were inlined,
//! under which names, and where in the source their code stands.
//!
//! Functions with a symbol are left to the comparison with perf, which of a place's names counts is perf's choice. The
//! parser puts scopes before names that have none in the debug information's own words: a name may be the end of its. Of
//! one function it tells the scope alone (`std::`).

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::inputs::Input;
use crate::process::{Job, read_maybe_zstd};
use crate::sweep::compare::Difference;
use crate::sweep::table::{Outcome, Row};
use crate::sweep::{LIMITS, Options};

/// One of the functions that an address of a chain belongs to.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    /// Where the sample's chain begins in the text, counted in samples; frames of one chain share it.
    sample: usize,
    /// The name of a function that was inlined.
    inlined: Option<String>,
    /// `FILE:LINE`, where it is known.
    line: Option<String>,
}

/// Compares the frames with the text beside a recording, where there is one. Those of calls that the CPU kept are perf's.
pub(super) fn compare(
    input: &Input,
    file: &Path,
    folder: &Path,
    options: &Options,
) -> Result<Option<Row>> {
    let Some(text) =
        expected_text(&input.stored).filter(|text| !text.to_string_lossy().contains(".lbr."))
    else {
        return Ok(None);
    };
    let expected = read_expected(&String::from_utf8_lossy(&read_maybe_zstd(&text)?));
    unpack_programs(&input.stored, folder)?;
    let args = [
        "script",
        "--ns",
        "-F",
        "time,ip,sym,srcline",
        "--full-source-path",
        "--kallsyms",
        "/dev/null",
    ];
    let args = args
        .into_iter()
        .chain(["--symfs", ".,flat", "-i"])
        .map(str::to_owned);
    let args: Vec<String> = args.chain([file.display().to_string()]).collect();
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
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
            let ours = read_ours(&String::from_utf8_lossy(&std::fs::read(&stdout)?));
            first_difference(&expected, &ours).map_or(Outcome::Identical, Outcome::Differs)
        }
    };
    Ok(Some(Row {
        case: format!("public/{}", input.name),
        golden: "perfparser's frames".to_owned(),
        outcome,
    }))
}

/// `NAME.expected.txt` beside a recording of that name, packed or not.
fn expected_text(stored: &Path) -> Option<PathBuf> {
    let name = stored.file_name()?.to_str()?;
    let name = name.strip_suffix(".zst").unwrap_or(name);
    let texts =
        ["", ".zst"].map(|packed| stored.with_file_name(format!("{name}.expected.txt{packed}")));
    texts.into_iter().find(|text| text.is_file())
}

/// The programs that lie beside the recording.
fn unpack_programs(stored: &Path, folder: &Path) -> Result<()> {
    for entry in std::fs::read_dir(stored.parent().unwrap_or(Path::new(".")))? {
        let path = entry?.path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str()?.strip_suffix(".zst"));
        if let Some(name) = name.filter(|name| !name.starts_with("perf.")) {
            std::fs::write(folder.join(name), read_maybe_zstd(&path)?)?;
        }
    }
    Ok(())
}

/// Two lines a frame: the address with its place in the source; the name, the program, and whether it was inlined.
fn read_expected(text: &str) -> Vec<Frame> {
    let (mut frames, mut sample, mut place): (Vec<Frame>, usize, Option<&str>) =
        (Vec::new(), 0, None);
    for line in text.lines().filter(|line| !line.is_empty()) {
        let Some(rest) = line.strip_prefix('\t') else {
            sample += 1;
            continue;
        };
        let first = rest.split(['\t', ' ']).next().unwrap_or_default();
        if rest.starts_with('\t') || !first.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            continue;
        }
        match place.take() {
            None => place = Some(rest.split('\t').nth(1).unwrap_or_default()),
            Some(place) => {
                let name = rest.rsplit('\t').next().unwrap_or_default();
                let inlined = name
                    .strip_suffix(" (inlined)")
                    .and_then(|name| without_words(name, 2));
                let line = place
                    .contains('/')
                    .then(|| plain(place.rsplit_once(':').map_or("", |(line, _)| line)));
                frames.push(Frame {
                    sample,
                    inlined: inlined.map(packed),
                    line,
                });
            }
        }
    }
    frames
}

/// A line with the address and the name, then one with the place in the source.
fn read_ours(text: &str) -> Vec<Frame> {
    let (mut frames, mut sample) = (Vec::new(), 0);
    let mut lines = text.lines().filter(|line| !line.is_empty());
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix('\t') else {
            sample += 1;
            continue;
        };
        let name = rest
            .trim_start()
            .split_once(' ')
            .map_or("", |(_, name)| name);
        let place = lines.next().unwrap_or_default().trim();
        let was_inlined = place.strip_suffix(" (inlined)");
        let line = was_inlined.unwrap_or(place);
        let line = line.starts_with('/').then(|| plain(line));
        frames.push(Frame {
            sample,
            inlined: was_inlined.map(|_| packed(name)),
            line,
        });
    }
    frames
}

/// A text without its last words.
fn without_words(text: &str, count: usize) -> Option<&str> {
    (0..count).try_fold(text.trim_end(), |text, _| Some(text.rsplit_once(' ')?.0))
}

fn packed(name: &str) -> String {
    name.split_whitespace().collect()
}

/// A path without `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn first_difference(expected: &[Frame], ours: &[Frame]) -> Option<Difference> {
    let count = expected.len().max(ours.len());
    let mut differ = (0..count).filter(|&at| !is_same(expected.get(at), ours.get(at)));
    let line = differ.next()?;
    let shown = |frames: &[Frame]| {
        frames
            .get(line)
            .map_or("(end)".to_owned(), |frame| format!("{frame:?}"))
    };
    Some(Difference {
        line,
        lines: 1 + differ.count(),
        expected: shown(expected),
        got: shown(ours),
    })
}

/// Lines are compared only where the parser has one.
fn is_same(expected: Option<&Frame>, ours: Option<&Frame>) -> bool {
    let (Some(expected), Some(ours)) = (expected, ours) else {
        return false;
    };
    let named = match (&expected.inlined, &ours.inlined) {
        (Some(theirs), Some(ours)) => theirs.ends_with(ours.as_str()) || theirs.ends_with("::"),
        (theirs, ours) => theirs.is_none() && ours.is_none(),
    };
    expected.sample == ours.sample
        && named
        && (expected.line.is_none() || expected.line == ours.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPECTED: &str = "app\t1\t1\t0.000000009\n\tcycles: 7\n\n\
        \t20 20\t/a/../b.h:3:1\t0 0\n\t10 20\t/b.h:2:1\t10 9\tN::inner<int> app /bin/app (inlined)\n\
        \t20 0\t/c.c:8:2\t0 0\n\t10 0\t/c.c:1:1\t10 9\tmain app /bin/app \n";

    #[test]
    fn frames_are_compared_by_name_place_and_sample() {
        let expected = read_expected(EXPECTED);
        let ours = |name, line| {
            read_ours(&format!(
                " 0.000000009: \n\t  20 {name}\n  /b.h:{line} (inlined)\n\t  20 main\n  /c.c:8\n"
            ))
        };
        assert_eq!(expected.len(), 2);
        assert!(first_difference(&expected, &ours("inner<int>", 3)).is_none());
        assert!(first_difference(&expected, &ours("inner<int>", 4)).is_some());
        assert!(first_difference(&expected, &ours("outer<int>", 3)).is_some());
        assert_eq!(first_difference(&expected, &[]).unwrap().lines, 2);
    }
}
