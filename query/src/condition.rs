//! Conditions of a statement that a recording's reader can apply: on time, CPU, thread and event. They are applied again
//! by the engine, so that none has to be exact.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use oxperf_columns::WallClock;
use oxperf_query::FilterOptions;

/// The samples that a scan can do without are not among these.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Selection {
    /// Nanoseconds of the recording's clock: the first, and the last.
    times: Bounds,
    /// Microseconds of the wall clock.
    moments: Bounds,
    cpus: Option<Vec<i64>>,
    pids: Option<Vec<i64>>,
    tids: Option<Vec<i64>>,
    comms: Option<Vec<String>>,
    events: Option<Vec<String>>,
}

/// The first and the last of a range, both in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Bounds {
    first: i64,
    last: i64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds {
            first: i64::MIN,
            last: i64::MAX,
        }
    }
}

impl Bounds {
    fn is_all(self) -> bool {
        self == Bounds::default()
    }

    fn narrow(&mut self, other: Bounds) {
        self.first = self.first.max(other.first);
        self.last = self.last.min(other.last);
    }
}

/// `true` if a reader can apply the condition, or a part of it.
pub(crate) fn is_understood(condition: &Expr) -> bool {
    Selection::default().narrowed(condition).is_some()
}

impl Selection {
    /// The selection of all conditions.
    pub(crate) fn of(conditions: &[Expr]) -> Selection {
        let all = Selection::default();
        conditions.iter().fold(all, |selection, condition| {
            selection.narrowed(condition).unwrap_or(selection)
        })
    }

    /// The samples of the selection that a condition leaves; `None` where it is not understood.
    fn narrowed(&self, condition: &Expr) -> Option<Selection> {
        let mut narrowed = self.clone();
        if let Some((column, values)) = choice(condition) {
            return narrowed.choose(column, &values).map(|()| narrowed);
        }
        match condition {
            Expr::BinaryExpr(BinaryExpr {
                left,
                op: Operator::And,
                right,
            }) => {
                let left = narrowed.narrowed(left);
                if let Some(left) = left {
                    return Some(left.narrowed(right).unwrap_or(left));
                }
                return self.narrowed(right);
            }
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
                (Expr::Column(column), Expr::Literal(value, _)) => {
                    narrowed.compare(&column.name, *op, value)?;
                }
                (Expr::Literal(value, _), Expr::Column(column)) => {
                    narrowed.compare(&column.name, op.swap()?, value)?;
                }
                _ => return None,
            },
            Expr::Between(Between {
                expr,
                negated: false,
                low,
                high,
            }) => {
                let (Expr::Column(column), Expr::Literal(low, _), Expr::Literal(high, _)) =
                    (&**expr, &**low, &**high)
                else {
                    return None;
                };
                narrowed.compare(&column.name, Operator::GtEq, low)?;
                narrowed.compare(&column.name, Operator::LtEq, high)?;
            }
            _ => return None,
        }
        Some(narrowed)
    }

    fn compare(&mut self, column: &str, op: Operator, value: &ScalarValue) -> Option<()> {
        let bounds = match column {
            "time" => &mut self.times,
            "ts" => &mut self.moments,
            _ => return None,
        };
        let value = number(value)?;
        let mut range = Bounds::default();
        match op {
            Operator::Eq => {
                range = Bounds {
                    first: value,
                    last: value,
                }
            }
            Operator::Lt => range.last = value.checked_sub(1)?,
            Operator::LtEq => range.last = value,
            Operator::Gt => range.first = value.checked_add(1)?,
            Operator::GtEq => range.first = value,
            _ => return None,
        }
        bounds.narrow(range);
        Some(())
    }

    fn choose(&mut self, column: &str, values: &[&ScalarValue]) -> Option<()> {
        let numbers = || {
            values
                .iter()
                .map(|value| number(value))
                .collect::<Option<Vec<i64>>>()
        };
        let texts = || {
            let texts = values
                .iter()
                .map(|value| value.try_as_str().flatten().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        };
        match column {
            "cpu" => keep(&mut self.cpus, numbers()?),
            "pid" => keep(&mut self.pids, numbers()?),
            "tid" => keep(&mut self.tids, numbers()?),
            "comm" => keep(&mut self.comms, texts()?),
            "event" => keep(&mut self.events, texts()?),
            _ => return None,
        }
        Some(())
    }

    /// The one event whose samples are wanted, if it is one.
    pub(crate) fn event(&self) -> Option<&str> {
        match self.events.as_deref() {
            Some([event]) => Some(event),
            _ => None,
        }
    }

    /// The selection as the filter of a recording with this clock.
    pub(crate) fn filter(&self, clock: WallClock) -> FilterOptions {
        // A text that would be read otherwise filters nothing here.
        let is_plain = |text: &&String| {
            !text.is_empty() && !text.contains(',') && !text.starts_with("file://")
        };
        let comms = self
            .comms
            .as_ref()
            .filter(|comms| comms.iter().all(|text| is_plain(&text)));
        FilterOptions {
            times: self.stretch(clock),
            cpus: self.cpus.as_deref().and_then(list),
            comms: comms
                .filter(|comms| !comms.is_empty())
                .map(|comms| comms.join(",")),
            pids: self.pids.as_deref().and_then(list),
            tids: self.tids.as_deref().and_then(list),
            part: None,
        }
    }

    /// Seconds from which and to which samples count.
    fn stretch(&self, clock: WallClock) -> Option<String> {
        let mut times = self.times;
        if let (false, Some(offset)) = (self.moments.is_all(), clock.offset) {
            let at = |moment: i64, more: i64| {
                let nanoseconds = moment.checked_mul(1000)?.checked_add(more)?;
                nanoseconds.checked_sub(offset)
            };
            times.narrow(Bounds {
                first: at(self.moments.first, 0).unwrap_or(i64::MIN),
                last: at(self.moments.last, 999).unwrap_or(i64::MAX),
            });
        }
        if times.is_all() || times.last < 0 || times.first > times.last {
            return None;
        }
        let seconds = |nanoseconds: i64| {
            format!(
                "{}.{:09}",
                nanoseconds / 1_000_000_000,
                nanoseconds % 1_000_000_000
            )
        };
        let first = seconds(times.first.max(0));
        let last = if times.last == i64::MAX {
            String::new()
        } else {
            seconds(times.last)
        };
        Some(format!("{first},{last}"))
    }
}

/// The column of a condition that leaves some values of it alone, and the values: `a = 1`, `a IN (1, 2)`, `a = 1 OR a = 2`.
fn choice(condition: &Expr) -> Option<(&str, Vec<&ScalarValue>)> {
    match condition {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, op, &**right) {
            (Expr::Column(column), Operator::Eq, Expr::Literal(value, _))
            | (Expr::Literal(value, _), Operator::Eq, Expr::Column(column)) => {
                is_of_names(&column.name).then(|| (column.name.as_str(), vec![value]))
            }
            (left, Operator::Or, right) => {
                let ((column, values), (other, more)) = (choice(left)?, choice(right)?);
                (column == other).then(|| (column, [values, more].concat()))
            }
            _ => None,
        },
        Expr::InList(list) if !list.negated => {
            let Expr::Column(column) = &*list.expr else {
                return None;
            };
            let values = list.list.iter().map(|value| match value {
                Expr::Literal(value, _) => Some(value),
                _ => None,
            });
            let values = values.collect::<Option<Vec<_>>>()?;
            is_of_names(&column.name).then_some((column.name.as_str(), values))
        }
        _ => None,
    }
}

/// `true` for a column whose values are chosen one by one.
fn is_of_names(column: &str) -> bool {
    ["cpu", "pid", "tid", "comm", "event"].contains(&column)
}

/// Keeps of what was chosen before what is chosen now.
fn keep<T: PartialEq>(chosen: &mut Option<Vec<T>>, mut values: Vec<T>) {
    if let Some(before) = chosen.take() {
        values.retain(|value| before.contains(value));
    }
    *chosen = Some(values);
}

/// The numbers as an option has them; `None` where it would not take them.
fn list(numbers: &[i64]) -> Option<String> {
    let is_usual = |number: &i64| (0..=i64::from(i32::MAX)).contains(number);
    if numbers.is_empty() || !numbers.iter().all(is_usual) {
        return None;
    }
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    Some(numbers.join(","))
}

fn number(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int32(value) => value.map(i64::from),
        ScalarValue::Int64(value) | ScalarValue::TimestampMicrosecond(value, _) => *value,
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};

    use super::*;

    const CLOCK: WallClock = WallClock {
        offset: Some(0),
        exact: true,
    };

    #[test]
    fn conditions_become_a_filter() {
        let conditions = [
            col("comm")
                .eq(lit("a"))
                .and(col("cpu").in_list(vec![lit(1i32), lit(2i32)], false)),
            col("time").gt(lit(1_500_000_000i64)),
            col("time").lt_eq(lit(2_000_000_001i64)),
            col("period").gt(lit(5i64)),
        ];
        let selection = Selection::of(&conditions);
        let filter = selection.filter(CLOCK);
        assert_eq!(filter.comms.as_deref(), Some("a"));
        assert_eq!(filter.cpus.as_deref(), Some("1,2"));
        assert_eq!(filter.times.as_deref(), Some("1.500000001,2.000000001"));
        assert!(is_understood(&conditions[0]) && !is_understood(&conditions[3]));
    }

    #[test]
    fn one_of_several_values_is_a_choice() {
        let either = col("tid").eq(lit(7i32)).or(col("tid").eq(lit(8i32)));
        let filter = Selection::of(&[either]).filter(CLOCK);
        assert_eq!(filter.tids.as_deref(), Some("7,8"));
    }

    #[test]
    fn conditions_that_are_no_filter_leave_all() {
        let either = col("comm").eq(lit("a")).or(col("cpu").eq(lit(1i32)));
        let comma = col("comm").eq(lit("a,b"));
        let below = col("pid").eq(lit(-1i32));
        for condition in [either, comma, below] {
            assert_eq!(
                Selection::of(&[condition]).filter(CLOCK),
                FilterOptions::default()
            );
        }
    }
}
