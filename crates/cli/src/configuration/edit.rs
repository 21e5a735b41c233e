//! Values written into a configuration file: all else in it stays as it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{section_of, syntax};

/// A file's text with a value set: where the key stands last, else at the end of its section, else in a new one.
///
/// # Errors
/// The line of the mistake, where the text is no configuration.
pub(crate) fn with_value(text: &[u8], key: &str, value: &str) -> Result<Vec<u8>, usize> {
    let parsed = syntax::parse(text);
    if let Some(line) = parsed.bad_line {
        return Err(line);
    }
    let section = section_of(key);
    let name = key.get(section.len() + 1..).unwrap_or_default();
    let line = format!("{name} = {}", quoted(value));
    let mut edited = text.to_vec();
    let (place, inserted) = if let Some(old) = parsed.assignments.iter().rfind(|old| old.key == key)
    {
        (old.span.clone(), line)
    } else if let Some(own) = parsed.sections.iter().rfind(|own| own.name == section) {
        let start = if ends_line(&text[..own.end]) {
            ""
        } else {
            "\n"
        };
        (own.end..own.end, format!("{start}\t{line}\n"))
    } else {
        let start = if ends_line(text) { "" } else { "\n" };
        let end = text.len();
        (end..end, format!("{start}{}\n\t{line}\n", head(section)))
    };
    edited.splice(place, inserted.into_bytes());
    Ok(edited)
}

fn ends_line(text: &[u8]) -> bool {
    text.last().is_none_or(|last| *last == b'\n')
}

/// The head of a section; a part behind a dot that is not plain stands in quotes.
fn head(section: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    match section.split_once('.') {
        Some((first, rest)) if !section.bytes().all(plain) => {
            let rest = rest.replace('\\', "\\\\").replace('"', "\\\"");
            format!("[{first} \"{rest}\"]")
        }
        _ => format!("[{section}]"),
    }
}

/// A value as it has to be written to be read again.
fn quoted(value: &str) -> String {
    let mut written = String::new();
    for letter in value.chars() {
        match letter {
            '\\' | '"' => written.extend(['\\', letter]),
            '\n' => written.push_str("\\n"),
            '\t' => written.push_str("\\t"),
            '\u{8}' => written.push_str("\\b"),
            letter => written.push(letter),
        }
    }
    let is_plain = !value.contains(['#', ';']) && value.split(' ').all(|word| !word.is_empty());
    match is_plain {
        true => written,
        false => format!("\"{written}\""),
    }
}

/// Puts a text in the place of a file, all at once: a reader sees the old one or the new one.
///
/// # Errors
/// The kernel's answer.
pub(crate) fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    // A link stays one.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = path.with_file_name(name);
    let written = write_new(&beside, &path, text).and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes a new file with the rights of the one that it will replace.
fn write_new(beside: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    let options = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o644)
        .clone();
    let mut file = options.open(beside)?;
    if let Ok(old) = fs::metadata(path) {
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edited(text: &str, key: &str, value: &str) -> String {
        String::from_utf8(with_value(text.as_bytes(), key, value).unwrap()).unwrap()
    }

    #[test]
    fn all_else_stays() {
        let text = "# mine\n[a]\n  k = 1 # one\n\n[b] ; two\nl=2";
        assert_eq!(edited(text, "a.k", "3"), text.replace("k = 1", "k = 3"));
        assert_eq!(
            edited(text, "a.n", "3"),
            text.replace("# one\n", "# one\n\tn = 3\n")
        );
        assert_eq!(
            edited(text, "b.m", "x # y"),
            format!("{text}\n\tm = \"x # y\"\n")
        );
        assert_eq!(
            edited(text, "c.d.e", "3"),
            format!("{text}\n[c.d]\n\te = 3\n")
        );
        assert_eq!(edited("", "a.k", ""), "[a]\n\tk = \"\"\n");
        assert_eq!(with_value(b"[a]\nk\n", "a.k", "1"), Err(2));
    }

    #[test]
    fn what_is_written_is_read_again() {
        for value in ["a", " a", "a  b", "a;b", "\"q\"", "\\", "n\nt\t", "ü"] {
            for key in ["a.k", "a.b c.k", "x.\"y\\.k"] {
                let text = edited("[z]\n", key, value);
                let found = syntax::parse(text.as_bytes()).assignments;
                assert_eq!(
                    (found[0].key.as_str(), found[0].value.as_str()),
                    (key, value),
                    "{text}"
                );
            }
        }
    }
}
