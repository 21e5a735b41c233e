//! `docs/commands.md`, section by section: what is said of a command beside its options.

use super::markdown::{Block, blocks};

const TEXT: &str = include_str!("../../../../docs/commands.md");

/// Texts about a command.
#[derive(Default)]
pub(super) struct Section {
    /// Command lines to begin with.
    pub(super) examples: Vec<String>,
    /// What the command does.
    pub(super) description: Vec<Block>,
    /// Details, which come behind the options.
    pub(super) notes: Vec<Block>,
}

/// The section of this title, empty if there is none; the tables of options are left out.
pub(super) fn section(title: &str) -> Section {
    let Some(text) = between(&format!("\n## {title}\n"), "\n## ") else {
        return Section::default();
    };
    let (before, notes) = text.split_once("\n### ").unwrap_or((text, ""));
    let mut description = blocks(&without_options(before));
    let examples = match description.first() {
        Some(Block::Code(lines)) => lines.clone(),
        _ => Vec::new(),
    };
    if !examples.is_empty() {
        description.remove(0);
    }
    // The heading of the notes is the page's own.
    let notes = notes.split_once('\n').map_or("", |(_, notes)| notes);
    Section {
        examples,
        description,
        notes: blocks(notes),
    }
}

/// The text behind `head`, up to `end` or the end of all.
fn between(head: &str, end: &str) -> Option<&'static str> {
    let (_, behind) = TEXT.split_once(head)?;
    Some(behind.split_once(end).map_or(behind, |(text, _)| text))
}

/// Leaves out what stands between the marks of a table of options.
fn without_options(text: &str) -> String {
    let Some((before, after)) = text.split_once("<!-- options: ") else {
        return text.to_owned();
    };
    let after = after.split_once("<!-- end of options -->");
    format!("{before}{}", after.map_or("", |(_, after)| after))
}
