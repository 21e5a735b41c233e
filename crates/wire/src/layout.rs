//! Positions of the fields of an event's records: worked out once from its attribute.

use oxperf_abi::{
    AttrFlags, BranchSampleType, Cpu, EventAttr, EventId, PerfTime, Pid, ReadFormat, SampleType,
    Tid,
};

use crate::{Cursor, Encoder, Endian, Sample, SampleId, WireError};

/// The part of an attribute that decides the shape of its records, with the places of the fields that ordering
/// needs before anything else is decoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SampleLayout {
    pub(crate) sample_type: SampleType,
    pub(crate) read_format: ReadFormat,
    pub(crate) branch_sample_type: BranchSampleType,
    pub(crate) regs_user: u64,
    pub(crate) regs_intr: u64,
    pub(crate) sample_id_all: bool,
    /// The value of [`SampleLayout::head_size`]::head_size`] says: it is asked for with each sample.
    pub(crate) head_size: usize,
}

/// The fields of the trailer, in its order.
const TRAILER: [SampleType; 6] = [
    SampleType::TID,
    SampleType::TIME,
    SampleType::ID,
    SampleType::STREAM_ID,
    SampleType::CPU,
    SampleType::IDENTIFIER,
];

/// The fields at a sample's start, a word each.
const HEAD: SampleType = SampleType(
    SampleType::IDENTIFIER.0
        | SampleType::IP.0
        | SampleType::TID.0
        | SampleType::TIME.0
        | SampleType::ADDR.0
        | SampleType::ID.0
        | SampleType::STREAM_ID.0
        | SampleType::CPU.0
        | SampleType::PERIOD.0,
);

impl SampleLayout {
    /// The layout of the records of an event.
    pub fn new(attr: &EventAttr) -> SampleLayout {
        SampleLayout {
            sample_type: attr.sample_type,
            read_format: attr.read_format,
            branch_sample_type: attr.branch_sample_type,
            regs_user: attr.sample_regs_user,
            regs_intr: attr.sample_regs_intr,
            sample_id_all: attr.flags.contains(AttrFlags::SAMPLE_ID_ALL),
            head_size: 8 * (attr.sample_type.0 & HEAD.0).count_ones() as usize,
        }
    }

    /// The fields of a sample.
    pub fn sample_type(&self) -> SampleType {
        self.sample_type
    }

    /// Returns whether records other than samples carry a trailer.
    pub fn sample_id_all(&self) -> bool {
        self.sample_id_all
    }

    /// The word of a sample's body that holds the event id.
    #[inline]
    pub fn sample_id_word(&self) -> Option<usize> {
        if self.sample_type.contains(SampleType::IDENTIFIER) {
            return Some(0);
        }
        let before = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::ADDR;
        self.sample_type
            .contains(SampleType::ID)
            .then(|| self.count(before))
    }

    /// The word of a sample's body that holds the time.
    #[inline]
    pub fn sample_time_word(&self) -> Option<usize> {
        let before = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID;
        self.sample_type
            .contains(SampleType::TIME)
            .then(|| self.count(before))
    }

    /// The word that holds the event id in other records, counted from the end: 1 is the last.
    #[inline]
    pub fn trailer_id_word(&self) -> Option<usize> {
        if self.sample_type.contains(SampleType::IDENTIFIER) {
            return Some(1);
        }
        let after = SampleType::STREAM_ID | SampleType::CPU;
        self.sample_type
            .contains(SampleType::ID)
            .then(|| 1 + self.count(after))
    }

    /// The word that holds the time in other records, counted from the end.
    #[inline]
    pub fn trailer_time_word(&self) -> Option<usize> {
        let after =
            SampleType::ID | SampleType::STREAM_ID | SampleType::CPU | SampleType::IDENTIFIER;
        (self.sample_id_all && self.sample_type.contains(SampleType::TIME))
            .then(|| 1 + self.count(after))
    }

    #[inline]
    fn count(&self, fields: SampleType) -> usize {
        (self.sample_type.0 & fields.0).count_ones() as usize
    }

    /// Bytes of the trailer; 0 without `sample_id_all`.
    #[inline]
    pub fn trailer_size(&self) -> usize {
        let fields = TRAILER
            .iter()
            .fold(SampleType::EMPTY, |all, field| all | *field);
        if self.sample_id_all {
            8 * self.count(fields)
        } else {
            0
        }
    }

    /// Decodes the body of a sample.
    pub fn decode_sample<'a>(
        &self,
        body: &'a [u8],
        endian: Endian,
    ) -> Result<Sample<'a>, WireError> {
        let mut sample = Sample::default();
        self.decode_into(&mut sample, body, endian)?;
        Ok(sample)
    }

    /// Decodes the body of a sample to where it is wanted: a sample is large, and millions are read.
    #[inline]
    pub fn decode_into<'a>(
        &self,
        sample: &mut Sample<'a>,
        body: &'a [u8],
        endian: Endian,
    ) -> Result<(), WireError> {
        sample.decode(self, &mut Cursor::new(body, endian))
    }

    /// Appends the body of a sample; a field that is `None` becomes zero or empty.
    pub fn encode_sample(&self, sample: &Sample<'_>, encoder: &mut Encoder) {
        sample.encode(self, encoder);
    }

    /// Bytes of the fields at a sample's start: those that say who, when and where, and the period.
    pub fn head_size(&self) -> usize {
        self.head_size
    }

    /// Decodes these fields alone.
    pub fn decode_head_into<'a>(
        &self,
        sample: &mut Sample<'a>,
        body: &'a [u8],
        endian: Endian,
    ) -> Result<(), WireError> {
        let head = SampleLayout {
            sample_type: SampleType(self.sample_type.0 & HEAD.0),
            ..*self
        };
        head.decode_into(sample, body, endian)
    }

    /// Decodes the trailer at the end of another record's body; without a trailer every field is `None`.
    pub fn sample_id(&self, body: &[u8], endian: Endian) -> SampleId {
        let Some(start) = body.len().checked_sub(self.trailer_size()) else {
            return SampleId::default();
        };
        self.decode_trailer(&mut Cursor::new(&body[start..], endian))
            .unwrap_or_default()
    }

    fn decode_trailer(&self, cursor: &mut Cursor<'_>) -> Result<SampleId, WireError> {
        let mut id = SampleId::default();
        if !self.sample_id_all {
            return Ok(id);
        }
        for field in TRAILER {
            if !self.sample_type.contains(field) {
                continue;
            }
            match field {
                SampleType::TID => {
                    id.pid = Some(Pid(cursor.i32()?));
                    id.tid = Some(Tid(cursor.i32()?));
                }
                SampleType::TIME => id.time = Some(PerfTime(cursor.u64()?)),
                SampleType::STREAM_ID => id.stream_id = Some(cursor.u64()?),
                SampleType::CPU => {
                    id.cpu = Some(Cpu(cursor.u32()?));
                    cursor.u32()?;
                }
                _ => id.id = Some(EventId(cursor.u64()?)),
            }
        }
        Ok(id)
    }

    /// Appends the trailer; a field that is `None` becomes zero.
    pub fn encode_sample_id(&self, id: &SampleId, encoder: &mut Encoder) {
        if !self.sample_id_all {
            return;
        }
        for field in TRAILER {
            if !self.sample_type.contains(field) {
                continue;
            }
            match field {
                SampleType::TID => {
                    encoder.i32(id.pid.unwrap_or_default().0);
                    encoder.i32(id.tid.unwrap_or_default().0);
                }
                SampleType::TIME => encoder.u64(id.time.unwrap_or_default().0),
                SampleType::STREAM_ID => encoder.u64(id.stream_id.unwrap_or_default()),
                SampleType::CPU => {
                    encoder.u32(id.cpu.unwrap_or_default().0);
                    encoder.u32(0);
                }
                _ => encoder.u64(id.id.unwrap_or_default().0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(sample_type: SampleType) -> SampleLayout {
        SampleLayout::new(&EventAttr {
            sample_type,
            flags: AttrFlags::SAMPLE_ID_ALL,
            ..EventAttr::default()
        })
    }

    #[test]
    fn trailer_round_trips() {
        let layout = layout(SampleType::TID | SampleType::TIME | SampleType::ID | SampleType::CPU);
        let id = SampleId {
            pid: Some(Pid(3)),
            tid: Some(Tid(4)),
            time: Some(PerfTime(99)),
            id: Some(EventId(12)),
            stream_id: None,
            cpu: Some(Cpu(1)),
        };
        for endian in [Endian::Little, Endian::Big] {
            let mut encoder = Encoder::new(endian);
            encoder.u64(77);
            layout.encode_sample_id(&id, &mut encoder);
            assert_eq!(encoder.len(), 8 + layout.trailer_size());
            assert_eq!(layout.sample_id(encoder.as_bytes(), endian), id);
        }
    }

    #[test]
    fn id_and_time_are_found_without_decoding() {
        let layout = layout(
            SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::ID | SampleType::CPU,
        );
        assert_eq!(layout.sample_id_word(), Some(3));
        assert_eq!(layout.sample_time_word(), Some(2));
        assert_eq!(layout.trailer_id_word(), Some(2));
        assert_eq!(layout.trailer_time_word(), Some(3));
    }

    #[test]
    fn the_head_of_a_sample_is_decoded_alone() {
        let head = SampleType::IDENTIFIER | SampleType::IP | SampleType::TID | SampleType::PERIOD;
        let layout = layout(head | SampleType::STACK_USER | SampleType::WEIGHT);
        let mut body = Encoder::new(Endian::Little);
        for word in [5, 0x401000, 8 << 32 | 7, 4000, 8, 0xabcd, 8, 99] {
            body.u64(word);
        }
        let whole = layout
            .decode_sample(body.as_bytes(), Endian::Little)
            .unwrap();
        assert_eq!(layout.head_size(), 32);
        let mut cut = Sample::default();
        layout
            .decode_head_into(&mut cut, &body.as_bytes()[..32], Endian::Little)
            .unwrap();
        assert_eq!(
            cut,
            Sample {
                stack_user: None,
                weight: None,
                ..whole
            }
        );
        assert_eq!(
            (cut.ip, cut.tid, cut.period),
            (Some(0x401000), Some(Tid(8)), Some(4000))
        );
    }

    #[test]
    fn a_record_shorter_than_its_trailer_has_no_identity() {
        assert_eq!(
            layout(SampleType::TID | SampleType::TIME).sample_id(&[0; 8], Endian::Little),
            SampleId::default()
        );
    }
}
