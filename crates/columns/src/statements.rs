//! Statements to begin with: one text that every engine understands, over the tables and the views of [`views`](crate::views).

/// A statement to begin with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statement {
    /// Its name.
    pub name: &'static str,
    /// A comment of a line that says what it shows, and the statement.
    pub sql: &'static str,
}

/// All of them.
pub const STATEMENTS: [Statement; 7] = [
    Statement {
        name: "top-self",
        sql: include_str!("../statements/top-self.sql"),
    },
    Statement {
        name: "top-total",
        sql: include_str!("../statements/top-total.sql"),
    },
    Statement {
        name: "callers",
        sql: include_str!("../statements/callers.sql"),
    },
    Statement {
        name: "difference",
        sql: include_str!("../statements/difference.sql"),
    },
    Statement {
        name: "hottest-stacks",
        sql: include_str!("../statements/hottest-stacks.sql"),
    },
    Statement {
        name: "per-second",
        sql: include_str!("../statements/per-second.sql"),
    },
    Statement {
        name: "top-of-each-command",
        sql: include_str!("../statements/top-of-each-command.sql"),
    },
];
