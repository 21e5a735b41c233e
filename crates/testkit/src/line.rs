//! One line of notation as words; every word must be asked for.

use crate::error::Read;
use crate::number;

/// The words after the first. What is taken is gone; what is left at the end is an error.
pub(crate) struct Line {
    fields: Vec<(String, String)>,
    words: Vec<String>,
}

impl Line {
    /// Splits `text`; the first word comes back beside the rest, `None` for an empty line or a comment.
    pub(crate) fn parse(text: &str) -> Read<Option<(String, Line)>> {
        let mut words = split(text)?.into_iter();
        Ok(match words.next() {
            Some(first) if !first.starts_with('#') => Some((first, Line::from_words(words))),
            _ => None,
        })
    }

    fn from_words(words: impl Iterator<Item = String>) -> Line {
        let mut line = Line {
            fields: Vec::new(),
            words: Vec::new(),
        };
        for word in words {
            match word.split_once('=').filter(|(key, _)| is_key(key)) {
                Some((key, value)) => line.fields.push((key.to_owned(), value.to_owned())),
                None => line.words.push(word),
            }
        }
        line
    }

    /// The value of `key`, once.
    pub(crate) fn take(&mut self, key: &str) -> Option<String> {
        let at = self.fields.iter().position(|(name, _)| name == key)?;
        Some(self.fields.remove(at).1)
    }

    /// The number of `key`.
    pub(crate) fn number<T: TryFrom<i128>>(&mut self, key: &str) -> Read<Option<T>> {
        let value = self.take(key);
        value
            .map(|text| number::number(&text).map_err(|reason| format!("{key}: {reason}")))
            .transpose()
    }

    /// The number of `key`, or 0.
    pub(crate) fn number_or_zero<T: TryFrom<i128> + Default>(&mut self, key: &str) -> Read<T> {
        Ok(self.number(key)?.unwrap_or_default())
    }

    /// The next word that is no field.
    pub(crate) fn word(&mut self, what: &str) -> Read<String> {
        if self.words.is_empty() {
            Err(format!("{what} is missing"))
        } else {
            Ok(self.words.remove(0))
        }
    }

    /// All fields in order, for lines where the order counts.
    pub(crate) fn drain_fields(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.fields)
    }

    /// Fails when something was not understood.
    pub(crate) fn finish(self) -> Read<()> {
        let unknown = self
            .fields
            .into_iter()
            .map(|(key, _)| format!("{key}="))
            .chain(self.words)
            .next();
        unknown.map_or(Ok(()), |word| Err(format!("{word} has no place here")))
    }
}

fn is_key(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Words at blanks; a quotation mark opens or closes a stretch where blanks count.
fn split(text: &str) -> Read<Vec<String>> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.trim().chars() {
        match c {
            '"' => quoted = !quoted,
            c if c.is_whitespace() && !quoted => words.push(String::new()),
            c => words.last_mut().into_iter().for_each(|word| word.push(c)),
        }
    }
    words.retain(|word| !word.is_empty());
    if quoted {
        Err("a quotation mark is left open".to_owned())
    } else {
        Ok(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_words_and_quotes() {
        let (first, mut line) = Line::parse("  mmap pid=7 \"/a b=c\"").unwrap().unwrap();
        assert_eq!(
            (first.as_str(), line.number::<i32>("pid")),
            ("mmap", Ok(Some(7)))
        );
        assert_eq!(line.word("name").as_deref(), Ok("/a b=c"));
        assert_eq!(line.finish(), Ok(()));
    }

    #[test]
    fn what_is_not_taken_is_refused() {
        let (_, line) = Line::parse("comm pdi=7 x").unwrap().unwrap();
        assert_eq!(line.finish(), Err("pdi= has no place here".to_owned()));
    }

    #[test]
    fn comments_and_empty_lines_are_nothing() {
        assert!(Line::parse("# comm").unwrap().is_none());
        assert!(Line::parse("   ").unwrap().is_none());
    }
}
