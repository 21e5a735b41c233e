//! The sizes of the areas where a trace waits, and of the pieces that are taken from them.

use oxperf_sys::process;

use super::TraceError;
use super::setup::TraceKept;
use crate::notice::{Notice, Observer};
use crate::options::AuxOptions;

/// An area where the user names none, and this process may have as much as it likes.
const USUAL_AREA: usize = 4 << 20;
/// The same for a process that shares an allowance with others of its user.
const MODEST_AREA: usize = 128 << 10;
/// The ring of records beside it.
const MODEST_RING: usize = 256 << 10;
/// Bytes behind a PSB packet that a decoder needs with it.
const PSB_AND_WHAT_FOLLOWS: u64 = 256;

/// What decides sizes.
pub(super) struct SizeFacts<'a> {
    pub(super) options: &'a AuxOptions,
    /// The sizes of the pieces in samples, if there are such.
    pub(super) samples: Vec<u32>,
    /// Bytes of trace between two PSB packets, from which alone a decoder can begin.
    pub(super) psb_bytes: u64,
    /// Nothing limits the memory of this process.
    pub(super) privileged: bool,
}

/// Sizes of a ring and its area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TraceSizes {
    /// Bytes of an area.
    pub(super) area: usize,
    /// Pages of the ring of records, unless the user names some.
    pub(super) ring_pages: Option<usize>,
    pub(super) kept: TraceKept,
}

impl SizeFacts<'_> {
    /// Chooses all sizes, and says where a piece may be too small to be decoded.
    ///
    /// # Errors
    /// Sizes that do not fit each other or the hardware.
    pub(super) fn choose(&self, observer: &mut dyn Observer) -> Result<TraceSizes, TraceError> {
        let asked = self.options.area_pages.map(bytes_of);
        let area = asked.unwrap_or_else(|| self.usual_area());
        let kept = self.kept(area, observer)?;
        let least = match kept {
            TraceKept::Whole => 8 << 10,
            TraceKept::Newest { .. } | TraceKept::InSamples => 4 << 10,
        };
        if area < least || !area.is_power_of_two() {
            return Err(TraceError::Area { least: least >> 10 });
        }
        let modest = asked.is_none() && !self.privileged;
        Ok(TraceSizes {
            area,
            ring_pages: modest.then_some(MODEST_RING / process::page_size()),
            kept,
        })
    }

    fn usual_area(&self) -> usize {
        let piece = match self.options.snapshot {
            Some(snapshot) => snapshot.size,
            None => self.samples.iter().max().map(|size| *size as usize),
        };
        match piece.filter(|bytes| *bytes > 0) {
            Some(bytes) => whole_pages(bytes),
            None if self.privileged => USUAL_AREA,
            None => MODEST_AREA,
        }
    }

    fn kept(&self, area: usize, observer: &mut dyn Observer) -> Result<TraceKept, TraceError> {
        if let Some(snapshot) = self.options.snapshot {
            let size = snapshot.size.filter(|bytes| *bytes > 0).unwrap_or(area);
            if size > area && self.options.area_pages.is_some() {
                return Err(TraceError::SnapshotSize { size, area });
            }
            observer.notice(Notice::SnapshotSize { bytes: size });
            self.warn("snapshot", size as u64, observer);
            return Ok(TraceKept::Newest {
                size,
                at_exit: snapshot.at_exit,
            });
        }
        let (Some(least), Some(most)) = (self.samples.iter().min(), self.samples.iter().max())
        else {
            return Ok(TraceKept::Whole);
        };
        let (least, most) = (*least as usize, *most as usize);
        if most > area {
            return Err(TraceError::SampleSize { size: most, area });
        }
        observer.notice(Notice::TraceSampleSizes { least, most });
        self.warn("sample", least as u64, observer);
        Ok(TraceKept::InSamples)
    }

    /// A piece without a PSB packet cannot be decoded.
    fn warn(&self, piece: &'static str, bytes: u64, observer: &mut dyn Observer) {
        let period = self.psb_bytes;
        if bytes <= period.saturating_add(PSB_AND_WHAT_FOLLOWS) {
            observer.notice(Notice::TracePieceSmall {
                piece,
                bytes,
                period,
            });
        }
    }
}

fn bytes_of(pages: usize) -> usize {
    pages.saturating_mul(process::page_size())
}

/// The next power of two of whole pages; what is larger than memory is refused when it is mapped.
fn whole_pages(bytes: usize) -> usize {
    let bytes = bytes.max(process::page_size());
    bytes.checked_next_power_of_two().unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SnapshotOptions;

    fn facts(options: &AuxOptions) -> SizeFacts<'_> {
        SizeFacts {
            options,
            samples: Vec::new(),
            psb_bytes: 2048,
            privileged: true,
        }
    }

    fn snapshot(size: Option<usize>, area_pages: Option<usize>) -> AuxOptions {
        AuxOptions {
            snapshot: Some(SnapshotOptions {
                size,
                at_exit: false,
            }),
            area_pages,
            ..AuxOptions::default()
        }
    }

    fn chosen(facts: &SizeFacts<'_>) -> (Result<TraceSizes, TraceError>, Vec<Notice>) {
        let mut notices = Vec::new();
        let chosen = facts.choose(&mut notices);
        (chosen, notices)
    }

    fn area(options: &AuxOptions) -> Result<usize, TraceError> {
        chosen(&facts(options)).0.map(|sizes| sizes.area)
    }

    #[test]
    fn a_whole_trace_waits_in_what_this_process_may_have() {
        let options = AuxOptions::default();
        assert_eq!(area(&options), Ok(4 << 20));
        let modest = SizeFacts {
            privileged: false,
            ..facts(&options)
        };
        let sizes = chosen(&modest).0.unwrap();
        assert_eq!((sizes.area, sizes.ring_pages), (128 << 10, Some(64)));
        let page = AuxOptions {
            area_pages: Some(1),
            ..options
        };
        assert_eq!(area(&page), Err(TraceError::Area { least: 8 }));
    }

    #[test]
    fn an_area_holds_a_snapshot() {
        assert_eq!(area(&snapshot(None, None)), Ok(4 << 20));
        assert_eq!(area(&snapshot(Some(4097), None)), Ok(8192));
        assert_eq!(area(&snapshot(Some(8192), Some(1024))), Ok(4 << 20));
        let (size, area_size) = (8192, 4096);
        let refused = TraceError::SnapshotSize {
            size,
            area: area_size,
        };
        assert_eq!(area(&snapshot(Some(size), Some(1))), Err(refused));
        let (sizes, notices) = chosen(&facts(&snapshot(Some(2304), None)));
        let kept = TraceKept::Newest {
            size: 2304,
            at_exit: false,
        };
        assert_eq!(sizes.unwrap().kept, kept);
        assert!(matches!(
            notices[1],
            Notice::TracePieceSmall { bytes: 2304, .. }
        ));
    }

    #[test]
    fn an_area_holds_the_largest_sample() {
        let options = AuxOptions::default();
        let samples = SizeFacts {
            samples: vec![100, 61440],
            ..facts(&options)
        };
        let (sizes, notices) = chosen(&samples);
        let sizes = sizes.unwrap();
        assert_eq!((sizes.area, sizes.kept), (65536, TraceKept::InSamples));
        assert!(matches!(
            notices[1],
            Notice::TracePieceSmall { bytes: 100, .. }
        ));
    }
}
