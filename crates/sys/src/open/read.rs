//! Reading counters: the plain and the group layout of `read(2)` on an event.

use crate::EventFd;
use oxperf_abi::{EventId, ReadFormat};
use std::io;
use std::os::fd::AsRawFd;

/// One counter's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CounterValue {
    /// The count.
    pub value: u64,
    /// The counter's id, with [`ReadFormat::ID`].
    pub id: Option<EventId>,
    /// Samples lost, with [`ReadFormat::LOST`].
    pub lost: Option<u64>,
}

/// The result of one read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CounterRead {
    /// Time enabled, ns, with [`ReadFormat::TOTAL_TIME_ENABLED`].
    pub enabled: Option<u64>,
    /// Time counting, ns, with [`ReadFormat::TOTAL_TIME_RUNNING`].
    pub running: Option<u64>,
    /// One value, or with [`ReadFormat::GROUP`] the leader's and every member's.
    pub values: Vec<CounterValue>,
}

/// The reason why a counter could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The kernel's answer.
    #[error("cannot read the counter: {0}")]
    Io(#[from] io::Error),
    /// A pinned event did not get its counter, so that the kernel has nothing to give (end of file). It counts again
    /// after [`Control::Enable`](crate::Control::Enable).
    #[error("the pinned event has no counter")]
    NotCounting,
    /// The buffer is smaller than the read (`ENOSPC`).
    #[error("a buffer of {room} bytes is too small for the counter's format")]
    TooSmall {
        /// Bytes of the buffer.
        room: usize,
    },
    /// Fewer bytes than the format asks for.
    #[error("the counter gave {length} bytes, too few for its format")]
    Short {
        /// Bytes that came.
        length: usize,
    },
}

impl CounterRead {
    /// Decodes the bytes of a read in this machine's byte order.
    ///
    /// # Errors
    /// [`ReadError::Short`] when bytes are missing.
    pub fn decode(bytes: &[u8], format: ReadFormat) -> Result<CounterRead, ReadError> {
        let mut words = Words {
            bytes,
            length: bytes.len(),
        };
        if format.contains(ReadFormat::GROUP) {
            words.group(format)
        } else {
            words.single(format)
        }
    }
}

struct Words<'a> {
    bytes: &'a [u8],
    length: usize,
}

impl Words<'_> {
    fn next(&mut self) -> Result<u64, ReadError> {
        let (word, rest) = self.bytes.split_first_chunk().ok_or(ReadError::Short {
            length: self.length,
        })?;
        self.bytes = rest;
        Ok(u64::from_ne_bytes(*word))
    }

    fn next_if(&mut self, format: ReadFormat, bit: ReadFormat) -> Result<Option<u64>, ReadError> {
        format.contains(bit).then(|| self.next()).transpose()
    }

    /// `value, [enabled], [running], [id], [lost]`.
    fn single(&mut self, format: ReadFormat) -> Result<CounterRead, ReadError> {
        let value = self.next()?;
        let enabled = self.next_if(format, ReadFormat::TOTAL_TIME_ENABLED)?;
        let running = self.next_if(format, ReadFormat::TOTAL_TIME_RUNNING)?;
        let values = vec![self.identified(value, format)?];
        Ok(CounterRead {
            enabled,
            running,
            values,
        })
    }

    /// `nr, [enabled], [running], nr times value, [id], [lost]`.
    fn group(&mut self, format: ReadFormat) -> Result<CounterRead, ReadError> {
        let count = self.next()?;
        let enabled = self.next_if(format, ReadFormat::TOTAL_TIME_ENABLED)?;
        let running = self.next_if(format, ReadFormat::TOTAL_TIME_RUNNING)?;
        let values = (0..count)
            .map(|_| self.member(format))
            .collect::<Result<_, _>>()?;
        Ok(CounterRead {
            enabled,
            running,
            values,
        })
    }

    fn member(&mut self, format: ReadFormat) -> Result<CounterValue, ReadError> {
        let value = self.next()?;
        self.identified(value, format)
    }

    fn identified(&mut self, value: u64, format: ReadFormat) -> Result<CounterValue, ReadError> {
        let id = self.next_if(format, ReadFormat::ID)?.map(EventId);
        let lost = self.next_if(format, ReadFormat::LOST)?;
        Ok(CounterValue { value, id, lost })
    }
}

impl EventFd {
    /// Reads the counter, or its whole group. A read never waits, whether the descriptor is blocking or not.
    ///
    /// # Errors
    /// [`ReadError::NotCounting`] for a pinned event without its counter; otherwise the kernel's answer.
    pub(crate) fn read(&self) -> Result<CounterRead, ReadError> {
        /// A group of ten with all that a format can have.
        const USUAL: usize = 256;
        let mut buffer = [0; USUAL];
        match self.read_into(&mut buffer) {
            Ok(length) => self.decode(&buffer, length),
            Err(ReadError::TooSmall { .. }) => self.read_large(USUAL * 4),
            Err(error) => Err(error),
        }
    }

    fn read_large(&self, mut room: usize) -> Result<CounterRead, ReadError> {
        /// More than any group: an event has a descriptor, and a value of it at most 3 words.
        const MOST: usize = 1 << 22;
        loop {
            let mut buffer = vec![0; room];
            match self.read_into(&mut buffer) {
                Ok(length) => return self.decode(&buffer, length),
                Err(ReadError::TooSmall { .. }) if room < MOST => room *= 4,
                Err(error) => return Err(error),
            }
        }
    }

    fn decode(&self, buffer: &[u8], length: usize) -> Result<CounterRead, ReadError> {
        let bytes = buffer.get(..length).unwrap_or_default();
        CounterRead::decode(bytes, self.read_format())
    }

    /// Reads into the caller's buffer, and returns how many bytes came: for [`CounterRead::decode`].
    ///
    /// # Errors
    /// [`ReadError::TooSmall`] where the buffer has no room for them all; as [`EventFd::read`] otherwise.
    pub fn read_into(&self, buffer: &mut [u8]) -> Result<usize, ReadError> {
        // SAFETY: the kernel writes at most `buffer.len()` bytes into a live, exclusively borrowed buffer.
        let length =
            unsafe { libc::read(self.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) };
        match usize::try_from(length) {
            Ok(0) => Err(ReadError::NotCounting),
            Ok(length) => Ok(length),
            Err(_) => Err(read_error(io::Error::last_os_error(), buffer.len())),
        }
    }
}

fn read_error(error: io::Error, room: usize) -> ReadError {
    if error.raw_os_error() == Some(libc::ENOSPC) {
        ReadError::TooSmall { room }
    } else {
        error.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn plain_layout() {
        let format = ReadFormat::TOTAL_TIME_ENABLED
            | ReadFormat::TOTAL_TIME_RUNNING
            | ReadFormat::ID
            | ReadFormat::LOST;
        let read = CounterRead::decode(&bytes(&[5, 100, 90, 42, 3]), format).unwrap();
        assert_eq!((read.enabled, read.running), (Some(100), Some(90)));
        assert_eq!(
            read.values,
            [CounterValue {
                value: 5,
                id: Some(EventId(42)),
                lost: Some(3)
            }]
        );
    }

    #[test]
    fn group_layout() {
        let format = ReadFormat::GROUP | ReadFormat::ID | ReadFormat::TOTAL_TIME_RUNNING;
        let read = CounterRead::decode(&bytes(&[2, 90, 5, 41, 6, 42]), format).unwrap();
        assert_eq!((read.enabled, read.running), (None, Some(90)));
        assert_eq!(
            read.values.iter().map(|v| v.value).collect::<Vec<_>>(),
            [5, 6]
        );
        assert_eq!(read.values[1].id, Some(EventId(42)));
    }

    #[test]
    fn the_end_of_the_file_means_no_counter() {
        let nothing = std::fs::File::open("/dev/null").unwrap();
        let event = EventFd::from_owned(nothing.into(), ReadFormat::EMPTY);
        assert!(matches!(event.read(), Err(ReadError::NotCounting)));
    }

    #[test]
    fn missing_bytes_are_an_error() {
        let decode = |words: &[u64], format| CounterRead::decode(&bytes(words), format);
        assert!(matches!(
            decode(&[], ReadFormat::EMPTY),
            Err(ReadError::Short { length: 0 })
        ));
        assert!(matches!(
            decode(&[u64::MAX, 1], ReadFormat::GROUP),
            Err(ReadError::Short { length: 16 })
        ));
    }
}
