//! The list of event texts.

use std::path::Path;

use anyhow::{Context, Result, bail};

/// A row of the list.
pub(crate) struct EventText {
    /// The text for `-e`.
    pub(crate) text: String,
    /// The accepted difference, where perf7 takes the text otherwise.
    pub(crate) difference: Option<String>,
}

/// Reads rows of topic, text and difference; blanks in a text count.
pub(crate) fn read(path: &Path) -> Result<Vec<EventText>> {
    let list = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let rows = list.lines().filter(|line| !line.starts_with("# "));
    rows.map(row).collect()
}

fn row(line: &str) -> Result<EventText> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [_, text, difference] = fields[..] else {
        bail!("{line:?} is no row of topic, text and difference");
    };
    Ok(EventText {
        text: text.to_owned(),
        difference: (!difference.is_empty()).then(|| difference.to_owned()),
    })
}
