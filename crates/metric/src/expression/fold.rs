//! The names that decide a value, after all that constants decide.

use super::evaluate::{binary, truth};
use super::{Node, Operator, Place};
use crate::environment::constant;
use crate::{MetricEnvironment, MetricError, MetricIds};

/// What is known of a node before anything is counted.
#[derive(Clone, Debug, Default)]
struct Folded {
    /// Its value, if constants give one that is finite.
    value: Option<f64>,
    /// The names that decide it.
    ids: MetricIds,
}

impl Folded {
    fn number(value: f64) -> Folded {
        Folded {
            value: value.is_finite().then_some(value),
            ids: MetricIds::default(),
        }
    }

    fn with(self, other: Folded) -> Folded {
        Folded {
            value: None,
            ids: self.ids.union(other.ids),
        }
    }
}

pub(super) fn ids(
    nodes: &[Node],
    environment: &dyn MetricEnvironment,
) -> Result<MetricIds, MetricError> {
    let mut folded: Vec<Folded> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let next = fold(node, &mut folded, environment)?;
        folded.push(next);
    }
    Ok(folded.pop().unwrap_or_default().ids)
}

fn fold(
    node: &Node,
    folded: &mut [Folded],
    environment: &dyn MetricEnvironment,
) -> Result<Folded, MetricError> {
    // Every node is the operand of one other, so operands are taken and not copied.
    let mut take = |place: Place| std::mem::take(&mut folded[place]);
    Ok(match node {
        Node::Number(number) => Folded::number(*number),
        Node::Id(id) | Node::SourceCount(id) => Folded {
            value: None,
            ids: MetricIds::of(id.clone()),
        },
        Node::Constant(name) => Folded::number(constant(environment, name)?),
        Node::HasEvent(event) => Folded::number(truth(environment.has_event(event))),
        Node::CpuidMatches(pattern) => Folded::number(truth(environment.cpuid_matches(pattern))),
        Node::Negate(operand) => {
            let operand = take(*operand);
            Folded {
                value: operand.value.map(|value| -value),
                ids: operand.ids,
            }
        }
        Node::Binary(operator, left, right) => operation(*operator, take(*left), take(*right)),
        Node::Choice {
            then,
            condition,
            otherwise,
        } => choice(take(*then), take(*condition), take(*otherwise)),
    })
}

fn operation(operator: Operator, left: Folded, right: Folded) -> Folded {
    match (operator, left.value, right.value) {
        (_, Some(left), Some(right)) => Folded::number(binary(operator, left, right)),
        (Operator::Or, Some(known), None) => half_known_or(known, right),
        (Operator::Or, None, Some(known)) => half_known_or(known, left),
        (Operator::And, Some(known), None) => half_known_and(known, right),
        (Operator::And, None, Some(known)) => half_known_and(known, left),
        (Operator::Ratio, _, Some(0.0)) => Folded::number(0.0),
        _ => left.with(right),
    }
}

fn half_known_or(known: f64, unknown: Folded) -> Folded {
    if known == 0.0 {
        unknown
    } else {
        Folded::number(1.0)
    }
}

fn half_known_and(known: f64, unknown: Folded) -> Folded {
    if known == 0.0 {
        Folded::number(0.0)
    } else {
        unknown
    }
}

fn choice(then: Folded, condition: Folded, otherwise: Folded) -> Folded {
    match condition.value {
        Some(0.0) => otherwise,
        Some(_) => then,
        None if then.value.is_some() && then.value == otherwise.value => then,
        None => then.with(condition.with(otherwise)),
    }
}
