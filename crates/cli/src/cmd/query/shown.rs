//! What is known without any recording: the tables and their columns, and statements to begin with.

use std::fmt::Write;

use oxperf_columns::schema::{ColumnSchema, PROFILE, STACK_FRAMES, TABLES, TableSchema};
use oxperf_columns::statements::STATEMENTS;

/// Every table with its columns.
pub(super) fn tables() -> String {
    let views = [&PROFILE, &STACK_FRAMES];
    let tables = TABLES.into_iter().chain(views);
    tables.map(table).collect::<Vec<_>>().join("\n")
}

fn table(table: &TableSchema) -> String {
    let width = |part: fn(&ColumnSchema) -> &str| {
        let widths = table.columns.iter().map(|column| part(column).len());
        widths.max().unwrap_or_default()
    };
    let (names, kinds) = (
        width(|column| column.name),
        width(|column| column.kind.sql_name()),
    );
    let mut text = format!("{}: {}\n", table.name, table.meaning);
    for column in table.columns {
        let (name, kind) = (column.name, column.kind.sql_name());
        let _ = writeln!(text, "  {name:names$}  {kind:kinds$}  {}", column.meaning);
    }
    text
}

/// The statements, each as it can be pasted.
pub(super) fn examples() -> String {
    let statements = STATEMENTS.iter().map(|statement| statement.sql.trim_end());
    statements
        .map(|sql| format!("{sql};\n"))
        .collect::<Vec<_>>()
        .join("\n")
}
