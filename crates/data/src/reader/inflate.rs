//! The decompressor of one writer's records.

use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// Decompresses piece by piece. One stream runs through all compressed records of a writer.
pub(super) struct Inflate {
    decoder: Decoder<'static>,
}

/// The bytes cannot be decompressed, and nothing of this stream after them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Broken;

/// The outcome of one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    /// Bytes of the input that are done with.
    pub(super) consumed: usize,
    /// Bytes that were appended.
    pub(super) produced: usize,
}

impl Inflate {
    pub(super) fn new() -> Result<Inflate, Broken> {
        Decoder::new()
            .map(|decoder| Inflate { decoder })
            .map_err(|_| Broken)
    }

    /// Appends up to `room` decompressed bytes to `out`.
    pub(super) fn step(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<Step, Broken> {
        let start = out.len();
        out.resize(start + room, 0);
        let mut source = InBuffer::around(input);
        let mut target = OutBuffer::around_pos(out.as_mut_slice(), start);
        let outcome = self.decoder.run(&mut source, &mut target);
        let (consumed, end) = (source.pos(), target.pos());
        out.truncate(end);
        outcome.map_err(|_| Broken)?;
        Ok(Step {
            consumed,
            produced: end - start,
        })
    }
}

impl std::fmt::Debug for Inflate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Inflate")
    }
}
