//! What recordings lost, as a result shows it.

use oxperf_resolve::ChainLosses;
use oxperf_session::Diagnostics;

/// The losses of a recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Loss {
    /// Its file.
    pub(crate) file: String,
    /// The counts, in the order of [`Loss::COLUMNS`].
    pub(crate) counts: [u64; 5],
    /// `false` for a recording that was not read to its end, which is where the counts are known.
    pub(crate) is_known: bool,
}

impl Loss {
    /// The columns of the table of recordings that count losses, each with what it counts.
    pub(crate) const COLUMNS: [(&'static str, &'static str); 5] = [
        ("lost_samples", "samples that the kernel did not take"),
        ("lost_records", "records that found their ring full"),
        ("lost_aux", "pieces of hardware trace that are not whole"),
        ("cut_stacks", "stacks that could not be walked to their end"),
        (
            "damaged",
            "records and stretches of the file that could not be read",
        ),
    ];

    /// A recording of which nothing is lost.
    pub(crate) fn none(file: &str) -> Loss {
        Loss {
            file: file.to_owned(),
            counts: [0; 5],
            is_known: true,
        }
    }

    /// A recording that was not read to its end.
    pub(crate) fn unknown(file: &str) -> Loss {
        Loss {
            is_known: false,
            ..Loss::none(file)
        }
    }

    /// The losses that a walk found, counted as an export counts them.
    pub(crate) fn of(file: &str, found: &Diagnostics, chains: &ChainLosses) -> Loss {
        let cut: u64 = chains.ends.cut().map(|(_, count)| count).sum();
        Loss {
            file: file.to_owned(),
            counts: [
                found.lost_samples,
                found.lost_records,
                found.aux.total() + found.trace_errors,
                cut + chains.faulty,
                found.undecodable + found.damage.count(),
            ],
            is_known: true,
        }
    }

    /// How many of several recordings have losses that are not known.
    pub(crate) fn unknowns(losses: &[Loss]) -> usize {
        losses.iter().filter(|loss| !loss.is_known).count()
    }

    /// The sums of several recordings, of those whose losses are known.
    pub(crate) fn sums(losses: &[Loss]) -> [u64; 5] {
        let mut sums = [0u64; 5];
        for loss in losses {
            for (sum, count) in sums.iter_mut().zip(loss.counts) {
                *sum = sum.saturating_add(count);
            }
        }
        sums
    }

    /// A sentence for each kind of loss, and one for what is not known.
    pub(crate) fn sentences(losses: &[Loss]) -> Vec<String> {
        let mut sentences = Loss::known_sentences(losses);
        match (Loss::unknowns(losses), losses.len()) {
            (0, _) => {}
            (1, 1) => {
                sentences.push("not known, as the recording was not read to its end".to_owned())
            }
            (unknown, all) => sentences.push(format!(
                "not known of {unknown} of {all} recordings, as they were not read to their ends"
            )),
        }
        sentences
    }

    fn known_sentences(losses: &[Loss]) -> Vec<String> {
        let sums = Loss::sums(losses);
        let kinds = Loss::COLUMNS.iter().zip(sums).zip(0..);
        let lost = kinds.filter(|((_, sum), _)| *sum > 0);
        lost.map(|(((_, what), sum), place): (_, usize)| {
            let files = losses.iter().filter(|loss| loss.counts[place] > 0).count();
            match losses.len() {
                1 => format!("{sum} {what}"),
                all => format!("{sum} {what}, in {files} of {all} recordings"),
            }
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_added_up_by_kind() {
        let loss = |counts| Loss {
            counts,
            ..Loss::none("a")
        };
        let losses = [loss([0, 2, 0, 0, 0]), loss([0, 3, 0, 1, 0]), loss([0; 5])];
        assert_eq!(
            Loss::sentences(&losses),
            [
                "5 records that found their ring full, in 2 of 3 recordings",
                "1 stacks that could not be walked to their end, in 1 of 3 recordings"
            ]
        );
        assert!(Loss::sentences(&losses[2..]).is_empty());
    }

    #[test]
    fn losses_of_a_recording_that_was_not_read_to_its_end_are_not_known() {
        let losses = [Loss::unknown("a"), Loss::none("b")];
        assert_eq!(
            Loss::sentences(&losses),
            ["not known of 1 of 2 recordings, as they were not read to their ends"]
        );
        assert_eq!(
            Loss::sentences(&losses[..1]),
            ["not known, as the recording was not read to its end"]
        );
    }
}
