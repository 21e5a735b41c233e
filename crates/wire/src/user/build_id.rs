//! The build id of a file: a pipe's record, and an entry of the build-id feature.

use oxperf_abi::{BuildId, Misc, Pid};

use crate::{Cursor, Encoder, WireError};

/// HEADER_BUILD_ID: which build id a file had when it was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildIdRecord<'a> {
    /// -1 for the host kernel, 0 for the default guest.
    pub pid: Pid,
    /// The id; `None` when the record holds an empty one.
    pub build_id: Option<BuildId>,
    /// Path, or a name such as `[kernel.kallsyms]`.
    pub filename: &'a [u8],
}

impl<'a> BuildIdRecord<'a> {
    /// Decodes the body; without [`Misc::BUILD_ID_SIZE`] the id has 20 bytes.
    pub fn decode(misc: Misc, cursor: &mut Cursor<'a>) -> Result<BuildIdRecord<'a>, WireError> {
        let pid = Pid(cursor.i32()?);
        let bytes = cursor.bytes(20)?;
        let stated = usize::from(cursor.u8()?);
        cursor.bytes(3)?;
        let size = if misc.has(Misc::BUILD_ID_SIZE) {
            stated.min(20)
        } else {
            20
        };
        let rest = cursor.rest();
        let end = rest
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(rest.len());
        Ok(BuildIdRecord {
            pid,
            build_id: BuildId::new(&bytes[..size]),
            filename: &rest[..end],
        })
    }

    /// Appends the body; its header needs [`Misc::BUILD_ID_SIZE`].
    pub fn encode(&self, encoder: &mut Encoder) {
        encoder.i32(self.pid.0);
        encoder.bytes(
            self.build_id
                .as_ref()
                .map_or(&[0; 20][..], |id| id.padded()),
        );
        encoder.u8(self.build_id.map_or(0, |id| id.as_bytes().len() as u8));
        encoder.bytes(&[0; 3]);
        encoder.c_string_padded(self.filename);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Endian;

    #[test]
    fn round_trips_and_falls_back_to_twenty_bytes() {
        let record = BuildIdRecord {
            pid: Pid(-1),
            build_id: BuildId::new(&[5; 8]),
            filename: b"[kernel.kallsyms]",
        };
        let mut body = Encoder::new(Endian::Little);
        record.encode(&mut body);
        let decode = |misc| {
            BuildIdRecord::decode(misc, &mut Cursor::new(body.as_bytes(), Endian::Little)).unwrap()
        };
        assert_eq!(decode(Misc(Misc::BUILD_ID_SIZE)), record);
        assert_eq!(decode(Misc(0)).build_id.unwrap().as_bytes().len(), 20);
    }
}
