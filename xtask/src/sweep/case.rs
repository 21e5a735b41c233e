//! A case folder: how it was recorded, and which command made which expected text.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// One folder of `recorded/`.
pub(super) struct Case {
    /// `version/name`.
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// The shell command that made the recording.
    pub(super) recording: String,
    pub(super) goldens: Vec<Golden>,
}

/// One expected text.
pub(super) struct Golden {
    /// The file's name.
    pub(super) file: String,
    /// The words behind `perf`.
    pub(super) args: Vec<String>,
    /// The text is what goes to standard error, too.
    pub(super) with_errors: bool,
}

/// Words of recordings of counts. perf 7.2 reads no file of them, so that the text of perf 6.1 stands for it.
const OF_COUNTS: &str = "perf stat record ";
/// A word of the shell.
const WITH_ERRORS: &str = "2>&1";

impl Case {
    /// Reads `COMMANDS` of `folder`.
    fn read(version: &str, folder: PathBuf) -> Result<Case> {
        let commands = folder.join("COMMANDS");
        let text =
            std::fs::read_to_string(&commands).with_context(|| commands.display().to_string())?;
        let recording = text
            .lines()
            .find_map(|line| line.strip_prefix("record: "))
            .unwrap_or_default()
            .to_owned();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{version}/{name}");
        Ok(Case {
            name,
            recording,
            goldens: text.lines().filter_map(golden).collect(),
            folder,
        })
    }

    /// The text of perf 7.2, which is what we match: in `perf7/` when 6.1 made the recording.
    pub(super) fn expected(&self, golden: &Golden) -> Option<PathBuf> {
        let folder = if self.name.starts_with("7.") {
            self.folder.clone()
        } else {
            self.folder.join("perf7")
        };
        let of_61 = self.recording.contains(OF_COUNTS).then_some(&self.folder);
        let mut texts = [Some(&folder), of_61].into_iter().flatten();
        texts.find_map(|folder| Some(folder.join(&golden.file)).filter(|path| path.is_file()))
    }
}

/// All cases below `recorded`, in order of their names.
pub(super) fn all(recorded: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for version in ["6.1.187", "7.2.13"] {
        for entry in std::fs::read_dir(recorded.join(version))? {
            let path = entry?.path();
            // A file beside the cases is none of them.
            if path.is_dir() {
                cases.push(Case::read(version, path)?);
            }
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}

/// `FILE: perf WORDS   # exit 255`; words of these commands hold no blanks.
fn golden(line: &str) -> Option<Golden> {
    let (file, command) = line.split_once(": perf ")?;
    let known = file.ends_with(".txt") || file.ends_with(".txt.zst");
    let command = command.split("   #").next().unwrap_or(command);
    let words = command.split_whitespace();
    let args = words.clone().filter(|word| *word != WITH_ERRORS);
    known.then(|| Golden {
        file: file.to_owned(),
        args: args.map(str::to_owned).collect(),
        with_errors: words.clone().any(|word| word == WITH_ERRORS),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_the_file_and_the_words() {
        let found = golden("script.txt.zst: perf script -i perf.data   # exit 255").unwrap();
        assert_eq!(
            (found.file.as_str(), found.args.join(" ").as_str()),
            ("script.txt.zst", "script -i perf.data")
        );
        let both = golden("stat-report.txt: perf stat report -i perf.data 2>&1").unwrap();
        assert!(both.with_errors && both.args.last().is_some_and(|word| word == "perf.data"));
        assert!(golden("record: perf record -o perf.data -- ./x").is_none());
        assert!(golden("  # stderr: Error:").is_none());
    }
}
