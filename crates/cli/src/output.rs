//! The only place that prints.

use std::fs::File;
use std::io::{self, Write};
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender, channel};

use oxperf_present::text::sanitize;

/// Writes a line to standard output.
pub(crate) fn print_line(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// Writes text to standard output before anything else is; who asked for less notices what is missing.
pub(crate) fn print_text(text: &[u8]) {
    let _ = io::stdout().lock().write_all(text);
}

/// Writes lines to standard error, harmless whatever names stand in them; nothing can be done when that fails.
pub(crate) fn print_error(text: &str) {
    let shown = |line: &str| {
        line.split('\t')
            .map(sanitize)
            .collect::<Vec<_>>()
            .join("\t")
    };
    let text: String = text.split('\n').map(|line| shown(line) + "\n").collect();
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Bytes kept before they are written.
const BUFFER: usize = 256 << 10;

/// Where text goes, and the empty buffers behind it.
type Idle = (Box<dyn Write + Send>, Vec<Vec<u8>>);

/// What comes back from a worker.
type Done = (Idle, io::Result<()>);

/// A big buffer before standard output or a file. While one is written, the next is filled.
pub(crate) struct Output {
    buffer: Vec<u8>,
    /// The sink, unless a worker writes to it.
    idle: Option<Idle>,
    done: (Sender<Done>, Receiver<Done>),
    written: u64,
}

impl Output {
    /// Takes standard output.
    pub(crate) fn stdout() -> Output {
        Output::new(Box::new(io::stdout()))
    }

    /// Writes to a file.
    pub(crate) fn file(file: File) -> Output {
        Output::new(Box::new(file))
    }

    /// Writes to another program.
    pub(crate) fn pipe(input: ChildStdin) -> Output {
        Output::new(Box::new(input))
    }

    /// Writes nowhere: the buffer is all.
    pub(crate) fn nowhere() -> Output {
        Output {
            buffer: Vec::new(),
            idle: Some((Box::new(io::sink()), Vec::new())),
            done: channel(),
            written: 0,
        }
    }

    fn new(sink: Box<dyn Write + Send>) -> Output {
        let buffer = Vec::with_capacity(BUFFER + (64 << 10));
        Output {
            buffer,
            idle: Some((sink, Vec::new())),
            done: channel(),
            written: 0,
        }
    }

    /// The buffer to append to; call [`Output::settle`] now and then.
    pub(crate) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Begins to write the buffer out if it is full. What went wrong with the last one is told now.
    #[inline]
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        if self.buffer.len() < BUFFER {
            return Ok(());
        }
        let full = std::mem::take(&mut self.buffer);
        self.buffer = self.begin(vec![full])?.pop().unwrap_or_default();
        Ok(())
    }

    /// Writes text behind what is in the buffer, without copying it there.
    pub(crate) fn pass(&mut self, text: &[u8]) -> io::Result<()> {
        self.flush_buffer()?;
        self.written += text.len() as u64;
        self.sink()?.write_all(text)
    }

    /// Begins to write pieces of text one after another, and gives buffers that were written before. The buffer has to be
    /// empty. What went wrong with the last ones is told now.
    pub(crate) fn begin(&mut self, mut pieces: Vec<Vec<u8>>) -> io::Result<Vec<Vec<u8>>> {
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
    pub(crate) fn finish(mut self) -> io::Result<u64> {
        self.flush_buffer()?;
        self.sink()?.flush()?;
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
        self.sink()?.flush()
    }
}

impl Drop for Output {
    /// What has begun is written, however the program ends.
    fn drop(&mut self) {
        let _ = self.sink();
    }
}
