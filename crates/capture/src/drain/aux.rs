//! The trace of hardware on its way from an AUX area to an output.

use oxperf_data::WriteError;
use oxperf_sys::AuxRing;

/// Trace that waited in an AUX area.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TracePiece<'a> {
    /// Position of the first byte in the whole trace.
    pub position: u64,
    /// The trace, oldest byte first: two pieces, the second of which is empty unless the trace lies around the end of the
    /// area.
    pub bytes: [&'a [u8]; 2],
}

/// The output of traces.
pub trait TraceOutput {
    /// Takes the next piece of the trace of one area.
    ///
    /// # Errors
    /// The output refuses; what it took before can be read.
    fn trace(&mut self, piece: TracePiece<'_>) -> Result<(), WriteError>;
}

/// Moves the trace that an area holds and gives its memory back. Returns how many bytes these were.
///
/// # Errors
/// The output refuses; the trace stays in the area.
pub fn move_trace(ring: &mut AuxRing, output: &mut impl TraceOutput) -> Result<u64, WriteError> {
    let (first, second) = ring.available();
    let length = first.len() + second.len();
    if length == 0 {
        return Ok(0);
    }
    output.trace(TracePiece {
        position: ring.position(),
        bytes: [first, second],
    })?;
    ring.consume(length);
    Ok(length as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxperf_abi::EventAttr;
    use oxperf_sys::{AuxPages, EventTask, FakeKernel, Kernel, OpenRequest, RingPages};

    /// All of a trace, piece after piece.
    #[derive(Default)]
    struct Whole {
        bytes: Vec<u8>,
        pieces: usize,
    }

    impl TraceOutput for Whole {
        fn trace(&mut self, piece: TracePiece<'_>) -> Result<(), WriteError> {
            assert_eq!(piece.position, self.bytes.len() as u64);
            self.bytes.extend(piece.bytes.concat());
            self.pieces += 1;
            Ok(())
        }
    }

    #[test]
    fn a_trace_longer_than_its_area_is_moved_whole() {
        let kernel = FakeKernel::new().with_aux();
        let attr = EventAttr::default();
        let request = OpenRequest::new(&attr, EventTask::Caller);
        let event = kernel.open(&request).unwrap();
        let page = RingPages::new(1).unwrap();
        let pages = AuxPages {
            data: page,
            aux: page,
        };
        let (_records, mut ring) = kernel.map_aux(&event, pages).unwrap();
        let trace: Vec<u8> = (0..3 * ring.size() + 7).map(|at| at as u8).collect();
        let mut whole = Whole::default();
        let mut moved = 0;
        for piece in trace.chunks(1000) {
            assert!(kernel.write_aux(0, piece));
            moved += move_trace(&mut ring, &mut whole).unwrap();
        }
        assert_eq!(move_trace(&mut ring, &mut whole).unwrap(), 0);
        assert_eq!(moved, trace.len() as u64);
        assert_eq!(whole.pieces, trace.len().div_ceil(1000));
        assert_eq!(whole.bytes, trace);
    }
}
