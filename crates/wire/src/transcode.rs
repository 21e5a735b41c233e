//! The body of a record once more, in another byte order.

use std::ops::RangeInclusive;

use oxperf_abi::{Misc, RecordType};

use crate::{Cursor, Encoder, Endian, Sample, SampleLayout, WireError, kernel, user};

/// The reason why a body cannot be written in another byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TranscodeError {
    /// It does not hold what its kind needs.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// Records of this kind cannot be decoded here.
    #[error("records of kind {} are not known", .0.0)]
    Unknown(RecordType),
}

/// The body of a record with what is needed to read it.
#[derive(Clone, Copy, Debug)]
pub struct RecordBody<'a> {
    /// Kind of the record.
    pub kind: RecordType,
    /// Its flags.
    pub misc: Misc,
    /// The bytes behind its header.
    pub bytes: &'a [u8],
    /// Their byte order.
    pub endian: Endian,
    /// The shape of its event's records.
    pub layout: &'a SampleLayout,
}

impl RecordBody<'_> {
    /// Appends the body in the byte order of `out`, in the size that it had where that is possible. `reorder` gets
    /// the raw data of a sample, which only the event knows how to read.
    ///
    /// # Errors
    /// The body cannot be decoded, or its kind is not known; then `out` may hold a part of it.
    pub fn transcode(
        &self,
        out: &mut Encoder,
        reorder: impl FnOnce(&mut [u8]),
    ) -> Result<(), TranscodeError> {
        if self.kind == RecordType::SAMPLE {
            return Ok(self.transcode_sample(out, reorder)?);
        }
        if self.kind.is_user() {
            return padded(out, self.bytes.len(), |out| {
                user::transcode(self, &mut Cursor::new(self.bytes, self.endian), out)
            });
        }
        let (start, size) = (
            out.len(),
            self.bytes.len().saturating_sub(self.layout.trailer_size()),
        );
        let content = &self.bytes[..size];
        let written = |out: &mut Encoder, content: &[u8]| {
            padded(out, size, |out| {
                kernel::transcode(self, &mut Cursor::new(content, self.endian), out)
            })
        };
        match written(out, content) {
            // Some kernels write a mapping without a name as one without even its NUL.
            Err(TranscodeError::Wire(WireError::UnterminatedString { .. })) => {
                out.truncate(start);
                written(out, &[content, &[0; 8]].concat())?;
            }
            outcome => outcome?,
        }
        let id = self.layout.sample_id(self.bytes, self.endian);
        self.layout.encode_sample_id(&id, out);
        Ok(())
    }

    fn transcode_sample(
        &self,
        out: &mut Encoder,
        reorder: impl FnOnce(&mut [u8]),
    ) -> Result<(), WireError> {
        let mut cursor = Cursor::new(self.bytes, self.endian);
        let mut sample = Sample::default();
        sample.decode(self.layout, &mut cursor)?;
        let mut raw = sample.raw.map(<[u8]>::to_vec);
        if let Some(raw) = &mut raw {
            reorder(raw);
        }
        sample.raw = raw.as_deref();
        sample.encode(self.layout, out);
        // What newer kernels append are words.
        while let Ok(word) = cursor.u64() {
            out.u64(word);
        }
        out.bytes(cursor.rest());
        Ok(())
    }
}

/// Fewest and most bytes of the body of a record, the trailer included; `None` for a kind that [`RecordBody::transcode`]
/// does not know, for a sample and for compressed records.
pub fn body_sizes(kind: RecordType) -> Option<RangeInclusive<u32>> {
    if kind.is_user() {
        user::body_sizes(kind)
    } else {
        kernel::body_sizes(kind)
    }
}

/// Fills what `write` appends with NULs up to `size` bytes: recorders pad names to more than is needed, and the
/// trailer is found from the end.
fn padded(
    out: &mut Encoder,
    size: usize,
    write: impl FnOnce(&mut Encoder) -> Result<(), TranscodeError>,
) -> Result<(), TranscodeError> {
    let end = out.len() + size;
    write(out)?;
    out.bytes(&vec![0; end.saturating_sub(out.len())]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use oxperf_abi::{AttrFlags, EventAttr, EventId, PerfTime, Pid, SampleType, Tid};

    use super::*;
    use crate::SampleId;
    use crate::kernel::Comm;
    use crate::user::Stat;

    fn layout() -> SampleLayout {
        SampleLayout::new(&EventAttr {
            sample_type: SampleType::TIME | SampleType::RAW,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..EventAttr::default()
        })
    }

    /// Goes from big to little and back; gives the little-endian bytes.
    fn there_and_back(kind: RecordType, big: &[u8]) -> Vec<u8> {
        let layout = layout();
        let body = |bytes, endian| RecordBody {
            kind,
            misc: Misc(0),
            bytes,
            endian,
            layout: &layout,
        };
        let mut little = Encoder::new(Endian::Little);
        body(big, Endian::Big)
            .transcode(&mut little, <[u8]>::reverse)
            .unwrap();
        let mut again = Encoder::new(Endian::Big);
        body(little.as_bytes(), Endian::Little)
            .transcode(&mut again, <[u8]>::reverse)
            .unwrap();
        assert_eq!(again.as_bytes(), big, "{kind:?}");
        little.into_bytes()
    }

    #[test]
    fn names_keep_their_padding_and_trailers_their_place() {
        let mut big = Encoder::new(Endian::Big);
        Comm {
            pid: Pid(1),
            tid: Tid(2),
            comm: b"make",
        }
        .encode(&mut big);
        big.bytes(&[0; 48]);
        layout().encode_sample_id(
            &SampleId {
                time: Some(PerfTime(99)),
                ..SampleId::default()
            },
            &mut big,
        );
        let little = there_and_back(RecordType::COMM, big.as_bytes());
        assert_eq!(little.len(), big.len());
        assert_eq!(
            layout().sample_id(&little, Endian::Little).time,
            Some(PerfTime(99))
        );
    }

    #[test]
    fn a_name_without_its_end_gets_one() {
        let mut big = Encoder::new(Endian::Big);
        [1, 2].into_iter().for_each(|id| big.i32(id));
        layout().encode_sample_id(
            &SampleId {
                time: Some(PerfTime(99)),
                ..SampleId::default()
            },
            &mut big,
        );
        let layout = layout();
        let body = RecordBody {
            kind: RecordType::COMM,
            misc: Misc(0),
            bytes: big.as_bytes(),
            endian: Endian::Big,
            layout: &layout,
        };
        let mut little = Encoder::new(Endian::Little);
        body.transcode(&mut little, |_| ()).unwrap();
        let comm = Comm::decode(&mut Cursor::new(little.as_bytes(), Endian::Little));
        assert_eq!(
            comm,
            Ok(Comm {
                pid: Pid(1),
                tid: Tid(2),
                comm: b""
            })
        );
        assert_eq!(
            layout.sample_id(little.as_bytes(), Endian::Little).time,
            Some(PerfTime(99))
        );
    }

    #[test]
    fn raw_data_are_left_to_the_caller() {
        let mut big = Encoder::new(Endian::Big);
        big.u64(55);
        big.u32(4);
        big.bytes(&[1, 2, 3, 4]);
        let little = there_and_back(RecordType::SAMPLE, big.as_bytes());
        assert_eq!(little, [55, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 4, 3, 2, 1]);
    }

    #[test]
    fn tools_records_have_no_trailer() {
        let mut big = Encoder::new(Endian::Big);
        let stat = Stat {
            id: EventId(5),
            cpu: 1,
            thread: 2,
            value: 3,
            enabled: 4,
            running: 5,
        };
        stat.encode(&mut big);
        let little = there_and_back(RecordType::STAT, big.as_bytes());
        assert_eq!(
            Stat::decode(&mut Cursor::new(&little, Endian::Little)),
            Ok(stat)
        );
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let layout = layout();
        for (kind, bytes) in [
            (RecordType(99), &[0; 16][..]),
            (RecordType::EVENT_UPDATE, &[0xff; 16]),
        ] {
            let body = RecordBody {
                kind,
                misc: Misc(0),
                bytes,
                endian: Endian::Big,
                layout: &layout,
            };
            let refused = body.transcode(&mut Encoder::new(Endian::Little), |_| ());
            assert_eq!(refused, Err(TranscodeError::Unknown(kind)));
        }
        let cut = RecordBody {
            kind: RecordType::COMM,
            misc: Misc(0),
            bytes: &[0; 8],
            endian: Endian::Big,
            layout: &layout,
        };
        assert!(matches!(
            cut.transcode(&mut Encoder::new(Endian::Little), |_| ()),
            Err(TranscodeError::Wire(_))
        ));
    }
}
