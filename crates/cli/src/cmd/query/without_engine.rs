//! The way around a missing engine: how to get it, and the command lines that give the same with other engines.

use std::fmt::Write;
use std::path::Path;

use super::engine;
use crate::environment;
use crate::failure::Failure;
use crate::sql::SqlRequest;

/// The statement of the command lines where the user gave none.
const STATEMENT: &str =
    "SELECT symbol, sum(period) AS value FROM profile GROUP BY symbol ORDER BY value DESC LIMIT 20";
/// The folder of the export in the command lines.
const FOLDER: &str = "prof";

/// Says that there is no engine, how to get it, and what does the same without it.
pub(super) fn refusal(program: &str, request: &SqlRequest) -> Failure {
    let name = engine::NAME;
    let own = environment::program();
    let beside = own.as_deref().and_then(Path::parent);
    let beside = beside.map_or_else(|| "oxperf".into(), Path::to_string_lossy);
    let sources = Sources::of(&request.inputs);
    let folder = quoted(sources.folder());
    let sql = quoted(
        request
            .sql
            .as_deref()
            .unwrap_or(STATEMENT)
            .trim()
            .trim_end_matches(';'),
    );
    // Some shells' echo changes backslashes.
    let piped = |engine: &str, reader: &str| {
        format!(
            "  {{ {program} query --views {engine} -i {folder}; printf '%s\\n' {sql}; }} | {reader}"
        )
    };
    let lines = [
        format!("query needs {name}, which is neither in {beside} nor on the search path."),
        "It is a program of its own, as its SQL engine takes long to build. In the sources of oxperf:".to_owned(),
        format!(
            "  cargo build --release --manifest-path query/Cargo.toml && cp query/target/release/{name} {}/",
            quoted(&beside)
        ),
        "Other engines give the same rows:".to_owned(),
    ];
    let others = [
        piped("duckdb", "duckdb"),
        piped("clickhouse", "clickhouse-local"),
        piped("spark", "spark-sql -f /dev/stdin"),
    ];
    let made = [sources.advice(), sources.export_line(program)];
    let made = made.into_iter().flatten();
    let lines: Vec<String> = lines.into_iter().chain(made).chain(others).collect();
    Failure::new(lines.join("\n"))
}

/// The inputs by what other engines need: they read one folder of tables.
#[derive(Debug, Default)]
struct Sources<'i> {
    /// A folder of tables.
    folder: Option<&'i str>,
    recordings: Vec<&'i str>,
    /// Patterns, files of tables, and further folders.
    others: Vec<&'i str>,
}

impl<'i> Sources<'i> {
    fn of(inputs: &'i [String]) -> Sources<'i> {
        let mut sources = Sources::default();
        for input in inputs {
            let path = Path::new(input);
            let is_pattern = !path.exists() && input.contains(['*', '?', '[']);
            match folder_of_tables(input) {
                Some(folder) if sources.folder.is_none() => sources.folder = Some(folder),
                Some(_) => sources.others.push(input),
                None if is_pattern || is_table(path) => sources.others.push(input),
                None => sources.recordings.push(input),
            }
        }
        sources
    }

    fn folder(&self) -> &str {
        self.folder.unwrap_or(FOLDER)
    }

    /// The command that exports the recordings, where there are any: to the tables, which it leaves as they are.
    fn export_line(&self, program: &str) -> Option<String> {
        let inputs = self
            .recordings
            .iter()
            .fold(String::new(), |mut text, input| {
                let _ = write!(text, " -i {}", quoted(input));
                text
            });
        let folder = quoted(self.folder());
        (!inputs.is_empty())
            .then(|| format!("  {program} export --format parquet{inputs} -o {folder}"))
    }

    /// What no command line does.
    fn advice(&self) -> Option<String> {
        let others: Vec<String> = self.others.iter().map(|input| quoted(input)).collect();
        (!others.is_empty()).then(|| {
            format!(
                "They read one folder: copy the tables of {} to {}, and export each recording among them to it.",
                others.join(" and "),
                quoted(self.folder())
            )
        })
    }
}

/// The folder of tables that an input names, as it is or as a pattern of all in it.
fn folder_of_tables(input: &str) -> Option<&str> {
    let patterns = ["/**", "/*"].into_iter();
    let mut folders = patterns.filter_map(|end| input.strip_suffix(end));
    let folder = folders.next().unwrap_or(input);
    let mut files = Path::new(folder).read_dir().into_iter().flatten().flatten();
    files.any(|file| is_table(&file.path())).then_some(folder)
}

fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "parquet")
}

/// A word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:,@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        assert_eq!(quoted("prof/a-b.data"), "prof/a-b.data");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn recordings_alone_are_exported() {
        let inputs = ["a.data", "none/**", "none/samples.parquet", "b c.data"].map(str::to_owned);
        let sources = Sources::of(&inputs);
        assert_eq!(
            sources.export_line("oxperf").as_deref(),
            Some("  oxperf export --format parquet -i a.data -i 'b c.data' -o prof")
        );
        assert_eq!(sources.others, ["none/**", "none/samples.parquet"]);
        assert_eq!(Sources::of(&inputs[1..3]).export_line("oxperf"), None);
    }
}
