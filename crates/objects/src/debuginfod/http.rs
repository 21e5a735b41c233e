//! As much of HTTP/1.1 as fetching a file takes: one request a connection, redirections, chunked answers; limits on time
//! and size, as a server may send anything.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::time::Instant;

use super::channel::{Channel, Trust};
pub use super::timed_stream::Connection;
use super::timed_stream::{Limits, TimedStream};
use crate::error::FetchError;

const MOST_REDIRECTIONS: usize = 5;
/// Bytes of a line of an answer's head, and lines of it.
const LINE_LIMIT: u64 = 16 << 10;
const LINES_LIMIT: usize = 256;

/// Writes the body of the answer to `out`.
pub(super) fn get(
    address: &str,
    limits: Limits,
    trust: &Trust,
    out: &mut dyn Write,
) -> Result<(), FetchError> {
    let start = Instant::now();
    let mut address = address.to_owned();
    for _ in 0..=MOST_REDIRECTIONS {
        let place = Address::parse(&address).ok_or_else(|| FetchError::Address(address.clone()))?;
        let stream = TimedStream::connect(place.socket(), limits, start)?;
        let mut answer = BufReader::new(if place.secure {
            Channel::encrypted(trust, stream, &address, place.name())?
        } else {
            Channel::Plain(stream)
        });
        place.ask(answer.get_mut())?;
        match receive(&mut answer, limits.size, out)? {
            Received::Body => return Ok(()),
            Received::Redirection(location) => address = place.redirected(&location)?,
        }
    }
    Err(FetchError::Answer("too many redirections"))
}

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
) -> Result<Received, FetchError> {
    let head = Head::read(answer)?;
    match (head.status, head.location) {
        (200, _) => body(head.chunked, head.length, answer, limit, out).map(|()| Received::Body),
        (301 | 302 | 303 | 307 | 308, Some(location)) => Ok(Received::Redirection(location)),
        (status, _) => Err(FetchError::Status(status)),
    }
}

/// The address of a file on a server.
#[derive(Debug, PartialEq, Eq)]
struct Address {
    /// True if it is asked by `https://`.
    secure: bool,
    /// Host and port, as they stand in the address.
    host: String,
    path: String,
}

impl Address {
    /// `http[s]://HOST[:PORT]/PATH`; nothing that would end a line of the request.
    fn parse(text: &str) -> Option<Address> {
        let (secure, rest) = match text.strip_prefix("https://") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("http://")?),
        };
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        (!host.is_empty()).then(|| Address {
            secure,
            host: host.to_owned(),
            path: path.to_owned(),
        })
    }

    /// The address that a redirection means; none that gives up encryption.
    fn redirected(&self, location: &str) -> Result<String, FetchError> {
        let scheme = if self.secure { "https" } else { "http" };
        match location.starts_with('/') {
            true => Ok(format!("{scheme}://{}{location}", self.host)),
            false if self.secure && !location.starts_with("https://") => Err(FetchError::Answer(
                "it leads to an address without encryption",
            )),
            false => Ok(location.to_owned()),
        }
    }

    /// Returns whether the host comes with a port.
    fn has_port(&self) -> bool {
        self.host.rsplit(']').next().unwrap_or("").contains(':')
    }

    /// Host and port for the system.
    fn socket(&self) -> String {
        let usual = if self.secure { 443 } else { 80 };
        if self.has_port() {
            self.host.clone()
        } else {
            format!("{}:{usual}", self.host)
        }
    }

    /// The host that proves who it is, without port and brackets.
    fn name(&self) -> &str {
        let host = match self.has_port() {
            true => self
                .host
                .rsplit_once(':')
                .map_or(&*self.host, |(host, _)| host),
            false => &self.host,
        };
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
    }

    fn ask(&self, server: &mut Channel) -> Result<(), FetchError> {
        let Address { host, path, .. } = self;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: oxperf/{}\r\nAccept-Encoding: identity\r\nConnection: close\r\n\r\n",
            env!("CARGO_PKG_VERSION")
        );
        let sent = server
            .write_all(request.as_bytes())
            .and_then(|()| server.flush());
        sent.map_err(|error| server.failure(&error))
    }
}

/// The lines of an answer before its body.
#[derive(Debug, Default, PartialEq, Eq)]
struct Head {
    status: u16,
    length: Option<u64>,
    chunked: bool,
    location: Option<String>,
}

impl Head {
    fn read<C: Connection>(answer: &mut BufReader<C>) -> Result<Head, FetchError> {
        let first = line(answer)?;
        let status = first
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        let mut head = Head {
            status: status.ok_or(FetchError::Answer("no HTTP status"))?,
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
        Err(FetchError::Answer("its head does not end"))
    }

    fn take(&mut self, name: &str, value: &str) {
        match name {
            "content-length" => self.length = value.parse().ok(),
            "transfer-encoding" => self.chunked = value.to_ascii_lowercase().contains("chunked"),
            "location" => self.location = Some(value.to_owned()),
            _ => {}
        }
    }
}

/// A line without its end.
fn line<C: Connection>(answer: &mut BufReader<C>) -> Result<String, FetchError> {
    let mut bytes = Vec::new();
    let read = answer
        .by_ref()
        .take(LINE_LIMIT)
        .read_until(b'\n', &mut bytes);
    read.map_err(|error| answer.get_ref().failure(&error))?;
    let text = bytes
        .strip_suffix(b"\n")
        .ok_or(FetchError::Answer("a line of its head does not end"))?;
    Ok(String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text)).into_owned())
}

fn body<C: Connection>(
    chunked: bool,
    length: Option<u64>,
    answer: &mut BufReader<C>,
    limit: u64,
    out: &mut dyn Write,
) -> Result<(), FetchError> {
    let mut left = limit;
    if chunked {
        loop {
            let size = line(answer)?;
            let size = size.split(';').next().unwrap_or("").trim();
            match u64::from_str_radix(size, 16)
                .map_err(|_| FetchError::Answer("no size of a chunk"))?
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
                Err(FetchError::TooLarge(limit))
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
) -> Result<(), FetchError> {
    *left = left.checked_sub(count).ok_or(FetchError::TooLarge(limit))?;
    match pass(answer, count, out)? == count {
        true => Ok(()),
        false => Err(FetchError::Answer("it ends before its end")),
    }
}

/// Copies at most so many bytes; tells how many there were.
fn pass<C: Connection>(
    answer: &mut BufReader<C>,
    most: u64,
    out: &mut dyn Write,
) -> Result<u64, FetchError> {
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
            .map_err(|error| FetchError::Cache(error.kind()))?;
        answer.consume(count);
        passed += count as u64;
    }
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_name_a_host_and_a_path() {
        let of = |text| {
            let address = Address::parse(text)?;
            Some([address.socket(), address.name().to_owned(), address.path])
        };
        let known = |parts: [&str; 3]| Some(parts.map(str::to_owned));
        assert_eq!(of("http://h/a/b"), known(["h:80", "h", "/a/b"]));
        assert_eq!(of("http://h:8002"), known(["h:8002", "h", "/"]));
        assert_eq!(of("https://h/a"), known(["h:443", "h", "/a"]));
        assert_eq!(of("https://[::1]/x"), known(["[::1]:443", "::1", "/x"]));
        assert_eq!(of("https://[::1]:9/x"), known(["[::1]:9", "::1", "/x"]));
        for text in [
            "ftp://h/",
            "h/x",
            "http:///x",
            "http://h/a b",
            "https://h/\r\nX: y",
        ] {
            assert_eq!(of(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_redirection_never_gives_up_encryption() {
        let from = |text: &str, to| Address::parse(text).unwrap().redirected(to).ok();
        assert_eq!(
            from("https://h:1/a", "/b").as_deref(),
            Some("https://h:1/b")
        );
        assert_eq!(
            from("http://h/a", "https://i/b").as_deref(),
            Some("https://i/b")
        );
        assert_eq!(from("https://h/a", "http://h/b"), None);
    }
}
