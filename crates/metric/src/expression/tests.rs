//! Expressions: reading, folding, values. What is said to be perf's was seen in `perf7 stat -vv -M ...`.

use super::*;
use crate::{ExpressionProblem, MachineConstants};

/// A machine with one event, known CPU identity and a few constants.
struct Machine;

impl MetricEnvironment for Machine {
    fn constant(&self, name: &str) -> Option<f64> {
        match name.to_ascii_lowercase().as_str() {
            "one" => Some(1.0),
            "zero" => Some(0.0),
            _ => None,
        }
    }

    fn has_event(&self, event: &str) -> bool {
        event == "msr@smi@"
    }

    fn cpuid_matches(&self, pattern: &str) -> bool {
        pattern == "0x41"
    }
}

fn parse(text: &str) -> MetricExpression {
    MetricExpression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value(text: &str) -> f64 {
    let counts = |id: &str| match id {
        "two" => Some(2.0),
        "three" => Some(3.0),
        "nothing" => Some(0.0),
        _ => None,
    };
    parse(text).evaluate(&Machine, &counts).unwrap()
}

fn ids(text: &str) -> Vec<String> {
    let ids = parse(text).ids(&Machine).unwrap();
    let mut names: Vec<String> = ids.iter().map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn operators_bind_as_in_perf() {
    for (text, expected) in [
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("2 - 3 - 4", -5.0),
        ("-two * 3", -6.0),
        ("- - two", 2.0),
        ("7 % 4 * 2", 6.0),
        ("1 | 0 & 0", 1.0),
        ("1 ^ 1 | 0", 0.0),
        ("1 < 2 & 3 > 2", 1.0),
        ("1 + 1 < 3", 1.0),
        ("min(two, 3) + max(two, 3)", 5.0),
        ("two if 1 > 0 else three", 2.0),
        ("two if 0 else three if 0 else 4", 4.0),
        ("(two if #ONE else 1) * 3", 6.0),
        ("d_ratio(three, two)", 1.5),
        ("1e3 + .5 + 2. + 1.5e-1", 1002.65),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn names_end_where_perfs_do() {
    let names = |text: &str| parse(text).names().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        names(r"msr@tsc\,cpu\=cpu_core@ / L1\-dcache\-loads"),
        ["msr@tsc,cpu=cpu_core@", "L1-dcache-loads"]
    );
    assert_eq!(names("msr@tsc\\,cpu=cpu_core@"), ["msr@tsc,cpu=cpu_core@"]);
    assert_eq!(names("FP_ARITH.128B_PACKED*2"), ["FP_ARITH.128B_PACKED"]);
    assert_eq!(
        names("0x10 + 128B + ifx + maximum"),
        ["0x10", "128B", "ifx", "maximum"]
    );
    assert_eq!(names("cpu\\-cycles:kHh - 4"), ["cpu-cycles:kHh"]);
    assert_eq!(
        names("source_count(a) + aggr_nr(b) + has_event(c)"),
        ["a", "b", "c"]
    );
    assert_eq!(
        parse("#num_dies * #SMT_on").constants().collect::<Vec<_>>(),
        ["num_dies", "SMT_on"]
    );
}

#[test]
fn what_has_no_value_is_no_number() {
    for text in [
        "1 / 0",
        "two / nothing",
        "two % 0",
        "two % 0.5",
        "missing",
        "missing + 1",
        "missing < 1",
        "1 > missing",
        "NaN",
        "missing | 0",
        "missing & 1",
        "missing ^ 1",
        "source_count(missing)",
    ] {
        assert!(value(text).is_nan(), "{text}");
    }
}

#[test]
fn what_a_missing_count_leaves_known() {
    for (text, expected) in [
        ("d_ratio(two, 0)", 0.0),
        ("d_ratio(missing, nothing)", 0.0),
        ("missing | 1", 1.0),
        ("missing & 0", 0.0),
        ("0 & missing", 0.0),
        ("max(missing, 0)", 0.0),
        ("min(missing, 5)", 5.0),
        ("two if missing else three", 2.0),
        ("9e18 % -1", 0.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn the_smallest_whole_number_has_a_remainder() {
    assert!(value("(0 - 9223372036854775808) % (0 - 1)").is_nan());
}

#[test]
fn constants_decide_branches() {
    for (text, expected) in [
        ("a if #one else b", vec!["a"]),
        ("a if #zero else b", vec!["b"]),
        ("a if c else b", vec!["a", "b", "c"]),
        ("1 if c else 1", vec![]),
        ("a | 1", vec![]),
        ("a | 0", vec!["a"]),
        ("0 & a", vec![]),
        ("a & 1", vec!["a"]),
        ("0 * a", vec!["a"]),
        ("a / 0", vec!["a"]),
        ("d_ratio(a, 0)", vec![]),
        ("a if has_event(msr@smi@) else b", vec!["a"]),
        ("a if has_event(msr@none@) else b", vec!["b"]),
        ("a if strcmp_cpuid_str(0x41) else b", vec!["a"]),
        ("(a if 1 - #one else NaN) * b", vec!["b"]),
        ("source_count(a) + #one", vec!["a"]),
        ("-(#one) + min(2, 3)", vec![]),
    ] {
        assert_eq!(ids(text), expected, "{text}");
    }
}

#[test]
fn an_unknown_constant_is_an_error() {
    let unknown = Err(MetricError::UnknownConstant("#slots".to_owned()));
    let expression = parse("a / #slots");
    assert_eq!(
        expression.ids(&MachineConstants::default()),
        unknown.clone().map(|()| MetricIds::default())
    );
    assert_eq!(
        expression.evaluate(&Machine, &|_: &str| None),
        unknown.map(|()| 0.0)
    );
}

#[test]
fn errors_say_where() {
    for (text, expected) in [
        ("", "at byte 0: expected a value, found the end"),
        (
            "a b",
            "at byte 2: expected an operator or the end, found name \"b\"",
        ),
        ("a + ", "at byte 4: expected a value, found the end"),
        ("(a", "at byte 2: expected ')', found the end"),
        ("a if b", "at byte 6: expected else, found the end"),
        ("max(1)", "at byte 5: expected ',', found ')'"),
        ("has_event(1)", "at byte 10: expected a name, found 1"),
        ("a + else", "at byte 4: expected a value, found 'else'"),
        ("a [ 0", "at byte 2: unexpected character '['"),
        ("é", "at byte 0: unexpected character 'é'"),
        ("#", "at byte 0: unexpected character '#'"),
        ("a \\x", "at byte 2: unexpected character '\\\\'"),
    ] {
        assert_eq!(
            MetricExpression::parse(text).unwrap_err().to_string(),
            expected
        );
    }
}

#[test]
fn depth_and_length_are_bounded() {
    let problem = |text: &str| MetricExpression::parse(text).unwrap_err().problem;
    for (open, close) in [("(", ")"), ("max(1,", ")"), ("1 if 1 else ", ""), ("-", "")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        parse(&nested(MetricExpression::MAX_DEPTH - 1));
        assert_eq!(
            problem(&nested(MetricExpression::MAX_DEPTH)),
            ExpressionProblem::TooDeep
        );
        assert_eq!(problem(&nested(50_000)), ExpressionProblem::TooDeep);
    }
    let long = "1+".repeat(MetricExpression::MAX_LENGTH / 2 - 1) + "1";
    assert_eq!(
        parse(&long).evaluate(&Machine, &|_: &str| None),
        Ok(524_288.0)
    );
    assert_eq!(problem(&(long + "+1+1")), ExpressionProblem::TooLong);
}
