//! Statements of SQL: taken apart, held back from writing, and explained where they are wrong.

use std::fmt::Write;

use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::{DFParserBuilder, Statement};
use oxperf::sql::Failure;
use oxperf_columns::schema::{PROFILE, STACK_FRAMES, TABLES};

use crate::recordings::Told;

/// Names as near as this are named.
const NEAR: f64 = 0.5;

/// The statements of a text.
///
/// # Errors
/// It is no SQL.
pub(crate) fn parse(sql: &str) -> Result<Vec<Statement>, Failure> {
    let parsed = DFParserBuilder::new(sql)
        .build()
        .and_then(|mut parser| parser.parse_statements());
    match parsed {
        Ok(statements) => Ok(statements.into()),
        Err(error) => Err(explain(sql, &error)),
    }
}

/// Refuses what would write, or change the tables.
///
/// # Errors
/// The plan does that.
pub(crate) fn refuse_writing(plan: &LogicalPlan) -> Result<(), DataFusionError> {
    let reading = SQLOptions::new()
        .with_allow_ddl(false)
        .with_allow_dml(false)
        .with_allow_statements(false);
    reading.verify_plan(plan).map_err(|_| {
        let told = "query only reads: COPY, CREATE, INSERT, DROP, SET and the like are refused; -o FILE writes a result";
        DataFusionError::External(Box::new(Told(told.to_owned())))
    })
}

/// `true` for an error that a damaged file may have caused: neither one of the statement's text nor one of a known cause.
pub(crate) fn may_be_damage(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::SQL(..)
        | DataFusionError::Plan(_)
        | DataFusionError::SchemaError(..)
        | DataFusionError::NotImplemented(_) => false,
        DataFusionError::External(cause) => !cause.is::<Told>(),
        _ => true,
    }
}

/// What is wrong with a statement, and where.
pub(crate) fn explain(sql: &str, error: &DataFusionError) -> Failure {
    let root = error.find_root();
    let message = match root {
        DataFusionError::SchemaError(error, _) => match &**error {
            SchemaError::FieldNotFound {
                field,
                valid_fields,
            } => unknown_column(field, valid_fields),
            error => error.to_string(),
        },
        _ => unknown_table(&root.to_string()).unwrap_or_else(|| self::root(error)),
    };
    let diagnostic = error.diagnostic().and_then(|diagnostic| diagnostic.span);
    let place = diagnostic.map(|span| (span.start.line, span.start.column));
    let place = place
        .or_else(|| place_in(&message))
        .or_else(|| place_of_name(sql, &message));
    match place {
        Some((line, column)) => Failure::new(format!("{message}{}", pointed(sql, line, column))),
        None => Failure::new(message),
    }
}

/// The innermost message of an error, without the words of the engine around it.
pub(crate) fn root(error: &DataFusionError) -> String {
    let text = match error.find_root() {
        DataFusionError::External(told) => told.to_string(),
        DataFusionError::SQL(error, _) => error.to_string(),
        other => other.strip_backtrace(),
    };
    let prefixes = [
        "External error: ",
        "Error during planning: ",
        "Execution error: ",
        "sql parser error: ",
        "This feature is not implemented: ",
        "SQL error: ",
        "Internal error: ",
        "Arrow error: ",
        "Parquet error: ",
    ];
    let mut text = text.as_str();
    while let Some(rest) = prefixes.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        text = rest;
    }
    // Who asks for what cannot be is told that it is a mistake of the engine, to be reported there.
    let own = text
        .split("\nThis issue was likely caused by a bug in DataFusion")
        .next();
    own.unwrap_or(text).trim_end().to_owned()
}

fn unknown_column(field: &Column, known: &[Column]) -> String {
    let names: Vec<&str> = known.iter().map(|column| column.name.as_str()).collect();
    let all: String = format!("the columns here are {}", names.join(", "));
    let near = near(&field.name, &names);
    let hint = if near.is_empty() {
        all
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    format!("no column '{}' here; {hint}", field.name)
}

/// The message about a table that does not exist.
fn unknown_table(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("table '")?;
    let (name, _) = rest.split_once("' not found")?;
    let name = name.strip_prefix("datafusion.public.").unwrap_or(name);
    let tables = TABLES.into_iter().chain([&PROFILE, &STACK_FRAMES]);
    let names: Vec<&str> = tables.map(|table| table.name).collect();
    let near = near(name, &names);
    let hint = match near.is_empty() {
        true => format!("the tables are {}", names.join(", ")),
        false => format!("did you mean {}?", near.join(" or ")),
    };
    Some(format!("no table '{name}'; {hint}"))
}

/// The names that are written nearly so, the nearest first.
fn near<'n>(name: &str, names: &[&'n str]) -> Vec<&'n str> {
    let name = name.to_lowercase();
    let mut near: Vec<(f64, &str)> = names
        .iter()
        .map(|known| (normalized_levenshtein(&name, known), *known))
        .filter(|(likeness, _)| *likeness >= NEAR)
        .collect();
    near.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    near.dedup();
    near.truncate(3);
    near.into_iter().map(|(_, name)| name).collect()
}

/// Line and column that a message ends with.
fn place_in(message: &str) -> Option<(u64, u64)> {
    let (_, rest) = message.rsplit_once("Line: ")?;
    let (line, rest) = rest.split_once(", Column: ")?;
    let digits = rest.split(|letter: char| !letter.is_ascii_digit()).next()?;
    Some((line.trim().parse().ok()?, digits.parse().ok()?))
}

/// Where a name in quotes stands in the statement.
fn place_of_name(sql: &str, message: &str) -> Option<(u64, u64)> {
    let name = message.split('\'').nth(1).filter(|name| !name.is_empty())?;
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut found = sql.match_indices(name).filter(|(place, _)| {
        let before = sql[..*place].chars().next_back();
        let after = sql[place + name.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    let (place, _) = found.next()?;
    let before = &sql[..place];
    let line = before.matches('\n').count() as u64 + 1;
    let column = before.rsplit('\n').next().unwrap_or(before).chars().count() as u64 + 1;
    Some((line, column))
}

/// The line of the statement with a mark below the place.
fn pointed(sql: &str, line: u64, column: u64) -> String {
    let index = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
    let Some(text) = sql.lines().nth(index) else {
        return String::new();
    };
    let number = line.to_string();
    let before = text
        .chars()
        .take(usize::try_from(column.saturating_sub(1)).unwrap_or(0));
    let gap: String = before
        .map(|letter| if letter == '\t' { '\t' } else { ' ' })
        .collect();
    let mut shown = String::new();
    let _ = write!(
        shown,
        "\n{number} | {text}\n{} | {gap}^",
        " ".repeat(number.len())
    );
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_pointed_at() {
        assert_eq!(
            pointed("SELECT a\nFROM b", 2, 6),
            "\n2 | FROM b\n  |      ^"
        );
        assert_eq!(pointed("a", 7, 1), "");
        assert_eq!(
            place_in("Expected: x at Line: 3, Column: 14"),
            Some((3, 14))
        );
        assert_eq!(
            place_of_name("SELECT aa, a FROM b", "no column 'a' here"),
            Some((1, 12))
        );
    }

    #[test]
    fn near_names_are_found() {
        assert_eq!(
            near("smybol", &["period", "symbol", "symbols"]),
            ["symbol", "symbols"]
        );
        assert!(near("x", &["period", "symbol"]).is_empty());
    }

    #[test]
    fn what_is_no_sql_is_shown_where_it_stands() {
        let failure = parse("SELECT symbol\nFRM profile").unwrap_err().to_string();
        assert!(failure.contains("2 | FRM profile"), "{failure}");
    }
}
