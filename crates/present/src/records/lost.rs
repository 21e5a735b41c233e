//! LOST: records that a ring could not take; and the end of a round.

use oxperf_wire::kernel::Lost;

use crate::text::put;

/// Appends the line of a LOST record.
pub(super) fn lost(out: &mut Vec<u8>, record: &Lost) {
    put!(out, "PERF_RECORD_LOST lost {}\n", record.lost);
}

/// Appends the line of a FINISHED_ROUND record.
pub fn finished_round(out: &mut Vec<u8>) {
    out.extend_from_slice(b"PERF_RECORD_FINISHED_ROUND\n");
}

#[cfg(test)]
mod tests {
    use oxperf_abi::EventId;

    use super::*;
    use crate::records::text;

    #[test]
    fn the_count() {
        assert_eq!(
            text(|out| lost(
                out,
                &Lost {
                    id: EventId(1),
                    lost: 5
                }
            )),
            "PERF_RECORD_LOST lost 5\n"
        );
    }
}
