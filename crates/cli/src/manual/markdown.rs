//! The Markdown that `docs/commands.md` is written in: paragraphs, code, tables and headings, as values.

/// A piece of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// Running text.
    Paragraph(Vec<Span>),
    /// An item of a list.
    Item(Vec<Span>),
    /// Lines as they are written.
    Code(Vec<String>),
    /// The rows of a table, the head first; a row has a text for each column.
    Table(Vec<Vec<Vec<Span>>>),
}

/// A piece of running text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    /// Words.
    Text(String),
    /// What is typed, printed, or a name.
    Literal(String),
}

/// Reads the blocks of a text.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let (mut blocks, mut lines) = (Vec::new(), text.lines().peekable());
    while let Some(line) = lines.next() {
        let mut more = |accepts: fn(&str) -> bool| -> Vec<&str> {
            std::iter::from_fn(|| lines.next_if(|line| accepts(line))).collect()
        };
        if line.starts_with("```") {
            let code = more(|line| !line.starts_with("```"));
            lines.next();
            blocks.push(Block::Code(code.into_iter().map(str::to_owned).collect()));
        } else if line.starts_with('|') {
            let rows = std::iter::once(line).chain(more(|line| line.starts_with('|')));
            blocks.push(Block::Table(rows.filter_map(row).collect()));
        } else if line.starts_with('#') {
            blocks.push(Block::Heading(
                line.trim_start_matches('#').trim().to_owned(),
            ));
        } else if !line.trim().is_empty() && !line.starts_with("<!--") {
            let text = [vec![line], more(continues)].concat().join(" ");
            blocks.push(match text.strip_prefix("- ") {
                Some(item) => Block::Item(spans(item)),
                None => Block::Paragraph(spans(&text)),
            });
        }
    }
    blocks
}

/// True for a line that goes on with the paragraph before it.
fn continues(line: &str) -> bool {
    let begins = ["```", "|", "#", "<!--", "- "];
    !line.trim().is_empty() && !begins.iter().any(|mark| line.starts_with(mark))
}

/// Reads a row of a table; the line between head and body is none.
fn row(line: &str) -> Option<Vec<Vec<Span>>> {
    if line.trim_matches(['|', '-', ' ', ':']).is_empty() {
        return None;
    }
    let inner = line.trim().trim_matches('|').replace("\\|", "\u{0}");
    let cells = inner.split('|');
    let cells = cells.map(|cell| spans(cell.trim().replace('\u{0}', "|").as_str()));
    Some(cells.collect())
}

/// Reads running text: code between back quotes, the words of links, emphasis as plain words.
fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for (number, piece) in text.split('`').enumerate() {
        if piece.is_empty() {
            continue;
        }
        spans.push(match number % 2 {
            0 => Span::Text(without_links(piece).replace("**", "")),
            _ => Span::Literal(piece.to_owned()),
        });
    }
    spans
}

/// Leaves the words of links.
fn without_links(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('[') {
        let link = after
            .split_once("](")
            .and_then(|(words, behind)| Some((words, behind.split_once(')')?.1)));
        plain.push_str(before);
        let (words, behind) = link.unwrap_or(("[", after));
        plain.push_str(words);
        rest = behind;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Span {
        Span::Text(text.to_owned())
    }

    fn literal(text: &str) -> Span {
        Span::Literal(text.to_owned())
    }

    #[test]
    fn a_text_becomes_blocks() {
        let blocks = blocks(
            "Reads `-i` and\n[a page](page.md).\n\n```\noxperf report   # now\n```\n- one\n### Notes\n<!-- mark -->\n",
        );
        let expected = [
            Block::Paragraph(vec![text("Reads "), literal("-i"), text(" and a page.")]),
            Block::Code(vec!["oxperf report   # now".to_owned()]),
            Block::Item(vec![text("one")]),
            Block::Heading("Notes".to_owned()),
        ];
        assert_eq!(blocks, expected);
    }

    #[test]
    fn a_table_has_rows_without_the_line_below_its_head() {
        let rows = blocks("| option | meaning |\n|---|---|\n| `a\\|b` | **one** [x] |\n");
        let expected = Block::Table(vec![
            vec![vec![text("option")], vec![text("meaning")]],
            vec![vec![literal("a|b")], vec![text("one [x]")]],
        ]);
        assert_eq!(rows, [expected]);
    }
}
