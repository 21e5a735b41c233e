//! Servers asked by HTTP/1.1, as far as fetching a file and handing in a message take it: one request a connection,
//! redirections, chunked answers, encryption, and limits on time and size, as a server may send anything.
//!
//! For whoever is handed the address of a server: nothing here knows what is asked for, and nothing reads the environment.
//!
//! ```
//! use std::time::Duration;
//! use oxperf_http::{HttpClient, HttpError, Limits};
//!
//! let limits = Limits { patience: Duration::from_secs(1), time: Duration::from_secs(2), size: 1 << 20 };
//! let client = HttpClient::new(limits, None);
//! let refused = client.get("ftp://localhost/file", &mut Vec::new());
//! assert!(matches!(refused, Err(HttpError::Address(_))));
//! ```

mod address;
mod answer;
mod channel;
#[cfg(feature = "https")]
mod encrypted;
mod error;
mod timed_stream;

use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::time::Instant;

use address::Address;
pub use answer::{Answer, Received, receive};
use channel::{Channel, Trust};
pub use error::HttpError;
use timed_stream::TimedStream;
pub use timed_stream::{Connection, Limits};

const MOST_REDIRECTIONS: usize = 5;

/// Asks servers, and holds them to limits.
#[derive(Debug)]
pub struct HttpClient {
    limits: Limits,
    trust: Trust,
}

/// A message that is handed in.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    /// The lines of the request besides those that every one has. What would end a line is refused.
    pub headers: &'a [(String, String)],
    /// The body.
    pub body: &'a [u8],
}

impl HttpClient {
    /// A client that believes a server to be what it claims if an authority says so whose certificate is in this file (PEM);
    /// without a file, those that the system trusts.
    pub fn new(limits: Limits, authorities: Option<PathBuf>) -> HttpClient {
        let trust = Trust::new(authorities);
        HttpClient { limits, trust }
    }

    /// Writes the file at an address to `out`; redirections are followed, but for those that give up encryption.
    ///
    /// # Errors
    /// The server cannot be reached or believed, refuses, sends too much, too slowly or something broken; or the errors of `out`.
    pub fn get(&self, address: &str, out: &mut dyn Write) -> Result<(), HttpError> {
        let start = Instant::now();
        let mut address = address.to_owned();
        for _ in 0..=MOST_REDIRECTIONS {
            let place = Address::parse(&address)?;
            let mut answer = BufReader::new(self.connect(&place, start)?);
            let request = place.request("GET", "");
            send(answer.get_mut(), &[request.as_bytes()])?;
            match receive(&mut answer, self.limits.size, out)? {
                Received::Body => return Ok(()),
                Received::Redirection(location) => address = place.redirected(&location)?,
            }
        }
        Err(HttpError::Answer("too many redirections"))
    }

    /// Looks at an address before there is anything to send there.
    ///
    /// # Errors
    /// It is none that can be asked.
    pub fn check(address: &str) -> Result<(), HttpError> {
        Address::parse(address).map(drop)
    }

    /// Hands in a message, and returns what the server says of it. Redirections are answers, too: where a message goes is up to
    /// whoever sent it.
    ///
    /// # Errors
    /// The server cannot be reached or believed, is too slow, or its answer is broken.
    pub fn post(&self, address: &str, message: Message<'_>) -> Result<Answer, HttpError> {
        let place = Address::parse(address)?;
        let mut lines = format!("Content-Length: {}\r\n", message.body.len());
        for (name, value) in message.headers {
            lines.push_str(&header_line(name, value)?);
        }
        let mut answer = BufReader::new(self.connect(&place, Instant::now())?);
        let request = place.request("POST", &lines);
        let sent = send(answer.get_mut(), &[request.as_bytes(), message.body]);
        match (sent, Answer::read(&mut answer, self.limits.size)) {
            (_, Ok(answer)) => Ok(answer),
            // A server that refuses need not hear all of a message: what it said counts, else what became of the connection.
            (Err(error), Err(_)) | (Ok(()), Err(error)) => Err(error),
        }
    }

    fn connect(&self, place: &Address, start: Instant) -> Result<Channel, HttpError> {
        let stream = TimedStream::connect(place.socket(), self.limits, start)?;
        if place.is_secure() {
            Channel::encrypted(&self.trust, stream, place)
        } else {
            Ok(Channel::Plain(stream))
        }
    }
}

fn send(server: &mut Channel, pieces: &[&[u8]]) -> Result<(), HttpError> {
    let mut sent = pieces.iter().try_for_each(|piece| server.write_all(piece));
    sent = sent.and_then(|()| server.flush());
    sent.map_err(|error| server.failure(&error))
}

/// A line of a request's head.
fn header_line(name: &str, value: &str) -> Result<String, HttpError> {
    let is_token = |byte: u8| byte.is_ascii_graphic() && byte != b':';
    let is_text = |byte: u8| byte == b'\t' || !byte.is_ascii_control();
    if name.is_empty() || !name.bytes().all(is_token) || !value.bytes().all(is_text) {
        return Err(HttpError::Header(name.to_owned()));
    }
    Ok(format!("{name}: {value}\r\n"))
}
