//! A page of the manual in the language of `man`.

use std::fmt::Write as _;

use super::markdown::{Block, Span};
use super::options::ListedOption;
use super::page::Page;
use super::surroundings::Row;

/// The edition of a page, for its head and foot.
pub(crate) struct Edition<'a> {
    /// The program's version.
    pub(crate) version: &'a str,
    /// The day, as `2026-11-23`.
    pub(crate) date: &'a str,
}

/// Writes a page.
pub(crate) fn write(page: &Page, edition: &Edition<'_>) -> String {
    let mut roff = Roff::default();
    let (name, program) = (page.name(), &page.words[0]);
    roff.line(&format!(
        ".TH {} 1 {} {} {}",
        quoted(&name.to_uppercase()),
        // A day is no option: its dashes stay as they are.
        quoted(edition.date).replace("\\-", "-"),
        quoted(&format!("{program} {}", edition.version)),
        quoted(&format!("{program} manual")),
    ));
    // Columns of a terminal are narrow and names are long: no word is broken, no line is filled up.
    roff.line(".nh");
    roff.line(".ad l");
    roff.section("NAME");
    roff.line(&format!("{} \\- {}", literal(&name), prose(summary(page))));
    roff.synopsis(page);
    roff.description(page);
    roff.rows("COMMANDS", &page.commands);
    roff.rows("ARGUMENTS", &page.arguments);
    roff.options(page);
    if !page.examples.is_empty() {
        roff.section("EXAMPLES");
        roff.indented(&page.examples);
    }
    if !page.notes.is_empty() {
        roff.section("NOTES");
        roff.blocks(&page.notes);
    }
    roff.table("EXIT STATUS", &page.exit_codes);
    roff.table("FILES", &page.files);
    roff.table("ENVIRONMENT", &page.variables);
    roff.related(&page.related);
    roff.text
}

#[derive(Default)]
struct Roff {
    text: String,
}

impl Roff {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn section(&mut self, title: &str) {
        self.line(&format!(".SH {}", quoted(title)));
    }

    fn synopsis(&mut self, page: &Page) {
        if page.synopsis.is_empty() {
            return;
        }
        self.section("SYNOPSIS");
        for (number, form) in page.synopsis.iter().enumerate() {
            if number > 0 {
                self.line(".br");
            }
            self.line(&literal(form));
        }
    }

    fn description(&mut self, page: &Page) {
        self.section("DESCRIPTION");
        if page.description.is_empty() {
            self.line(&format!("{}.", prose(summary(page))));
        }
        self.blocks(&page.description);
    }

    fn options(&mut self, page: &Page) {
        if page.groups.is_empty() {
            return;
        }
        self.section("OPTIONS");
        let is_only = page.groups.len() == 1;
        for group in &page.groups {
            if !is_only {
                let title = group.title.as_deref().unwrap_or("Other options");
                self.line(&format!(".SS {}", quoted(title)));
            }
            for option in &group.options {
                self.line(".TP");
                self.line(&forms(option));
                self.line(&prose(&meaning(option)));
            }
        }
    }

    /// A section of names with their meanings.
    fn rows(&mut self, title: &str, rows: &[(String, String)]) {
        if rows.is_empty() {
            return;
        }
        self.section(title);
        for (name, meaning) in rows {
            self.tagged(&literal(name), &prose(meaning));
        }
    }

    /// A section of names with their meanings, from a table of the program.
    fn table(&mut self, title: &str, rows: &[Row]) {
        let rows = rows.iter();
        let rows: Vec<_> = rows
            .map(|&(name, meaning)| (name.to_owned(), meaning.to_owned()))
            .collect();
        self.rows(title, &rows);
    }

    fn tagged(&mut self, tag: &str, meaning: &str) {
        self.line(".TP");
        self.line(tag);
        self.line(meaning);
    }

    fn related(&mut self, names: &[String]) {
        if names.is_empty() {
            return;
        }
        self.section("SEE ALSO");
        let last = names.len() - 1;
        for (number, name) in names.iter().enumerate() {
            let comma = if number == last { "" } else { "," };
            self.line(&format!(".BR {} (1){comma}", escaped(name)));
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for (number, block) in blocks.iter().enumerate() {
            self.block(block, number == 0);
        }
    }

    fn block(&mut self, block: &Block, is_first: bool) {
        match block {
            Block::Heading(title) => self.line(&format!(".SS {}", quoted(title))),
            Block::Paragraph(spans) => {
                if !is_first {
                    self.line(".PP");
                }
                self.line(&running(spans));
            }
            Block::Item(spans) => {
                self.line(".IP \\(bu 2");
                self.line(&running(spans));
            }
            Block::Code(lines) => self.code(lines),
            Block::Table(rows) => self.columns(rows),
        }
    }

    fn code(&mut self, lines: &[String]) {
        self.line(".PP");
        self.indented(lines);
    }

    fn indented(&mut self, lines: &[String]) {
        self.line(".RS 4");
        self.line(".nf");
        for line in lines {
            self.line(&at_line_start(&escaped(line)));
        }
        self.line(".fi");
        self.line(".RE");
    }

    /// A table: the first column as tags, the others below with the names of their columns where there are several.
    fn columns(&mut self, rows: &[Vec<Vec<Span>>]) {
        let Some((head, body)) = rows.split_first() else {
            return;
        };
        for row in body {
            let Some((tag, cells)) = row.split_first() else {
                continue;
            };
            let texts = cells.iter().enumerate().map(|(number, cell)| {
                match (cells.len(), head.get(number + 1)) {
                    (1, _) | (_, None) => joined(cell),
                    (_, Some(name)) => format!("{}: {}", joined(name), joined(cell)),
                }
            });
            let meaning = texts.collect::<Vec<_>>().join("; ");
            self.tagged(&at_line_start(&joined(tag)), &at_line_start(&meaning));
        }
    }
}

/// The line about the page, without the stop at its end.
fn summary(page: &Page) -> &str {
    page.summary.trim_end_matches('.')
}

/// The forms of an option: `-e, --event=EVENT`.
fn forms(option: &ListedOption) -> String {
    let short = option.short.map(|letter| bold(&format!("-{letter}")));
    let longs = option.longs.iter().map(|name| bold(&format!("--{name}")));
    let mut forms = short
        .into_iter()
        .chain(longs)
        .collect::<Vec<_>>()
        .join(", ");
    if let Some(value) = &option.value {
        let join = if option.longs.is_empty() { " " } else { "=" };
        // Long names of values may be broken behind their commas.
        let name = format!("\\fI{}\\fR", escaped(&value.name).replace(',', ",\\:"));
        forms += &match value.optional {
            true => format!("[{join}{name}]"),
            false => format!("{join}{name}"),
        };
    }
    forms
}

/// The description of an option, its default and its choices with it.
fn meaning(option: &ListedOption) -> String {
    let mut sentences = vec![option.help.clone()];
    if let Some(default) = &option.default {
        sentences.push(format!("[default: {default}]"));
    }
    if !option.choices.is_empty() {
        sentences.push(format!("[{}]", option.choices.join(", ")));
    }
    sentences.retain(|sentence| !sentence.is_empty());
    match sentences.is_empty() {
        true => "No description.".to_owned(),
        false => sentences.join(" "),
    }
}

/// Running text as one line.
fn running(spans: &[Span]) -> String {
    at_line_start(&joined(spans))
}

fn joined(spans: &[Span]) -> String {
    let pieces = spans.iter().map(|span| match span {
        Span::Text(text) => words(text),
        Span::Literal(text) => bold(text),
    });
    pieces.collect()
}

/// Running text of a definition.
fn prose(text: &str) -> String {
    at_line_start(&words(text))
}

/// Words with the dashes of options as they are typed; those within words stay hyphens.
fn words(text: &str) -> String {
    // Lists of names without blanks may be broken behind a comma.
    let word = |word: &str| match word.trim_start_matches(['(', '[', '\'']).starts_with('-') {
        true => escaped(word),
        false => escaped(word).replace("\\-", "-").replace(',', ",\\:"),
    };
    text.replace('\n', " ")
        .split(' ')
        .map(word)
        .collect::<Vec<_>>()
        .join(" ")
}

fn bold(text: &str) -> String {
    format!("\\fB{}\\fR", escaped(text))
}

/// What is typed, at the beginning of a line.
fn literal(text: &str) -> String {
    at_line_start(&escaped(text))
}

/// A dot or a quote that begins a line would be a request.
fn at_line_start(text: &str) -> String {
    match text.starts_with(['.', '\'']) {
        true => format!("\\&{text}"),
        false => text.to_owned(),
    }
}

/// An argument of a request.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text).replace('"', "\\(dq"))
}

/// Characters as they are, none of which means anything to `man`.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' => escaped.push_str("\\e"),
            '-' => escaped.push_str("\\-"),
            '\'' => escaped.push_str("\\(aq"),
            '`' => escaped.push_str("\\(ga"),
            '^' => escaped.push_str("\\(ha"),
            '~' => escaped.push_str("\\(ti"),
            letter if letter.is_ascii() => escaped.push(letter),
            letter => {
                let _ = write!(escaped, "\\[u{:04X}]", u32::from(letter));
            }
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::options::OptionValue;

    #[test]
    fn nothing_in_a_text_is_a_request() {
        assert_eq!(prose(".TH it's a\\b"), "\\&.TH it\\(aqs a\\eb");
        assert_eq!(
            prose("a well-kept --no-inline"),
            "a well-kept \\-\\-no\\-inline"
        );
        assert_eq!(quoted("~ \"x\""), "\"\\(ti \\(dqx\\(dq\"");
        assert_eq!(escaped("\u{2013}"), "\\[u2013]");
    }

    #[test]
    fn an_option_has_its_forms_and_its_value() {
        let option = |short, long: Option<&str>, optional| ListedOption {
            short,
            longs: long.map(str::to_owned).into_iter().collect(),
            value: Some(OptionValue {
                name: "N".to_owned(),
                optional,
            }),
            help: "Levels".to_owned(),
            choices: vec!["1".to_owned(), "2".to_owned()],
            default: Some("1".to_owned()),
        };
        let both = option(Some('z'), Some("compression-level"), true);
        assert_eq!(
            forms(&both),
            "\\fB\\-z\\fR, \\fB\\-\\-compression\\-level\\fR[=\\fIN\\fR]"
        );
        assert_eq!(
            forms(&option(Some('F'), None, false)),
            "\\fB\\-F\\fR \\fIN\\fR"
        );
        assert_eq!(meaning(&both), "Levels [default: 1] [1, 2]");
    }
}
