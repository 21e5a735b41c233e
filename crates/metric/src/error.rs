//! What can be wrong with metrics.

/// A text that is no metric expression, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("at byte {offset}: {problem}")]
pub struct ExpressionError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong there.
    pub problem: ExpressionProblem,
}

/// What is wrong with the text of an expression.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExpressionProblem {
    /// A character that begins no token.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// Another token was needed.
    #[error("expected {expected}, found {found}")]
    Token {
        /// What was needed.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Longer than [`MetricExpression::MAX_LENGTH`](crate::MetricExpression::MAX_LENGTH).
    #[error("the expression is too long")]
    TooLong,
    /// Nested deeper than [`MetricExpression::MAX_DEPTH`](crate::MetricExpression::MAX_DEPTH).
    #[error("the expression is nested too deeply")]
    TooDeep,
}

/// Why a metric cannot be planned or computed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MetricError {
    /// No metric and no group of this name.
    #[error("Cannot find metric or group `{0}'")]
    NotFound(String),
    /// The expression or the threshold of a metric does not parse.
    #[error("metric {metric}: {error}")]
    Expression {
        /// The metric.
        metric: String,
        /// What is wrong, and where.
        error: ExpressionError,
    },
    /// A constant that this machine does not have, or that does not exist.
    #[error("unknown constant `{0}`")]
    UnknownConstant(String),
    /// The metric needs its own value.
    #[error("metric {0} refers to itself")]
    Recursion(String),
    /// Metrics refer to each other through more than [`MetricPlan::MAX_REFERENCES`](crate::MetricPlan::MAX_REFERENCES) steps.
    #[error("metric {0} refers to other metrics too deeply")]
    TooDeep(String),
}
