//! The text of a configuration file: sections in brackets, a `name = value` a line, comments behind `#` or `;`, quotes,
//! escapes, lines that go on behind a backslash.

/// A name with its value, as a file has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Assignment {
    /// Section and name with a dot between, in lower case but for the quoted part of a section.
    pub(crate) key: String,
    /// The value without quotes and escapes.
    pub(crate) value: String,
    /// The line that it begins in, from 1.
    pub(crate) line: usize,
    /// The bytes of the file from the name to the end of the value, without the comment behind it.
    pub(crate) span: std::ops::Range<usize>,
}

/// A section's head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Section {
    /// Its name, with a dot before a quoted part.
    pub(crate) name: String,
    /// The place of the line behind its head, or behind its last value.
    pub(crate) end: usize,
}

/// The contents of a file.
#[derive(Default, Debug)]
pub(crate) struct Parsed {
    /// The values before the first mistake.
    pub(crate) assignments: Vec<Assignment>,
    /// The sections before the first mistake.
    pub(crate) sections: Vec<Section>,
    /// The line of the first mistake, from 1.
    pub(crate) bad_line: Option<usize>,
}

/// The longest name or value, in bytes.
const MOST_BYTES: usize = 1023;

/// Reads the text of a file.
pub(crate) fn parse(text: &[u8]) -> Parsed {
    let start = match text.starts_with("\u{feff}".as_bytes()) {
        true => 3,
        false => 0,
    };
    let mut parser = Parser {
        text,
        at: start,
        line: 1,
        value_end: 0,
    };
    let mut parsed = Parsed::default();
    if parser.file(&mut parsed).is_none() {
        parsed.bad_line = Some(parser.line);
    }
    parsed
}

/// Reads bytes; each step gives `None` where the text is no configuration.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    line: usize,
    /// The place behind the last value, before a comment or the end of its line.
    value_end: usize,
}

impl Parser<'_> {
    /// The next byte, `\r\n` as `\n`; at the end of the text always a line end.
    fn next(&mut self) -> u8 {
        let byte = match (self.text.get(self.at), self.text.get(self.at + 1)) {
            (Some(b'\r'), Some(b'\n')) => {
                self.at += 1;
                b'\n'
            }
            (Some(&byte), _) => byte,
            (None, _) => b'\n',
        };
        self.at = (self.at + 1).min(self.text.len() + 1);
        byte
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn file(&mut self, parsed: &mut Parsed) -> Option<()> {
        let mut section: Option<String> = None;
        while !self.is_at_end() {
            let start = self.at;
            match self.next() {
                b'\n' => self.line += 1,
                b'#' | b';' => self.skip_line(),
                byte if byte.is_ascii_whitespace() => {}
                b'[' => {
                    let name = self.section()?;
                    parsed.sections.push(Section {
                        name: name.clone(),
                        end: self.end_of_line(),
                    });
                    section = Some(name);
                }
                byte if byte.is_ascii_alphabetic() => {
                    let line = self.line;
                    let (name, value) = self.assignment(byte)?;
                    let written = self.text.get(start..self.value_end).unwrap_or_default();
                    let end = start + written.trim_ascii_end().len();
                    let section = section.as_deref().unwrap_or_default();
                    if let Some(own) = parsed.sections.last_mut() {
                        own.end = self.at.min(self.text.len());
                    }
                    parsed.assignments.push(Assignment {
                        key: format!("{section}.{name}"),
                        value,
                        line,
                        span: start..end,
                    });
                    self.line += 1;
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn skip_line(&mut self) {
        while self.next() != b'\n' {}
        self.line += 1;
    }

    /// The place behind the line that is being read.
    fn end_of_line(&self) -> usize {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'\n');
        self.at + length.map_or(rest.len(), |length| length + 1)
    }

    /// The name of a section, behind its bracket.
    fn section(&mut self) -> Option<String> {
        let mut name = Vec::new();
        loop {
            match self.next() {
                b']' => return text(name),
                byte if is_name_byte(byte) || byte == b'.' => name.push(byte.to_ascii_lowercase()),
                b' ' | b'\t' => return self.quoted_part(name),
                _ => return None,
            }
            checked(&name)?;
        }
    }

    /// The second part of a section's name, in quotes.
    fn quoted_part(&mut self, mut name: Vec<u8>) -> Option<String> {
        name.push(b'.');
        let mut byte = self.next();
        while matches!(byte, b' ' | b'\t') {
            byte = self.next();
        }
        if byte != b'"' {
            return None;
        }
        loop {
            match self.next() {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next() {
                    b'\n' => return None,
                    byte => name.push(byte),
                },
                byte => name.push(byte),
            }
            checked(&name)?;
        }
        (self.next() == b']').then_some(())?;
        text(name)
    }

    /// A name that begins with this letter, and its value.
    fn assignment(&mut self, first: u8) -> Option<(String, String)> {
        let mut name = vec![first.to_ascii_lowercase()];
        let mut byte = self.next();
        while is_name_byte(byte) && !self.is_behind_end() {
            name.push(byte.to_ascii_lowercase());
            checked(&name)?;
            byte = self.next();
        }
        while matches!(byte, b' ' | b'\t') {
            byte = self.next();
        }
        (byte == b'=').then_some(())?;
        Some((text(name)?, self.value()?))
    }

    fn is_behind_end(&self) -> bool {
        self.at > self.text.len()
    }

    /// A value, up to the end of its last line. Blanks within it count as one each.
    fn value(&mut self) -> Option<String> {
        let (mut value, mut quoted, mut comment, mut blank) = (Vec::new(), false, false, false);
        loop {
            checked(&value)?;
            let byte = self.next();
            if !comment {
                self.value_end = (self.at - 1).min(self.text.len());
            }
            if byte == b'\n' {
                return if quoted { None } else { text(value) };
            }
            if comment {
                continue;
            }
            if !quoted {
                if byte.is_ascii_whitespace() {
                    blank = true;
                    continue;
                }
                if matches!(byte, b'#' | b';') {
                    comment = true;
                    continue;
                }
            }
            if std::mem::take(&mut blank) && !value.is_empty() {
                value.push(b' ');
            }
            match byte {
                b'"' => quoted = !quoted,
                b'\\' => match self.next() {
                    b'\n' => self.line += 1,
                    b't' => value.push(b'\t'),
                    b'b' => value.push(8),
                    b'n' => value.push(b'\n'),
                    byte @ (b'\\' | b'"') => value.push(byte),
                    _ => return None,
                },
                byte => value.push(byte),
            }
        }
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

fn checked(text: &[u8]) -> Option<()> {
    (text.len() <= MOST_BYTES).then_some(())
}

fn text(bytes: Vec<u8>) -> Option<String> {
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a text, and the line of its mistake.
    fn read(text: &str) -> (Vec<(String, String)>, Option<usize>) {
        let parsed = parse(text.as_bytes());
        let pairs = parsed
            .assignments
            .into_iter()
            .map(|one| (one.key, one.value));
        (pairs.collect(), parsed.bad_line)
    }

    fn value(text: &str) -> Option<String> {
        let (pairs, bad) = read(&format!("[a]\nk = {text}"));
        pairs
            .first()
            .map(|(_, value)| value.clone())
            .filter(|_| bad.is_none())
    }

    #[test]
    fn values_lose_quotes_comments_and_spare_blanks() {
        let values = [
            ("v", "v"),
            ("", ""),
            ("V a  l # x", "V a l"),
            ("\"a # b\" c # d", "a # b c"),
            ("a;b", "a"),
            ("a \\\n   b", "a  b"),
            (r#"a\nb\tc\"d\\e"#, "a\nb\tc\"d\\e"),
            ("v\r\n", "v"),
        ];
        for (written, meant) in values {
            assert_eq!(value(written).as_deref(), Some(meant), "{written:?}");
        }
    }

    #[test]
    fn sections_have_names_of_two_parts() {
        for (head, key) in [
            ("[A]", "a.k"),
            ("[a.b]", "a.b.k"),
            ("[a \"S u\\\"b\"]", "a.S u\"b.k"),
        ] {
            let (pairs, bad) = read(&format!("\u{feff}{head} K = v\n"));
            assert_eq!(pairs, [(key.to_owned(), "v".to_owned())]);
            assert_eq!(bad, None);
        }
    }

    #[test]
    fn a_mistake_ends_the_file_at_its_line() {
        let mistakes = [
            ("[ a ]\nk = v", 1),
            ("[a\nk = v", 1),
            ("[a]\n= 1", 2),
            ("[a]\nk\n", 2),
            ("[a]\nk", 2),
            ("[a]\n1k = v", 2),
            ("[a]\nk.x = v", 2),
            ("[a]\nk v", 2),
            ("[a]\nk = \"abc\n", 2),
            ("[a]\nk = a\\xb\n", 2),
            ("[a]\n\n# c\nj = 1\nk\nl = 2\n", 5),
        ];
        for (text, line) in mistakes {
            assert_eq!(read(text).1, Some(line), "{text:?}");
        }
        let (pairs, _) = read("[a]\nj = 1\nk\nl = 2\n");
        assert_eq!(pairs, [("a.j".to_owned(), "1".to_owned())]);
        assert_eq!(read(&format!("[a]\nk = {}\n", "x".repeat(2000))).1, Some(2));
    }

    #[test]
    fn spans_and_ends_are_places_in_the_text() {
        let text = "[a]\n\tk = v # c\r\n\n[b] x = \\\n 1\n[c]\n";
        let parsed = parse(text.as_bytes());
        let spans: Vec<_> = parsed
            .assignments
            .iter()
            .map(|one| &text[one.span.clone()])
            .collect();
        assert_eq!(spans, ["k = v", "x = \\\n 1"]);
        let ends: Vec<_> = parsed.sections.iter().map(|one| &text[one.end..]).collect();
        assert_eq!(ends, ["\n[b] x = \\\n 1\n[c]\n", "[c]\n", ""]);
    }

    #[test]
    fn no_text_makes_it_panic() {
        let all: Vec<u8> = (0..=255).collect();
        for start in 0..all.len() {
            parse(&all[start..]);
            parse(&[b"[a]\nk=".as_slice(), &all[start..]].concat());
            parse(&[b"[a \"".as_slice(), &all[start..]].concat());
        }
    }
}
