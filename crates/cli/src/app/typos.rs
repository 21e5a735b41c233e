//! A command that does not exist: the names that are nearest to it.

/// The distance from which on names have nothing in common.
const FAR: usize = 6;

/// The refusal of a name, with the names of commands that may be meant.
pub(super) fn refusal(program: &str, name: &str, known: &[&str]) -> String {
    let near = nearest(name, known);
    let mut text =
        format!("{program}: '{name}' is not a {program}-command. See '{program} --help'.");
    if !near.is_empty() {
        text.push_str(match near.len() {
            1 => "\n\nDid you mean this?",
            _ => "\n\nDid you mean one of these?",
        });
        for name in near {
            text.push_str("\n\t");
            text.push_str(name);
        }
    }
    text
}

/// The names at the least distance, in order; none if that is far.
fn nearest<'n>(name: &str, known: &[&'n str]) -> Vec<&'n str> {
    // A name of a command is short: longer words are none that was mistyped.
    if name.len() > 64 {
        return Vec::new();
    }
    let mut ranked: Vec<(usize, &str)> = known
        .iter()
        .map(|known| (distance(name, known), *known))
        .collect();
    ranked.sort_unstable();
    ranked.dedup();
    let best = ranked.first().map_or(FAR, |(distance, _)| *distance);
    let near = ranked
        .into_iter()
        .filter(|(distance, _)| *distance == best && best < FAR);
    near.map(|(_, known)| known).collect()
}

/// The cost of making `to` of `from`: 1 for a letter more or less, 2 for another one, nothing for two neighbours that
/// change places.
fn distance(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut costs = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for (row, letter) in from.iter().enumerate() {
        let mut line = vec![row + 1];
        for (column, wanted) in to.iter().enumerate() {
            let change = if letter == wanted { 0 } else { 2 };
            let mut cost = costs[row][column] + change;
            cost = cost.min(costs[row][column + 1] + 1).min(line[column] + 1);
            let swapped =
                row > 0 && column > 0 && from[row - 1] == *wanted && *letter == to[column - 1];
            if swapped {
                cost = cost.min(costs[row - 1][column - 1]);
            }
            line.push(cost);
        }
        costs.push(line);
    }
    costs[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands of perf 7.2.
    const PERF: &str = "archive buildid-cache buildid-list check config c2c diff evlist help iostat kallsyms list record \
        report bench stat timechart top annotate version script sched probe kmem lock kvm test trace inject mem data \
        ftrace daemon kwork";

    /// The candidates are perf 7.2's for the same words.
    #[test]
    fn candidates_are_those_of_perf() {
        for (name, expected) in [
            ("frob", "probe"),
            ("repor", "report"),
            ("reprot", "report"),
            ("scrip", "script"),
            ("anotate", "annotate"),
            ("buildid", "buildid-list"),
            ("recrod", "record"),
            ("lst", "list"),
            ("sta", "stat"),
            ("evl", "evlist help"),
            ("data2", "data"),
            ("tpo", "top"),
            ("rpt", "report script"),
            ("tst", "stat test"),
            ("xx", "c2c kvm mem top"),
            ("b", "bench c2c kvm mem probe top"),
            ("bld", "data diff help list lock"),
            ("sched-x", "sched"),
            ("xyz123", ""),
        ] {
            let known: Vec<&str> = PERF.split_whitespace().collect();
            let near = nearest(name, &known);
            assert_eq!(near.join(" "), expected, "{name}");
        }
    }
}
