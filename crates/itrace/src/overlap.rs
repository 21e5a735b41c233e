//! The new part of a snapshot or sample of the trace: it may begin with the end of the one before.
//!
//! ```text
//! old   ----PSB..TSC 7....|
//! new          PSB..TSC 7....~~~~~~     the same time stamp: what is new begins where the old one ends
//!                         ^
//! ```

use intel_pt::packet::{PSB, Packet, PacketReader, find_psb};

/// The new part of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NewPart {
    /// The offset in the buffer where it begins.
    pub start: usize,
    /// It follows the old buffer without a gap.
    pub consecutive: bool,
}

/// Trace may be padded up to 8 bytes when it is copied out.
const MOST_PADDING: usize = 7;

/// Finds the part of `new` behind `old`; a buffer counts from its first PSB on. The time stamps decide, where there are
/// any (`has_tsc`); else equal bytes do.
pub fn new_part(old: &[u8], new: &[u8], has_tsc: bool) -> NewPart {
    let apart = |start| NewPart {
        start,
        consecutive: false,
    };
    let Some(new_start) = find_psb(new, 0) else {
        return apart(new.len());
    };
    let Some(old_start) = find_psb(old, 0) else {
        return apart(new_start);
    };
    let (old, tail) = (&old[old_start..], &new[new_start..]);
    let found = if has_tsc {
        by_time(old, tail)
    } else {
        by_bytes(old, tail)
    };
    match found {
        Found::Apart => apart(new_start),
        Found::Old => apart(new.len()),
        Found::Behind(end) => {
            let end = new_start + end;
            NewPart {
                start: end - padding(old, &new[..end]),
                consecutive: true,
            }
        }
    }
}

enum Found {
    /// Nothing in settings.
    Apart,
    /// Nothing is new.
    Old,
    /// The new part begins here.
    Behind(usize),
}

/// Bytes of padding at the end of the old buffer that its copy has not.
fn padding(old: &[u8], copy: &[u8]) -> usize {
    let most = MOST_PADDING.min(old.len()).min(copy.len());
    let (a, b) = (&old[old.len() - most..], &copy[copy.len() - most..]);
    most - a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

fn by_time(old: &[u8], new: &[u8]) -> Found {
    let Some((stamp, rest)) = last_stamp(old) else {
        return Found::Apart;
    };
    let mut from = 0;
    while let Some(psb) = find_psb(new, from) {
        if let Some((other, other_rest)) = stamp_at(new, psb) {
            if other == stamp && other_rest >= rest {
                return Found::Behind(new.len() - (other_rest - rest));
            }
            if is_before(stamp, other) {
                return Found::Apart;
            }
        }
        from = psb + PSB.len();
    }
    Found::Old
}

/// The time stamp of the last PSB that has one complete, or of the one before it; with the bytes from there to the end.
fn last_stamp(trace: &[u8]) -> Option<(u64, usize)> {
    let last = last_psb(trace)?;
    let cut = || last_psb(&trace[..last]).and_then(|psb| stamp_at(&trace[..last], psb));
    stamp_at(trace, last).or_else(cut)
}

fn last_psb(trace: &[u8]) -> Option<usize> {
    let mut found = find_psb(trace, 0)?;
    while let Some(next) = find_psb(trace, found + PSB.len()) {
        found = next;
    }
    Some(found)
}

/// The first TSC from a PSB on, not beyond its PSBEND; and the bytes from it to the end.
fn stamp_at(trace: &[u8], psb: usize) -> Option<(u64, usize)> {
    let mut packets = PacketReader::new(trace);
    packets.seek(psb);
    loop {
        let rest = packets.rest().len();
        match packets.next()?.ok()? {
            Packet::Tsc(tsc) => return Some((tsc, rest)),
            Packet::PsbEnd => return None,
            _ => {}
        }
    }
}

/// True when a time stamp of 56 bits is before another; they wrap around.
fn is_before(a: u64, b: u64) -> bool {
    const HALF: u64 = 1 << 55;
    a != b && (a < b) == (a.abs_diff(b) < HALF)
}

fn by_bytes(old: &[u8], new: &[u8]) -> Found {
    let mut from = 0;
    while let Some(psb) = find_psb(old, from) {
        let rest = &old[psb..];
        if new.starts_with(rest) {
            return Found::Behind(rest.len());
        }
        from = psb + PSB.len();
    }
    Found::Apart
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A PSB with a time stamp and some TNT packets, each different from the others.
    fn piece(tsc: u8, tnt: &[u8]) -> Vec<u8> {
        [&PSB[..], &[0x19, tsc, 0, 0, 0, 0, 0, 0, 0x02, 0x23], tnt].concat()
    }

    fn found_part(old: &[u8], new: &[u8], has_tsc: bool) -> (Vec<u8>, bool) {
        let found = super::new_part(old, new, has_tsc);
        (new[found.start..].to_vec(), found.consecutive)
    }

    #[test]
    fn the_part_behind_the_common_one_is_new() {
        let old = [piece(1, &[6, 10, 12]), piece(2, &[14, 18, 20])].concat();
        let new = [piece(2, &[14, 18, 20, 22, 24]), piece(3, &[6])].concat();
        let expected = ([&[22, 24][..], &piece(3, &[6])].concat(), true);
        for has_tsc in [true, false] {
            assert_eq!(found_part(&old, &new, has_tsc), expected);
        }
    }

    #[test]
    fn padding_at_the_end_of_the_old_is_not_counted() {
        let old = piece(2, &[14, 18, 20, 0, 0, 0]);
        let new = piece(2, &[14, 18, 20, 22, 24, 26, 28]);
        assert_eq!(found_part(&old, &new, true), (vec![22, 24, 26, 28], true));
    }

    #[test]
    fn later_trace_is_all_new_and_older_trace_is_none() {
        let (early, late) = (piece(1, &[6]), piece(9, &[10]));
        assert_eq!(found_part(&early, &late, true), (late.clone(), false));
        assert_eq!(found_part(&late, &early, true), (vec![], false));
        assert_eq!(found_part(&late, &early, false), (early.clone(), false));
    }

    #[test]
    fn a_buffer_counts_from_its_first_psb() {
        let new = [&[6, 10][..], &piece(9, &[10])].concat();
        assert_eq!(
            found_part(&piece(1, &[]), &new, true),
            (piece(9, &[10]), false)
        );
        assert_eq!(found_part(&[6, 10], &new, true), (piece(9, &[10]), false));
        assert_eq!(found_part(&piece(1, &[]), &[6, 10], true), (vec![], false));
    }

    #[test]
    fn a_cut_psb_sends_back_to_the_one_before() {
        let old = [piece(1, &[6, 10]), PSB.to_vec()].concat();
        let new = piece(1, &[6, 10, 12]);
        // The bytes that the cut PSB takes in the old buffer are not those of the new one.
        assert!(super::new_part(&old, &new, true).consecutive);
    }

    #[test]
    fn time_stamps_wrap() {
        assert!(is_before(1, 2) && !is_before(2, 1) && !is_before(2, 2));
        assert!(is_before((1 << 56) - 1, 1));
    }
}
