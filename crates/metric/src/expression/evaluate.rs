//! The value of an expression over counts.

use super::{Node, Operator};
use crate::environment::constant;
use crate::{EventCounts, MetricEnvironment, MetricError};

pub(super) fn evaluate(
    nodes: &[Node],
    environment: &dyn MetricEnvironment,
    counts: &dyn EventCounts,
) -> Result<f64, MetricError> {
    let mut values = Vec::with_capacity(nodes.len());
    for node in nodes {
        values.push(value(node, &values, environment, counts)?);
    }
    Ok(values.last().copied().unwrap_or(f64::NAN))
}

/// The value of a node whose operands have theirs in `values`.
fn value(
    node: &Node,
    values: &[f64],
    environment: &dyn MetricEnvironment,
    counts: &dyn EventCounts,
) -> Result<f64, MetricError> {
    Ok(match node {
        Node::Number(number) => *number,
        Node::Id(id) => counts.count(id).unwrap_or(f64::NAN),
        Node::Constant(name) => constant(environment, name)?,
        Node::SourceCount(id) => counts.sources(id).unwrap_or(f64::NAN),
        Node::HasEvent(event) => truth(environment.has_event(event)),
        Node::CpuidMatches(pattern) => truth(environment.cpuid_matches(pattern)),
        Node::Negate(operand) => -values[*operand],
        Node::Binary(operator, left, right) => binary(*operator, values[*left], values[*right]),
        Node::Choice {
            then,
            condition,
            otherwise,
        } => {
            // A condition without a value is no zero, and so true.
            values[if values[*condition] == 0.0 {
                *otherwise
            } else {
                *then
            }]
        }
    })
}

pub(super) fn truth(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

pub(super) fn binary(operator: Operator, left: f64, right: f64) -> f64 {
    match operator {
        Operator::Or => or(left, right),
        Operator::Xor if left.is_finite() && right.is_finite() => {
            truth((left != 0.0) != (right != 0.0))
        }
        Operator::Xor => f64::NAN,
        Operator::And => and(left, right),
        Operator::Less | Operator::Greater if left.is_nan() || right.is_nan() => f64::NAN,
        Operator::Less => truth(left < right),
        Operator::Greater => truth(left > right),
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide if right == 0.0 => f64::NAN,
        Operator::Divide => left / right,
        Operator::Remainder => remainder(left, right),
        Operator::Minimum => {
            if left < right {
                left
            } else {
                right
            }
        }
        Operator::Maximum => {
            if left > right {
                left
            } else {
                right
            }
        }
        Operator::Ratio if right == 0.0 => 0.0,
        Operator::Ratio => left / right,
    }
}

/// True if either is; a zero leaves what the other is, even if that is no number.
fn or(left: f64, right: f64) -> f64 {
    match (left.is_finite(), right.is_finite()) {
        (true, true) => truth(left != 0.0 || right != 0.0),
        (true, false) => or_unknown(left, right),
        (false, true) => or_unknown(right, left),
        (false, false) => f64::NAN,
    }
}

fn or_unknown(known: f64, unknown: f64) -> f64 {
    if known == 0.0 { unknown } else { 1.0 }
}

/// False if either is; a true one leaves what the other is, even if that is no number.
fn and(left: f64, right: f64) -> f64 {
    match (left.is_finite(), right.is_finite()) {
        (true, true) => truth(left != 0.0 && right != 0.0),
        (true, false) => and_unknown(left, right),
        (false, true) => and_unknown(right, left),
        (false, false) => f64::NAN,
    }
}

fn and_unknown(known: f64, unknown: f64) -> f64 {
    if known == 0.0 { 0.0 } else { unknown }
}

/// The remainder of whole numbers.
fn remainder(left: f64, right: f64) -> f64 {
    if !left.is_finite() || !right.is_finite() {
        return f64::NAN;
    }
    let remainder = (left as i64).checked_rem(right as i64);
    remainder.map_or(f64::NAN, |whole| whole as f64)
}
