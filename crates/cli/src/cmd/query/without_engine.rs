//! The way around a missing engine: how to get it, and the command lines that give the same with other engines.

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
    let (export, folder) = export_line(program, request);
    let sql = quoted(
        request
            .sql
            .as_deref()
            .unwrap_or(STATEMENT)
            .trim()
            .trim_end_matches(';'),
    );
    let piped = |engine: &str, reader: &str| {
        format!("  {{ {program} query --views {engine} -i {folder}; echo {sql}; }} | {reader}")
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
    let lines: Vec<String> = lines.into_iter().chain(export).chain(others).collect();
    Failure::new(lines.join("\n"))
}

/// The command that exports the recordings, where there is one to export, and the folder of tables.
fn export_line(program: &str, request: &SqlRequest) -> (Option<String>, String) {
    if let [input] = request.inputs.as_slice()
        && is_folder_of_tables(Path::new(input))
    {
        return (None, quoted(input));
    }
    let inputs = request
        .inputs
        .iter()
        .map(|input| format!(" -i {}", quoted(input)));
    let inputs: String = inputs.collect();
    let line = format!("  {program} export --format parquet{inputs} -o {FOLDER}");
    (Some(line), FOLDER.to_owned())
}

fn is_folder_of_tables(path: &Path) -> bool {
    let files = path.read_dir().into_iter().flatten().flatten();
    let mut names = files.map(|file| file.file_name());
    names.any(|name| {
        Path::new(&name)
            .extension()
            .is_some_and(|end| end == "parquet")
    })
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
}
