//! One framed record, whoever holds its bytes.

use oxperf_abi::FileOffset;
use oxperf_wire::RecordHeader;

use super::BufferedBytes;

/// One record as it stands in the file, with its bytes in whatever way they are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Framed<B> {
    /// Offset of its header; for a record that was compressed, where the record that held it begins.
    pub offset: FileOffset,
    /// Its header.
    pub header: RecordHeader,
    /// The bytes that the header's size covers, without the header.
    pub body: B,
    /// The bytes outside of the header's size: tracing data of HEADER_TRACING_DATA, trace of AUXTRACE. Empty for all
    /// others.
    pub payload: B,
}

/// One record, borrowed.
pub type RawRecord<'a> = Framed<&'a [u8]>;

impl<B: AsRef<[u8]>> Framed<B> {
    /// The record, borrowed from whoever holds it.
    #[inline]
    pub fn as_raw(&self) -> RawRecord<'_> {
        let (body, payload) = (self.body.as_ref(), self.payload.as_ref());
        Framed {
            offset: self.offset,
            header: self.header,
            body,
            payload,
        }
    }
}

impl<'a> From<RawRecord<'a>> for Framed<BufferedBytes<'a>> {
    fn from(raw: RawRecord<'a>) -> Framed<BufferedBytes<'a>> {
        let Framed {
            offset,
            header,
            body,
            payload,
        } = raw;
        Framed {
            offset,
            header,
            body: BufferedBytes::borrowed(body),
            payload: BufferedBytes::borrowed(payload),
        }
    }
}
