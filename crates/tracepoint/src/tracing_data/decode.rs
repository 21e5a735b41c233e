//! Bytes to tracing data. Every length is checked against what is there before anything is copied.

use super::{MARK, SystemFormat, TracingData};
use crate::bytes::{ByteOrder, WordSize, part, until_nul};
use crate::error::TracepointError;

impl TracingData {
    /// Reads a section's bytes; what follows the last text is ignored.
    ///
    /// # Errors
    /// The mark or a label is missing, a length points outside, or order and word have no meaning.
    pub fn decode(bytes: &[u8]) -> Result<TracingData, TracepointError> {
        let mut reader = Reader {
            bytes,
            at: 0,
            order: ByteOrder::NATIVE,
        };
        if reader.take(MARK.len(), "the mark")? != MARK {
            return Err(TracepointError::Magic);
        }
        let has_cmdlines = version(reader.name("the version")?) >= (0, 6);
        reader.order = reader.byte_order()?;
        Ok(TracingData {
            order: reader.order,
            word: reader.word()?,
            page_size: reader.u32("the page size")?,
            header_page: reader.labelled("header_page")?,
            header_event: reader.labelled("header_event")?,
            ftrace: reader.formats("ftrace formats")?,
            systems: reader.systems()?,
            kallsyms: reader.short_text("kallsyms")?,
            printk_formats: reader.short_text("printk formats")?,
            cmdlines: if has_cmdlines {
                Some(reader.long_text("command lines")?)
            } else {
                None
            },
        })
    }
}

/// `0.6` as two numbers; what is no number counts as 0.
fn version(text: &[u8]) -> (u32, u32) {
    let text = String::from_utf8_lossy(text);
    let (major, minor) = text.split_once('.').unwrap_or((&text, ""));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    order: ByteOrder,
}

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize, what: &'static str) -> Result<&'a [u8], TracepointError> {
        let found =
            part(self.bytes, self.at, size).ok_or_else(|| self.truncated(size as u64, what))?;
        self.at += size;
        Ok(found)
    }

    fn truncated(&self, needed: u64, what: &'static str) -> TracepointError {
        TracepointError::Truncated {
            what,
            offset: self.at,
            needed,
            available: self.bytes.len(),
        }
    }

    fn number(&mut self, size: usize, what: &'static str) -> Result<u64, TracepointError> {
        let bytes = self.take(size, what)?;
        Ok(self.order.unsigned(bytes).unwrap_or(0))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, TracepointError> {
        Ok(self.number(4, what)? as u32)
    }

    fn byte(&mut self, what: &'static str) -> Result<u8, TracepointError> {
        Ok(self.number(1, what)? as u8)
    }

    /// The bytes up to a NUL, which is consumed too.
    fn name(&mut self, what: &'static str) -> Result<&'a [u8], TracepointError> {
        let name = until_nul(self.bytes.get(self.at..).unwrap_or_default());
        self.take(name.len() + 1, what)?;
        Ok(name)
    }

    fn byte_order(&mut self) -> Result<ByteOrder, TracepointError> {
        let offset = self.at;
        match self.byte("the byte order")? {
            0 => Ok(ByteOrder::Little),
            1 => Ok(ByteOrder::Big),
            value => Err(TracepointError::Value {
                what: "the byte order",
                offset,
                value,
            }),
        }
    }

    fn word(&mut self) -> Result<WordSize, TracepointError> {
        let offset = self.at;
        let value = self.byte("the size of a long")?;
        WordSize::from_bytes(value).ok_or(TracepointError::Value {
            what: "the size of a long",
            offset,
            value,
        })
    }

    fn labelled(&mut self, label: &'static str) -> Result<Vec<u8>, TracepointError> {
        let offset = self.at;
        if self.name(label)? != label.as_bytes() {
            return Err(TracepointError::Label { label, offset });
        }
        self.long_text(label)
    }

    /// A text after its length in 64 bits.
    fn long_text(&mut self, what: &'static str) -> Result<Vec<u8>, TracepointError> {
        let size = self.number(8, what)?;
        let size = usize::try_from(size).map_err(|_| self.truncated(size, what))?;
        Ok(self.take(size, what)?.to_vec())
    }

    /// A text after its length in 32 bits.
    fn short_text(&mut self, what: &'static str) -> Result<Vec<u8>, TracepointError> {
        let size = self.u32(what)?;
        Ok(self.take(size as usize, what)?.to_vec())
    }

    /// As many texts as a count says. The list grows with what was read, never by the count.
    fn formats(&mut self, what: &'static str) -> Result<Vec<Vec<u8>>, TracepointError> {
        let count = self.u32(what)?;
        (0..count)
            .map(|_| self.long_text(what))
            .collect::<Result<Vec<_>, _>>()
    }

    fn systems(&mut self) -> Result<Vec<SystemFormat>, TracepointError> {
        let count = self.u32("the number of systems")?;
        (0..count)
            .map(|_| self.system())
            .collect::<Result<Vec<_>, _>>()
    }

    fn system(&mut self) -> Result<SystemFormat, TracepointError> {
        let system = String::from_utf8_lossy(self.name("a system's name")?).into_owned();
        Ok(SystemFormat {
            system,
            formats: self.formats("a system's formats")?,
        })
    }
}
