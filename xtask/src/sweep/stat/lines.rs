//! The command lines that are compared: `xtask/stat-lines.txt`.
//!
//! ```text
//! # a comment
//! counts NAME RULE                what the counters say in the lines that name it, a rule of fakemachine a line
//! machine NAME BASE LINE          a machine that is like another one, with a line more
//! MACHINE NAME WORDS              the words behind `stat`; `-` for the machine's own counts, `*` for every machine
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The machines that `*` stands for.
const MACHINES: [&str; 7] = [
    "amd-zen4",
    "arm-neoverse-n1",
    "intel-alderlake",
    "intel-icelake",
    "intel-sapphirerapids",
    "intel-skylake",
    "power8",
];

/// One command line on one machine.
pub(super) struct StatLine {
    /// The machine's name.
    pub(super) machine: String,
    /// The machine of `fakemachine` that it is.
    pub(super) base: String,
    /// The lines that it has more.
    added: String,
    /// What its counters say beside the machine's own rules.
    pub(super) counts: String,
    /// The words behind `stat`, for a shell.
    pub(super) words: String,
}

impl StatLine {
    /// The machine as `fakemachine` takes it: its name, or a file that is written to `scratch`.
    pub(super) fn machine_argument(&self, shared: &Path, scratch: &Path) -> Result<OsString> {
        if self.added.is_empty() {
            return Ok(self.base.clone().into());
        }
        let base = shared.join("tools/fakemachine/machines").join(&self.base);
        let text = std::fs::read_to_string(&base).with_context(|| base.display().to_string())?;
        let file = scratch.join("machine");
        std::fs::write(&file, text + &self.added)?;
        Ok(file.into())
    }
}

/// A machine that is like another one.
struct Variant {
    base: String,
    added: String,
}

/// Reads all lines.
pub(super) fn read(path: &Path) -> Result<Vec<StatLine>> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text)
}

fn parse(text: &str) -> Result<Vec<StatLine>> {
    let mut counts: BTreeMap<&str, String> = BTreeMap::new();
    let mut variants: BTreeMap<&str, Variant> = BTreeMap::new();
    let mut lines = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let mut columns = line.splitn(3, ' ');
        let (Some(first), Some(name), Some(rest)) =
            (columns.next(), columns.next(), columns.next())
        else {
            anyhow::bail!("no line of three columns: {line:?}");
        };
        if first == "counts" {
            let rules = counts.entry(name).or_default();
            rules.push_str(rest);
            rules.push('\n');
            continue;
        }
        if first == "machine" {
            let (base, added) = rest.split_once(' ').context("a machine without a line")?;
            let variant = variants.entry(name).or_insert_with(|| Variant {
                base: base.to_owned(),
                added: String::new(),
            });
            variant.added += &format!("{added}\n");
            continue;
        }
        ensure!(
            name == "-" || counts.contains_key(name),
            "no counts {name:?}"
        );
        let machines = if first == "*" {
            &MACHINES[..]
        } else {
            &[first]
        };
        let variant = |machine: &str| variants.get(machine);
        lines.extend(machines.iter().map(|machine| {
            StatLine {
                machine: (*machine).to_owned(),
                base: variant(machine)
                    .map_or(*machine, |own| &own.base)
                    .to_owned(),
                added: variant(machine).map_or_else(String::new, |own| own.added.clone()),
                counts: counts.get(name).cloned().unwrap_or_default(),
                words: rest.to_owned(),
            }
        }));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_every_machine() {
        let text = "# x\ncounts half cpu cycles 1\ncounts half cpu branches 2\n* half -e cycles\npower8 - -n /bin/true\n";
        let lines = parse(text).unwrap();
        assert_eq!(lines.len(), MACHINES.len() + 1);
        assert_eq!(lines[0].counts, "cpu cycles 1\ncpu branches 2\n");
        let last = lines.last().unwrap();
        assert_eq!((&*last.words, &*last.counts), ("-n /bin/true", ""));
        assert!(parse("power8 none -n /bin/true").is_err());
        let text = "machine more power8 a 1\nmachine more power8 b 2\nmore - -n /bin/true\n";
        let lines = parse(text).unwrap();
        assert_eq!(
            (&*lines[0].base, &*lines[0].added),
            ("power8", "a 1\nb 2\n")
        );
    }
}
