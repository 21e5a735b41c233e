//! The only place that prints.

use std::io::{self, Write};

/// Writes a line to standard output.
pub(crate) fn print_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Writes a line to standard error; nothing can be done when that fails.
pub(crate) fn print_error(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.write_all(b"\n"));
}

/// Bytes kept before they are written.
const BUFFER: usize = 256 << 10;

/// A big buffer before standard output.
pub(crate) struct Output {
    buffer: Vec<u8>,
    sink: io::StdoutLock<'static>,
}

impl Output {
    /// Takes standard output.
    pub(crate) fn stdout() -> Output {
        Output { buffer: Vec::with_capacity(BUFFER + (64 << 10)), sink: io::stdout().lock() }
    }

    /// The buffer to append to; call [`Output::settle`] now and then.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Writes the buffer out if it is full.
    #[inline]
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if self.buffer.len() >= BUFFER { self.flush_buffer() } else { Ok(()) }
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        let result = self.sink.write_all(&self.buffer);
        self.buffer.clear();
        result
    }

    /// Writes everything out.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush_buffer()?;
        self.sink.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.settle()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_buffer()?;
        self.sink.flush()
    }
}
