//! Bytes as the answer of a server, in pieces of any size: reading ends, and no more is written than was asked for.

#![no_main]

use std::io::{self, BufReader, Read};

use libfuzzer_sys::fuzz_target;
use oxperf_http::{Connection, HttpError, receive};

/// Most bytes of a body.
const LIMIT: u64 = 4096;

/// Gives a few bytes at once.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(buffer.len());
        self.0.read(&mut buffer[..count])
    }
}

impl Connection for Drops<'_> {
    fn failure(&self, error: &io::Error) -> HttpError {
        HttpError::Connection(error.kind())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let answer = |at_once: usize| {
        let mut body = Vec::new();
        let received = receive(&mut BufReader::new(Drops(bytes, at_once)), LIMIT, &mut body);
        // One byte more shows that the body is too large.
        assert!(body.len() as u64 <= LIMIT + u64::from(received.is_err()));
        (received, body)
    };
    let at_once = 1 + bytes.first().map_or(0, |byte| usize::from(byte % 13));
    assert_eq!(answer(usize::MAX), answer(at_once));
});
