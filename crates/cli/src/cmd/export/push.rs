//! OpenTelemetry's profiles sent to a receiver: OTLP over HTTP.

mod retry;

use std::io::Write;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use oxperf_http::{Answer, HttpClient, HttpError, Limits, Message};
use oxperf_present::export::{MessageLimits, OtlpMessage, PartialSuccess, status_message};
use oxperf_present::text::sanitize;

use super::otlp;
use crate::environment;
use crate::failure::Failure;
use crate::output::print_error;
use retry::{Backoff, Outcome};

/// The path at which receivers take profiles.
const PATH: &str = "/v1development/profiles";
/// Receivers take 4 MiB at least, before compression, and some no more than 16,000 different samples.
pub(super) const MESSAGE: MessageLimits = MessageLimits {
    bytes: 7 << 19,
    samples: 16_000,
};
/// The time for one message, and for what the receiver says of it.
const LIMITS: Limits = Limits {
    patience: Duration::from_secs(10),
    time: Duration::from_secs(60),
    size: 64 << 10,
};
/// Most characters of a receiver's words that are shown.
const WORDS: usize = 300;

/// A receiver, and what it has taken.
pub(super) struct Receiver {
    client: HttpClient,
    address: String,
    headers: Vec<(String, String)>,
    /// Messages that it took, their samples, and the bytes that went over the wire for them.
    messages: u64,
    samples: u64,
    bytes: u64,
}

impl Receiver {
    /// The receiver at an address.
    pub(super) fn new(url: &str) -> Result<Receiver, Failure> {
        let mut headers = vec![
            (
                "Content-Type".to_owned(),
                "application/x-protobuf".to_owned(),
            ),
            ("Content-Encoding".to_owned(), "gzip".to_owned()),
        ];
        let address = address(url)?;
        HttpClient::check(&address).map_err(|error| Failure::bad_option(error.to_string()))?;
        let given = environment::receiver_headers();
        headers.extend(given.iter().flat_map(|text| otlp::pairs(text)));
        Ok(Receiver {
            client: HttpClient::new(LIMITS, environment::authorities()),
            address,
            headers,
            messages: 0,
            samples: 0,
            bytes: 0,
        })
    }

    /// Sends a message, again and again while the receiver is only busy.
    pub(super) fn send(&mut self, message: &OtlpMessage) -> Result<(), Failure> {
        let body = compressed(message).map_err(|error| self.failure(&error.to_string()))?;
        let mut backoff = Backoff::default();
        loop {
            let sent = self.client.post(
                &self.address,
                Message {
                    headers: &self.headers,
                    body: &body,
                },
            );
            let (problem, hint) = match outcome(sent) {
                Outcome::Taken(remark) => {
                    self.note(message, body.len(), remark);
                    return Ok(());
                }
                Outcome::Refused(problem) => return Err(self.failure(&problem)),
                Outcome::Busy(problem, hint) => (problem, hint),
            };
            match backoff.next(hint.as_deref(), SystemTime::now()) {
                Ok(delay) => {
                    if backoff.is_first() {
                        print_error(&format!("{}: {problem}; trying again", self.address));
                    }
                    std::thread::sleep(delay);
                }
                Err(end) => return Err(self.failure(&format!("{problem}; {end}"))),
            }
        }
    }

    fn note(&mut self, message: &OtlpMessage, bytes: usize, remark: Option<PartialSuccess>) {
        self.messages += 1;
        let is_whole = remark.as_ref().is_none_or(|remark| remark.rejected == 0);
        // The receiver does not say how many samples the refused profiles hold.
        if is_whole {
            self.samples += message.observations;
        }
        self.bytes += bytes as u64;
        if let Some(PartialSuccess { rejected, message }) = remark {
            let words = shown(&message);
            let address = &self.address;
            print_error(&match rejected {
                0 => format!("Warning:\n{address} says: {words}"),
                _ => format!("Warning:\n{address} did not take {rejected} profiles: {words}"),
            });
        }
    }

    fn failure(&self, problem: &str) -> Failure {
        let (address, samples) = (&self.address, self.samples);
        let before = match samples {
            0 => String::new(),
            _ => format!("\n{samples} samples had been taken before."),
        };
        Failure::new(format!("{address}: {problem}{before}"))
    }

    /// Says what the receiver has taken.
    pub(super) fn report(&self) {
        let Receiver {
            address,
            messages,
            samples,
            bytes,
            ..
        } = self;
        let megabytes = *bytes as f64 / f64::from(1 << 20);
        print_error(&format!(
            "[ oxperf export: {address} took {samples} samples in {messages} messages, {megabytes:.3} MB ]"
        ));
    }
}

/// Where profiles go: an address with its path, or with that of every receiver.
fn address(url: &str) -> Result<String, Failure> {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?']).next().unwrap_or("");
    if authority.contains('@') {
        return Err(Failure::bad_option(
            "--push takes no user and password: set OTEL_EXPORTER_OTLP_HEADERS to Authorization=... instead",
        ));
    }
    let (place, query) = match url.split_once('?') {
        Some((place, query)) => (place, format!("?{query}")),
        None => (url, String::new()),
    };
    let place = place.trim_end_matches('/');
    let path = if place.ends_with(PATH) { "" } else { PATH };
    Ok(format!("{place}{path}{query}"))
}

fn compressed(message: &OtlpMessage) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    message.write(&mut encoder)?;
    encoder.flush()?;
    encoder.finish()
}

/// What became of a message.
fn outcome(sent: Result<Answer, HttpError>) -> Outcome {
    let answer = match sent {
        Ok(answer) => answer,
        Err(
            error @ (HttpError::Connection(_)
            | HttpError::Silent(_)
            | HttpError::TooSlow(_)
            | HttpError::Answer(_)),
        ) => return Outcome::Busy(error.to_string(), None),
        Err(error) => return Outcome::Refused(error.to_string()),
    };
    let status = answer.status;
    match status {
        200..300 => Outcome::Taken(PartialSuccess::decode(&answer.body)),
        429 | 502 | 503 | 504 => {
            let problem = format!("the receiver is busy (status {status}{})", words(&answer));
            Outcome::Busy(problem, answer.retry_after)
        }
        _ => Outcome::Refused(format!(
            "the receiver answered with status {status}{}{}",
            words(&answer),
            advice(status)
        )),
    }
}

/// What to do about a refusal.
fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "\nName the address that it has moved to.",
        401 | 403 => {
            "\nSet OTEL_EXPORTER_OTLP_HEADERS to what it asks for, such as Authorization=Bearer%20TOKEN."
        }
        404 | 405 => {
            "\nIs it a receiver of OpenTelemetry's profiles? The port for HTTP is 4318 most often."
        }
        413 => "\nLet it take requests of 4 MiB.",
        415 => "\nIt does not take protocol buffers (application/x-protobuf), or no gzip.",
        _ => "",
    }
}

/// What the receiver says to its status.
fn words(answer: &Answer) -> String {
    let is_protobuf = answer
        .content_type
        .as_deref()
        .is_some_and(|kind| kind.contains("protobuf"));
    let text = match is_protobuf {
        true => status_message(&answer.body).unwrap_or_default(),
        false => String::from_utf8_lossy(&answer.body).into_owned(),
    };
    match text.trim() {
        "" => String::new(),
        text => format!(": {}", shown(text)),
    }
}

/// The beginning of a receiver's words, as a terminal may show it.
fn shown(text: &str) -> String {
    let mut short: String = text.trim().chars().take(WORDS).collect();
    if short.len() < text.trim().len() {
        short.push_str("...");
    }
    sanitize(&short).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_gets_the_path_that_it_lacks() {
        let known = [
            ("http://h:4318", "http://h:4318/v1development/profiles"),
            ("http://h:4318/", "http://h:4318/v1development/profiles"),
            ("https://h/otlp", "https://h/otlp/v1development/profiles"),
            (
                "https://h/v1development/profiles/",
                "https://h/v1development/profiles",
            ),
            (
                "http://h/x?key=1/2",
                "http://h/x/v1development/profiles?key=1/2",
            ),
        ];
        for (url, expected) in known {
            assert_eq!(address(url).unwrap(), expected);
        }
        assert!(address("http://user:word@h/").is_err());
    }

    fn answer(status: u16, content_type: &str, body: &[u8]) -> Answer {
        Answer {
            status,
            content_type: Some(content_type.to_owned()),
            retry_after: None,
            body: body.to_vec(),
        }
    }

    #[test]
    fn a_refusal_has_the_words_of_the_receiver() {
        let refused = |answer| match outcome(Ok(answer)) {
            Outcome::Refused(problem) => problem,
            other => panic!("{other:?}"),
        };
        let of = refused(answer(
            400,
            "application/x-protobuf",
            b"\x08\x03\x12\x03bad",
        ));
        assert_eq!(of, "the receiver answered with status 400: bad");
        let of = refused(answer(400, "text/plain", b" no\x1b[31m way\n"));
        assert!(
            of.starts_with("the receiver answered with status 400: no") && !of.contains('\x1b'),
            "{of:?}"
        );
        let of = refused(answer(500, "text/plain", &[b'x'; 1000]));
        assert!(of.ends_with("x..."), "{of}");
        assert!(refused(answer(404, "", b"")).contains("4318"));
    }

    #[test]
    fn only_those_that_are_busy_are_asked_again() {
        let busy = |sent| matches!(outcome(sent), Outcome::Busy(..));
        for status in [429, 502, 503, 504] {
            assert!(busy(Ok(answer(status, "", b""))), "{status}");
        }
        for status in [307, 400, 408, 500, 501] {
            assert!(!busy(Ok(answer(status, "", b""))), "{status}");
        }
        assert!(busy(Err(HttpError::Silent(Duration::ZERO))));
        assert!(!busy(Err(HttpError::Untrusted(String::new()))));
    }
}
