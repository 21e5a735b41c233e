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
}

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
        Some(folder.join(&golden.file)).filter(|path| path.is_file())
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
    let args = command.split_whitespace().map(str::to_owned).collect();
    known.then(|| Golden {
        file: file.to_owned(),
        args,
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
        assert!(golden("record: perf record -o perf.data -- ./x").is_none());
        assert!(golden("  # stderr: Error:").is_none());
    }
}
