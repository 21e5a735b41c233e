//! The documentation of the tables, made from the schema.

use std::fmt::Write;

use crate::schema::{
    ColumnSchema, PROFILE, Presence, SAMPLES, STACKS, TABLES, TableSchema, VERSION,
};

/// What stands before the tables.
const HEAD: &str = include_str!("docs/head.md");

/// The page `docs/sql.md`.
pub fn sql_page() -> String {
    let mut page = HEAD.replace("{version}", &VERSION.to_string());
    for table in TABLES {
        describe(table, &mut page);
    }
    views(&mut page);
    page
}

/// The tables and their columns as text, for `query --tables`.
pub fn tables_text() -> String {
    let mut text = String::new();
    for table in [&PROFILE].into_iter().chain(TABLES) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}: {}", table.name, table.meaning);
        for column in table.columns {
            let kind = column.kind.sql_name();
            let _ = writeln!(text, "  {:<16} {kind:<20} {}", column.name, column.meaning);
        }
        text.push('\n');
    }
    text
}

fn describe(table: &TableSchema, page: &mut String) {
    let when = presence(table.when);
    let _ = write!(
        page,
        "\n## {}\n\nA row is {}.{when}\n\n| column | type | meaning |\n|---|---|---|\n",
        table.name, table.meaning
    );
    table.columns.iter().for_each(|column| row(column, page));
}

fn row(column: &ColumnSchema, page: &mut String) {
    let ColumnSchema {
        name,
        kind,
        meaning,
        when,
    } = column;
    let (kind, when) = (kind.sql_name(), presence(*when));
    let _ = writeln!(page, "| `{name}` | {kind} | {meaning}.{when} |");
}

fn presence(when: Presence) -> String {
    match when {
        Presence::Always => String::new(),
        Presence::Recorded => " NULL where it was not recorded.".to_owned(),
        Presence::Option(option) => format!(" With `{option}`."),
    }
}

fn views(page: &mut String) {
    let names = |table: &TableSchema| {
        let columns = table
            .columns
            .iter()
            .map(|column| format!("`{}`", column.name));
        columns.collect::<Vec<_>>().join(", ")
    };
    let _ = write!(
        page,
        "\n## profile\n\nA view: {}. It has the columns of `{}` and `symbol`, `dso` of `{}`: {}.\n\
         \n## stack_frames\n\nA view: the lists of `stacks` as rows. It has `stack_id`, `depth` (0 is the function that ran), \
         `symbol`, `dso`.\n",
        PROFILE.meaning,
        SAMPLES.name,
        STACKS.name,
        names(&PROFILE)
    );
}
