//! Slips of perf7 that are in many lines: the time of a program, which it takes as 0 where it counts for tasks, and metrics
//! without a value, which it shows as a number that is none.

/// A number that is wrong in perf's text.
struct Slip {
    /// What the number belongs to.
    name: &'static str,
    /// What stands between the two, in CSV and in JSON.
    between: [&'static str; 2],
    /// The numbers that perf has.
    wrong: [&'static str; 2],
}

/// The metric that is divided by the time, and the event that says it.
const SLIPS: [Slip; 2] = [
    Slip {
        name: "CPUs  CPUs_utilized",
        between: [",", "\", \"metric-unit\" : \""],
        wrong: ["nan", ""],
    },
    Slip {
        name: "duration_time",
        between: [",,", "\", \"unit\" : \"\", \"event\" : \""],
        wrong: ["0", "0.000000"],
    },
];

/// Our text with the lines of perf's where they differ by such a slip alone.
pub(super) fn forgiven(perf: &str, ours: &str) -> String {
    let mut theirs = perf.lines();
    let line = |own: &str| {
        let perf = theirs.next().unwrap_or_default();
        let is_slip = has_no_value(perf, own) || SLIPS.iter().any(|slip| slip.explains(perf, own));
        match is_slip {
            true => format!("{perf}\n"),
            false => format!("{own}\n"),
        }
    };
    ours.lines().map(line).collect()
}

/// Returns whether two lines are the same but for metrics without a value, which perf calls `nan`.
fn has_no_value(perf: &str, own: &str) -> bool {
    let forms = [("     nan", "       -"), ("\"nan\"", "\"none\"")];
    let mut forms = forms.iter();
    forms.any(|(perf_has, own_has)| {
        perf.contains(perf_has) && perf.replace(perf_has, own_has) == own
    })
}

impl Slip {
    /// Returns whether two lines are the same but for the number, which is wrong in perf's.
    fn explains(&self, perf: &str, own: &str) -> bool {
        let (Some(perf), Some(own)) = (self.around(perf), self.around(own)) else {
            return false;
        };
        self.wrong.contains(&perf.number) && perf.before == own.before && perf.after == own.after
    }

    fn around<'a>(&self, line: &'a str) -> Option<Around<'a>> {
        let (left, after) = line.split_once(self.name)?;
        let mut between = self.between.iter();
        let found = between.find_map(|between| left.strip_suffix(between));
        let left = found.unwrap_or(left).trim_end();
        let is_of_number = |character: char| character.is_ascii_alphanumeric() || character == '.';
        let before = left.trim_end_matches(is_of_number);
        Some(Around {
            before: before.trim_end(),
            number: &left[before.len()..],
            after: after.trim_end(),
        })
    }
}

/// A line around a number.
struct Around<'a> {
    before: &'a str,
    number: &'a str,
    after: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_without_a_value_are_forgiven() {
        let line = "  0  branches  #      nan %  branch_miss_rate  ";
        let ours = line.replace("nan", "  -");
        assert_eq!(forgiven(line, &ours), format!("{line}\n"));
        let other = ours.replace("  0 ", "  1 ");
        assert_eq!(forgiven(line, &other), format!("{other}\n"));
        let line = "{\"metric-value\" : \"nan\", \"metric-unit\" : \"GHz\"}";
        let ours = line.replace("nan", "none");
        assert_eq!(forgiven(line, &ours), format!("{line}\n"));
    }

    #[test]
    fn the_time_of_a_program_is_forgiven() {
        for (perf, ours, expected) in [
            (
                "  1.00 msec task-clock  #      nan CPUs  CPUs_utilized  ",
                "  1.00 msec task-clock  #      1.0 CPUs  CPUs_utilized  ",
                true,
            ),
            (
                "1.00,msec,task-clock,1,100.00,,CPUs  CPUs_utilized",
                "1.00,msec,task-clock,1,100.00,0.5,CPUs  CPUs_utilized",
                true,
            ),
            (
                "\"metric-value\" : \"nan\", \"metric-unit\" : \"CPUs  CPUs_utilized\"}",
                "\"metric-value\" : \"0.5\", \"metric-unit\" : \"CPUs  CPUs_utilized\"}",
                true,
            ),
            (
                "         0      duration_time  ",
                "   1000000      duration_time  ",
                true,
            ),
            (
                "0,,duration_time,1,100.00,,",
                "7,,duration_time,1,100.00,,",
                true,
            ),
            (
                "         5      duration_time  ",
                "   1000000      duration_time  ",
                false,
            ),
            (
                "  2.00 msec task-clock  #      nan CPUs  CPUs_utilized  ",
                "  1.00 msec task-clock  #      1.0 CPUs  CPUs_utilized  ",
                false,
            ),
        ] {
            let forgiven = forgiven(perf, ours);
            assert_eq!(forgiven.trim_end() == perf.trim_end(), expected, "{perf}");
        }
    }
}
