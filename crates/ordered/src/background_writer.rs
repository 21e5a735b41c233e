//! A large buffer before a writer that works in the background.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Bytes kept before they are written.
const BUFFER: usize = 256 << 10;

/// The sink, and the empty buffers that it has written.
type Idle = (Box<dyn Write + Send>, Vec<Vec<u8>>);

/// The result of a worker.
type Done = (Idle, io::Result<()>);

/// A large buffer before a file, a pipe or standard output. While one buffer is written, the next is filled.
pub struct BackgroundWriter {
    buffer: Vec<u8>,
    /// The sink, unless a worker writes to it.
    idle: Option<Idle>,
    done: (Sender<Done>, Receiver<Done>),
    written: u64,
}

impl BackgroundWriter {
    /// Writes to `sink`.
    pub fn new(sink: impl Write + Send + 'static) -> BackgroundWriter {
        BackgroundWriter::with_buffer(Box::new(sink), Vec::with_capacity(BUFFER + (64 << 10)))
    }

    /// Writes nowhere: the buffer is all.
    pub fn nowhere() -> BackgroundWriter {
        BackgroundWriter::with_buffer(Box::new(io::sink()), Vec::new())
    }

    fn with_buffer(sink: Box<dyn Write + Send>, buffer: Vec<u8>) -> BackgroundWriter {
        BackgroundWriter {
            buffer,
            idle: Some((sink, Vec::new())),
            done: channel(),
            written: 0,
        }
    }

    /// The buffer to append to; [`BackgroundWriter::settle`] is to be called now and then.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Begins to write the buffer out if it is full.
    ///
    /// # Errors
    /// An earlier buffer could not be written.
    #[inline]
    pub fn settle(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER {
            return Ok(());
        }
        let full = std::mem::take(&mut self.buffer);
        self.buffer = self.begin(vec![full])?.pop().unwrap_or_default();
        Ok(())
    }

    /// Writes text behind what is in the buffer, without copying it there.
    ///
    /// # Errors
    /// This text or an earlier one could not be written.
    pub fn pass(&mut self, text: &[u8]) -> io::Result<()> {
        self.flush_buffer()?;
        self.written += text.len() as u64;
        self.sink()?.write_all(text)
    }

    /// Begins to write pieces of text one after another, and gives buffers that were written before. The buffer has to be
    /// empty.
    ///
    /// # Errors
    /// Earlier pieces could not be written.
    pub fn begin(&mut self, mut pieces: Vec<Vec<u8>>) -> io::Result<Vec<Vec<u8>>> {
        self.sink()?;
        let Some((mut sink, empty)) = self.idle.take() else {
            return Ok(Vec::new());
        };
        self.written += pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        let done = self.done.0.clone();
        rayon::spawn(move || {
            let result = pieces.iter().try_for_each(|piece| sink.write_all(piece));
            pieces.iter_mut().for_each(Vec::clear);
            // Nobody waits when the program ends early.
            let _ = done.send(((sink, pieces), result));
        });
        Ok(empty)
    }

    /// The sink, when it is free again.
    fn sink(&mut self) -> io::Result<&mut (dyn Write + Send)> {
        if self.idle.is_none() {
            // Where no thread could be had, nobody else writes.
            while let Some(rayon::Yield::Executed) = rayon::yield_now() {}
            let (idle, result) = self.done.1.recv().map_err(io::Error::other)?;
            self.idle = Some(idle);
            result?;
        }
        match &mut self.idle {
            Some((sink, _)) => Ok(sink.as_mut()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.sink().and_then(|sink| sink.write_all(&buffer));
        self.written += buffer.len() as u64;
        self.buffer = buffer;
        self.buffer.clear();
        result
    }

    /// Writes everything out; gives the number of all bytes written.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(mut self) -> io::Result<u64> {
        self.flush_buffer()?;
        self.sink()?.flush()?;
        Ok(self.written)
    }
}

impl Write for BackgroundWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        self.settle()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_buffer()?;
        self.sink()?.flush()
    }
}

impl Drop for BackgroundWriter {
    /// What has begun is written, however the program ends.
    fn drop(&mut self) {
        let _ = self.sink();
    }
}
