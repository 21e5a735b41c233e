//! What servers answer: heads and bodies, whatever they hold.

use std::io::{self, BufRead, BufReader, Read, Write};

use crate::error::HttpError;
use crate::timed_stream::Connection;

/// Bytes of a line of an answer's head, and lines of it.
const LINE_LIMIT: u64 = 16 << 10;
const LINES_LIMIT: usize = 256;
/// Most heads of a server that says that it will answer.
const MOST_INTERIM: usize = 8;

/// The outcome of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// The file that was asked for.
    Body,
    /// Another address to ask, as the server wrote it: untrusted.
    Redirection(String),
}

/// Reads one answer, of whose body at most `limit` bytes are written to `out`.
///
/// # Errors
/// It is no HTTP/1 answer, refuses, ends early, or is too large; or the connection failed.
pub fn receive<C: Connection>(
    answer: &mut BufReader<C>,
    limit: u64,
    out: &mut dyn Write,
) -> Result<Received, HttpError> {
    let head = Head::read(answer)?;
    match (head.status, head.location) {
        (200, _) => body(head.chunked, head.length, answer, limit, out).map(|()| Received::Body),
        (301 | 302 | 303 | 307 | 308, Some(location)) => Ok(Received::Redirection(location)),
        (status, _) => Err(HttpError::Status(status)),
    }
}

/// The answer to a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The form of the body, as the server wrote it: untrusted.
    pub content_type: Option<String>,
    /// When to try again, as the server wrote it: untrusted.
    pub retry_after: Option<String>,
    /// As much of the body as is read of an answer.
    pub body: Vec<u8>,
}

impl Answer {
    /// Reads an answer with any status; of its body at most `limit` bytes.
    pub(crate) fn read<C: Connection>(
        answer: &mut BufReader<C>,
        limit: u64,
    ) -> Result<Answer, HttpError> {
        let head = Head::read(answer)?;
        let mut text = Vec::new();
        // What the status says counts even where the body is broken.
        if !matches!(head.status, 204 | 304) {
            let _ = body(head.chunked, head.length, answer, limit, &mut text);
        }
        Ok(Answer {
            status: head.status,
            content_type: head.content_type,
            retry_after: head.retry_after,
            body: text,
        })
    }
}

/// The lines of an answer before its body.
#[derive(Debug, Default, PartialEq, Eq)]
struct Head {
    status: u16,
    length: Option<u64>,
    chunked: bool,
    location: Option<String>,
    content_type: Option<String>,
    retry_after: Option<String>,
}

impl Head {
    /// The head of the answer itself, behind those that promise one.
    fn read<C: Connection>(answer: &mut BufReader<C>) -> Result<Head, HttpError> {
        for _ in 0..MOST_INTERIM {
            let head = Head::read_one(answer)?;
            if !(100..200).contains(&head.status) {
                return Ok(head);
            }
        }
        Err(HttpError::Answer("it promises an answer and gives none"))
    }

    fn read_one<C: Connection>(answer: &mut BufReader<C>) -> Result<Head, HttpError> {
        let first = line(answer)?;
        let status = first
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        let mut head = Head {
            status: status.ok_or(HttpError::Answer("no HTTP status"))?,
            ..Head::default()
        };
        for _ in 0..LINES_LIMIT {
            let text = line(answer)?;
            if text.is_empty() {
                return Ok(head);
            }
            if let Some((name, value)) = text.split_once(':') {
                head.take(&name.to_ascii_lowercase(), value.trim());
            }
        }
        Err(HttpError::Answer("its head does not end"))
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "content-length" => self.length = value.parse().ok(),
            "transfer-encoding" => self.chunked = value.to_ascii_lowercase().contains("chunked"),
            "location" => self.location = Some(value.to_owned()),
            "content-type" => self.content_type = Some(value.to_owned()),
            "retry-after" => self.retry_after = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// A line without its end.
fn line<C: Connection>(answer: &mut BufReader<C>) -> Result<String, HttpError> {
    let mut bytes = Vec::new();
    let read = answer
        .by_ref()
        .take(LINE_LIMIT)
        .read_until(b'\n', &mut bytes);
    read.map_err(|error| answer.get_ref().failure(&error))?;
    let text = bytes
        .strip_suffix(b"\n")
        .ok_or(HttpError::Answer("a line of its head does not end"))?;
    Ok(String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text)).into_owned())
}

fn body<C: Connection>(
    chunked: bool,
    length: Option<u64>,
    answer: &mut BufReader<C>,
    limit: u64,
    out: &mut dyn Write,
) -> Result<(), HttpError> {
    let mut left = limit;
    if chunked {
        loop {
            let size = line(answer)?;
            let size = size.split(';').next().unwrap_or("").trim();
            match u64::from_str_radix(size, 16)
                .map_err(|_| HttpError::Answer("no size of a chunk"))?
            {
                0 => return Ok(()),
                size => copy(answer, size, &mut left, limit, out)?,
            }
            line(answer)?;
        }
    }
    match length {
        Some(length) => copy(answer, length, &mut left, limit, out),
        None => {
            let read = pass(answer, left.saturating_add(1), out)?;
            if read > left {
                Err(HttpError::TooLarge(limit))
            } else {
                Ok(())
            }
        }
    }
}

/// Copies exactly so many bytes, of which there may be no more than `left`.
fn copy<C: Connection>(
    answer: &mut BufReader<C>,
    count: u64,
    left: &mut u64,
    limit: u64,
    out: &mut dyn Write,
) -> Result<(), HttpError> {
    *left = left.checked_sub(count).ok_or(HttpError::TooLarge(limit))?;
    match pass(answer, count, out)? == count {
        true => Ok(()),
        false => Err(HttpError::Answer("it ends before its end")),
    }
}

/// Copies at most so many bytes; tells how many there were.
fn pass<C: Connection>(
    answer: &mut BufReader<C>,
    most: u64,
    out: &mut dyn Write,
) -> Result<u64, HttpError> {
    let mut passed = 0;
    while passed < most {
        let bytes = match answer.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(answer.get_ref().failure(&error)),
        };
        let count = bytes
            .len()
            .min(usize::try_from(most - passed).unwrap_or(usize::MAX));
        if count == 0 {
            break;
        }
        out.write_all(&bytes[..count])
            .map_err(|error| HttpError::Output(error.kind()))?;
        answer.consume(count);
        passed += count as u64;
    }
    Ok(passed)
}
