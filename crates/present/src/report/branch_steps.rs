//! Facts of branches behind a line of a call graph: ` (COND_FWD predicted:50.0%)`, ` (cycles:4 iter:1 avg_cycles:7)`.

use std::io::Write;

use oxperf_profile::BranchStepTotals;

use crate::text::branch_text::name_of_kind;

/// Writes what there is to say; a place that no branch passed is one that only calls reach.
pub(super) fn write(buffer: &mut Vec<u8>, passed: &BranchStepTotals) {
    let words = match passed {
        BranchStepTotals { times: 0, .. } => vec!["calltrace".to_owned()],
        BranchStepTotals {
            is_target: true, ..
        } => of_target(passed),
        BranchStepTotals { .. } => of_source(passed),
    };
    if !words.is_empty() {
        // Writing to a vector cannot fail.
        let _ = write!(buffer, " ({})", words.join(" "));
    }
}

fn of_target(passed: &BranchStepTotals) -> Vec<String> {
    const CONDITIONAL: usize = oxperf_abi::BranchEntry::CONDITIONAL;
    let found = &passed.kinds;
    let kinds = found
        .kinds
        .iter()
        .enumerate()
        .filter(|(kind, _)| *kind != CONDITIONAL);
    let kinds = kinds.map(|(kind, count)| (name_of_kind(kind), *count));
    let ways = [("COND_FWD", found.forward), ("COND_BWD", found.backward)];
    let areas = [
        ("CROSS_4K", found.crossed_4k),
        ("CROSS_2M", found.crossed_2m),
    ];
    let counted = ways
        .into_iter()
        .chain(kinds)
        .chain(areas)
        .filter(|(_, count)| *count > 0);
    let mut words: Vec<String> = counted.map(|(word, _)| word.to_owned()).collect();
    let share = |count: u64| count as f64 * 100.0 / passed.times as f64;
    if passed.predicted < passed.times {
        words.push(format!("predicted:{:.1}%", share(passed.predicted)));
    }
    if share(passed.aborted) >= 0.1 {
        words.push(format!("abort:{:.1}%", share(passed.aborted)));
    }
    words
}

/// The first time that a line is passed has no part in the mean of the rounds, as in perf.
fn of_source(passed: &BranchStepTotals) -> Vec<String> {
    let mut words = Vec::new();
    let cycles = passed.cycles / passed.times;
    if cycles > 0 {
        words.push(format!("cycles:{cycles}"));
    }
    let rounds = passed
        .times
        .checked_sub(1)
        .and_then(|times| passed.rounds.checked_div(times))
        .unwrap_or(0);
    if rounds > 0 {
        words.push(format!("iter:{rounds}"));
        words.push(format!(
            "avg_cycles:{}",
            passed.round_cycles / passed.rounds
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_profile::BranchKinds;

    fn text(passed: &BranchStepTotals) -> String {
        let mut buffer = Vec::new();
        write(&mut buffer, passed);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn only_what_says_something_is_written() {
        let target = BranchStepTotals {
            times: 4,
            is_target: true,
            predicted: 4,
            ..BranchStepTotals::default()
        };
        assert_eq!(text(&target), "");
        let kinds = BranchKinds {
            forward: 1,
            crossed_4k: 1,
            ..BranchKinds::default()
        };
        let guessed = BranchStepTotals {
            predicted: 3,
            aborted: 1,
            kinds,
            ..target
        };
        assert_eq!(
            text(&guessed),
            " (COND_FWD CROSS_4K predicted:75.0% abort:25.0%)"
        );
        let source = BranchStepTotals {
            times: 3,
            cycles: 12,
            rounds: 4,
            round_cycles: 21,
            ..BranchStepTotals::default()
        };
        assert_eq!(text(&source), " (cycles:4 iter:2 avg_cycles:5)");
        assert_eq!(
            text(&BranchStepTotals {
                times: 1,
                rounds: 1,
                ..BranchStepTotals::default()
            }),
            ""
        );
        assert_eq!(text(&BranchStepTotals::default()), " (calltrace)");
    }
}
