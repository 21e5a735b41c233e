//! The documentation of the tables, made from the schema.

use std::fmt::Write;

use crate::schema::{
    ColumnSchema, PROFILE, Presence, SAMPLES, STACK_FRAMES, STACKS, TABLES, TableSchema, VERSION,
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

/// `profile` has so many columns of `samples` that they are not listed again.
fn views(page: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "\n## {}\n\nA view. A row is {}: all columns of `{}`, and `symbol` and `dso` of `{}`.\n",
        PROFILE.name, PROFILE.meaning, SAMPLES.name, STACKS.name
    );
    describe(&STACK_FRAMES, page);
}
