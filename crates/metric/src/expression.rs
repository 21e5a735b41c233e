//! An expression: parsed once into a list of nodes, each after what it works on, then folded or evaluated in a loop.

mod evaluate;
mod fold;
mod parse;
#[cfg(test)]
mod tests;
mod token;

use crate::{EventCounts, ExpressionError, MetricEnvironment, MetricError, MetricIds};

/// A metric expression.
#[derive(Clone, PartialEq, Debug)]
pub struct MetricExpression {
    /// Operands stand before what works on them, so the last node is the whole and a loop evaluates without recursion.
    nodes: Vec<Node>,
}

/// One node.
#[derive(Clone, PartialEq, Debug)]
enum Node {
    /// A number; `NaN` among them.
    Number(f64),
    /// An event or a metric.
    Id(String),
    /// `#name`, without the `#`.
    Constant(String),
    /// `source_count(id)`.
    SourceCount(String),
    /// `has_event(id)`.
    HasEvent(String),
    /// `strcmp_cpuid_str(pattern)`.
    CpuidMatches(String),
    /// `-operand`.
    Negate(Place),
    /// An operator or a function of two operands.
    Binary(Operator, Place, Place),
    /// `then if condition else otherwise`.
    Choice {
        then: Place,
        condition: Place,
        otherwise: Place,
    },
}

/// The place of an operand in the list of nodes: before the node that names it.
type Place = usize;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Or,
    Xor,
    And,
    Less,
    Greater,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    Ratio,
}

impl MetricExpression {
    /// The longest text that is read, in bytes. Published formulas have up to 0.2 million.
    pub const MAX_LENGTH: usize = 1 << 20;

    /// How deep parentheses, functions, signs and `else` may nest.
    pub const MAX_DEPTH: usize = 200;

    /// Reads an expression.
    ///
    /// # Errors
    /// The first place that is wrong.
    pub fn parse(text: &str) -> Result<MetricExpression, ExpressionError> {
        parse::parse(text).map(|nodes| MetricExpression { nodes })
    }

    /// The names whose counts decide the value here. Branches that constants decide ask for none, and neither do operands
    /// that cannot change the result of `&` and `|`.
    ///
    /// # Errors
    /// A constant that is not known.
    pub fn ids(&self, environment: &dyn MetricEnvironment) -> Result<MetricIds, MetricError> {
        fold::ids(&self.nodes, environment)
    }

    /// The value over counts. A count that is missing, a division by zero and a remainder by zero are NaN; `d_ratio` by zero
    /// is 0.
    ///
    /// # Errors
    /// A constant that is not known.
    pub fn evaluate(
        &self,
        environment: &dyn MetricEnvironment,
        counts: &dyn EventCounts,
    ) -> Result<f64, MetricError> {
        evaluate::evaluate(&self.nodes, environment, counts)
    }

    /// Every event and metric that is named, each as often as it stands there.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Id(id) | Node::SourceCount(id) | Node::HasEvent(id) => Some(id.as_str()),
            _ => None,
        })
    }

    /// The names of the constants that are used, without `#`.
    pub fn constants(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().filter_map(|node| match node {
            Node::Constant(name) => Some(name.as_str()),
            _ => None,
        })
    }
}
