//! Names that the user gave to command lines: `alias.NAME = report --stdio`, or `!` and a line for the shell.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::configuration::Configuration;
use crate::failure::Failure;

/// The words of a command line without aliases.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Expanded {
    /// A command and its words.
    Words(Vec<OsString>),
    /// A line for the shell, and words behind it.
    Shell {
        /// The line.
        line: String,
        /// The words that stood behind the alias.
        words: Vec<OsString>,
    },
}

/// Replaces a first word that is an alias, and no command, by what it stands for.
///
/// # Errors
/// An alias stands for itself, for nothing, or has an open quote.
pub(crate) fn expand(
    mut words: Vec<OsString>,
    configuration: &Configuration,
    is_command: &dyn Fn(&str) -> bool,
) -> Result<Expanded, Failure> {
    let mut passed: Vec<String> = Vec::new();
    loop {
        let name = words
            .first()
            .and_then(|word| word.to_str())
            .unwrap_or("")
            .to_owned();
        let key = format!("alias.{}", name.to_ascii_lowercase());
        let Some(value) = configuration.text(&key).filter(|_| !is_command(&name)) else {
            return Ok(Expanded::Words(words));
        };
        if passed.contains(&name) {
            return Err(Failure::new(format!("recursive alias: {name}")));
        }
        passed.push(name.clone());
        let rest = words.split_off(1);
        if let Some(line) = value.strip_prefix('!') {
            return Ok(Expanded::Shell {
                line: line.to_owned(),
                words: rest,
            });
        }
        let meant = split(value).ok_or_else(|| {
            Failure::new(format!(
                "Bad alias.{name} string: a quote is not closed: {value}"
            ))
        })?;
        if meant.is_empty() {
            return Err(Failure::new(format!("empty alias for {name}")));
        }
        words = meant.into_iter().map(OsString::from).chain(rest).collect();
    }
}

/// Runs a line with the shell; gives its exit code.
///
/// # Errors
/// There is no shell.
pub(crate) fn run_shell(line: &str, words: &[OsString]) -> Result<i32, Failure> {
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{line} \"$@\""))
        .arg(line)
        .args(words)
        .status()
        .map_err(|error| Failure::new(format!("While expanding an alias: {line}: {error}")))?;
    let signal = status.signal().map(|signal| 128 + signal);
    Ok(status.code().or(signal).unwrap_or(1))
}

/// The words of a text, as a shell parts them: quotes and backslashes keep letters together. `None` if a quote is open.
fn split(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            ('\\', None | Some('"')) => word.get_or_insert_default().push(letters.next()?),
            ('"' | '\'', None) => {
                word.get_or_insert_default();
                quote = Some(letter);
            }
            (letter, Some(open)) if letter == open => quote = None,
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(words: &[&str], text: &str) -> Result<Expanded, String> {
        let configuration = Configuration::of_text(text);
        let words = words.iter().map(OsString::from).collect();
        expand(words, &configuration, &|name| name == "report").map_err(|error| error.to_string())
    }

    fn words(words: &[&str]) -> Expanded {
        Expanded::Words(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn aliases_stand_for_words() {
        let text = "[alias]\nrs = report 'a  b' --x\\ty\nr2 = rs -v\nreport = evlist\n";
        let text = text.replace("\\t", "\\\\ ");
        assert_eq!(
            expanded(&["r2", "-i", "f"], &text),
            Ok(words(&["report", "a b", "--x y", "-v", "-i", "f"]))
        );
        assert_eq!(expanded(&["report"], &text), Ok(words(&["report"])));
        assert_eq!(expanded(&["other"], &text), Ok(words(&["other"])));
        let shell = Expanded::Shell {
            line: "echo hi".into(),
            words: vec!["x".into()],
        };
        assert_eq!(expanded(&["s", "x"], "[alias]\ns = !echo hi\n"), Ok(shell));
    }

    #[test]
    fn aliases_that_stand_for_nothing_are_refused() {
        let loops = expanded(&["a"], "[alias]\na = b\nb = a\n");
        assert_eq!(loops, Err("recursive alias: a".into()));
        assert!(expanded(&["a"], "[alias]\na = \"report 'x\"\n").is_err());
    }
}
