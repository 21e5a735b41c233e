//! The prompt on a terminal. The terminal itself edits the line; a statement ends with a semicolon.

use std::io::{self, Write};

use oxperf::sql::{Failure, print_error};
use oxperf_columns::schema::{PROFILE, STACK_FRAMES, TABLES};

use crate::engine::Session;

const HELP: &str =
    "A statement ends with ;   \\d lists tables, \\d TABLE its columns, \\q or Ctrl-D ends.";

/// Asks for statements until the user ends it. A statement that fails does not.
///
/// # Errors
/// The terminal cannot be read or written.
pub(crate) async fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    println(HELP)?;
    let mut statement = String::new();
    loop {
        print(if statement.is_empty() {
            "sql> "
        } else {
            "...> "
        })?;
        let mut line = String::new();
        if io::stdin().read_line(&mut line)? == 0 {
            return Ok(println("")?);
        }
        if statement.is_empty() {
            match line.trim() {
                "" => continue,
                "\\q" | "quit" | "exit" | "quit;" | "exit;" => return Ok(()),
                command if command.starts_with('\\') => {
                    println(&answer(command))?;
                    continue;
                }
                _ => {}
            }
        }
        statement += &line;
        if statement.trim_end().ends_with(';') {
            if let Err(failure) = session.run_all(&statement).await {
                print_error(&failure.to_string());
            }
            statement.clear();
        }
    }
}

/// The answer to a command that begins with a backslash.
fn answer(command: &str) -> String {
    let mut words = command.split_whitespace();
    let tables = || TABLES.into_iter().chain([&PROFILE, &STACK_FRAMES]);
    match (words.next(), words.next()) {
        (Some("\\d"), None) => {
            let lines = tables().map(|table| format!("{:<14}{}", table.name, table.meaning));
            lines.collect::<Vec<_>>().join("\n")
        }
        (Some("\\d"), Some(name)) => match tables().find(|table| table.name == name) {
            Some(table) => {
                let lines = table.columns.iter().map(|column| {
                    format!(
                        "{:<14}{:<20} {}",
                        column.name,
                        column.kind.sql_name(),
                        column.meaning
                    )
                });
                lines.collect::<Vec<_>>().join("\n")
            }
            None => format!("no table '{name}'; \\d lists them"),
        },
        _ => HELP.to_owned(),
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn println(text: &str) -> io::Result<()> {
    print(text)?;
    print("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_described() {
        assert!(
            answer("\\d")
                .lines()
                .any(|line| line.starts_with("samples "))
        );
        assert!(answer("\\d stacks").contains("stack_id"));
        assert!(answer("\\d nothing").contains("no table 'nothing'"));
    }
}
