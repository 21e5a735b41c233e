//! The only place that prints.

use std::fs::File;
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

/// A big buffer before standard output or a file.
pub(crate) struct Output {
    buffer: Vec<u8>,
    sink: Box<dyn Write>,
    written: u64,
}

impl Output {
    /// Takes standard output.
    pub(crate) fn stdout() -> Output {
        Output::new(Box::new(io::stdout().lock()))
    }

    /// Writes to a file.
    pub(crate) fn file(file: File) -> Output {
        Output::new(Box::new(file))
    }

    fn new(sink: Box<dyn Write>) -> Output {
        Output { buffer: Vec::with_capacity(BUFFER + (64 << 10)), sink, written: 0 }
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

    /// Writes text behind what is in the buffer, without copying it there.
    pub(crate) fn pass(&mut self, text: &[u8]) -> io::Result<()> {
        self.flush_buffer()?;
        self.written += text.len() as u64;
        self.sink.write_all(text)
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        let result = self.sink.write_all(&self.buffer);
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        result
    }

    /// Writes everything out; gives the number of all bytes written.
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.flush_buffer()?;
        self.sink.flush()?;
        Ok(self.written)
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
