//! OpenTelemetry's profiles sent to a receiver that this test is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};

use flate2::read::GzDecoder;
use oxperf_testkit::otlp::{OtlpRequest, OtlpValue};

use crate::support::lossy;

/// A request: the lines of its head, and its body.
struct Request {
    head: Vec<String>,
    body: Vec<u8>,
}

impl Request {
    fn read(stream: &TcpStream) -> Request {
        let mut reader = BufReader::new(stream);
        let mut lines = reader.by_ref().lines().map_while(Result::ok);
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let length = head
            .iter()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        Request { head, body }
    }

    fn has(&self, line: &str) -> bool {
        self.head.iter().any(|known| known == line)
    }

    fn message(&self) -> OtlpRequest {
        let mut bytes = Vec::new();
        GzDecoder::new(&self.body[..])
            .read_to_end(&mut bytes)
            .unwrap();
        let message = OtlpRequest::decode(&bytes).unwrap();
        assert_eq!(message.faults(), [""; 0]);
        message
    }
}

/// The address of a receiver that gives these answers one after another, and what it receives.
fn receiver(answers: Vec<Vec<u8>>) -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let request = Request::read(&stream);
            (&stream).write_all(&answer).unwrap();
            // The test may be over.
            drop(sender.send(request));
        }
    });
    (url, requests)
}

fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

const PROTOBUF: &str = "Content-Type: application/x-protobuf\r\n";

/// One file for all tests, written once: its time is the wall clock of its samples.
fn recording() -> &'static Path {
    static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
        let file = crate::support::scratch(module_path!()).join("two-events.data");
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/two-events");
        let text = std::fs::read_to_string(folder.join("recording.txt")).unwrap();
        let recording = oxperf_testkit::Recording::parse(&text).unwrap();
        std::fs::write(&file, recording.to_file()).unwrap();
        file
    });
    &FILE
}

fn export(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_oxperf"))
        .args(["export", "-i"])
        .arg(recording())
        .args(arguments)
        .env(
            "OTEL_EXPORTER_OTLP_HEADERS",
            "Authorization=Bearer%20key,X-Scope=7",
        )
        .env("OTEL_RESOURCE_ATTRIBUTES", "team=a%20b,service.name=hidden")
        .env("OTEL_SERVICE_NAME", "shop")
        .output()
        .unwrap()
}

fn push(url: &str) -> Output {
    export(&["--format", "otlp", "--push", url])
}

#[test]
fn a_receiver_gets_what_a_file_holds() {
    let (url, requests) = receiver(vec![answer("200 OK", PROTOBUF, b"")]);
    let output = push(&url);
    assert!(output.status.success(), "{}", lossy(&output.stderr));
    assert!(output.stdout.is_empty());
    let request = requests.recv().unwrap();
    assert_eq!(request.head[0], "POST /v1development/profiles HTTP/1.1");
    for line in [
        "Content-Type: application/x-protobuf",
        "Content-Encoding: gzip",
        "Authorization: Bearer key",
        "X-Scope: 7",
    ] {
        assert!(request.has(line), "{line} in {:?}", request.head);
    }
    let (sent, file) = (request.message(), export(&["--format", "otlp"]));
    let file = OtlpRequest::decode(&file.stdout).unwrap();
    assert_eq!(format!("{sent:?}"), format!("{file:?}"));
    let said = lossy(&output.stderr);
    let count: usize = file
        .profiles()
        .flat_map(|profile| &profile.samples)
        .map(|sample| sample.values.len())
        .sum();
    assert!(
        said.contains(&format!("took {count} samples in 1 messages")),
        "{said}"
    );
}

#[test]
fn the_environment_names_the_service() {
    let file = export(&["--format", "otlp"]);
    let request = OtlpRequest::decode(&file.stdout).unwrap();
    let of = |key: &str| {
        let attributes = &request.resources[0].attributes;
        let known = attributes.iter().filter(|(known, _)| known == key);
        known.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of("service.name"), [OtlpValue::Text("shop".to_owned())]);
    assert_eq!(of("team"), [OtlpValue::Text("a b".to_owned())]);
}

#[test]
fn a_receiver_that_is_busy_is_asked_again_and_what_it_says_is_shown() {
    let remark = b"\x0a\x0b\x08\x01\x12\x07too\x1bold";
    let (url, requests) = receiver(vec![
        answer("503 Busy", "Retry-After: 0\r\n", b"wait"),
        answer(
            "429 Slow",
            "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
            b"",
        ),
        answer("200 OK", PROTOBUF, remark),
    ]);
    let output = push(&format!("{url}/v1development/profiles"));
    let said = lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let ids: Vec<_> = (0..3)
        .map(|_| {
            requests
                .recv()
                .unwrap()
                .message()
                .profiles()
                .next()
                .unwrap()
                .id
                .clone()
        })
        .collect();
    assert!(ids[0] == ids[1] && ids[1] == ids[2]);
    assert!(
        said.contains("busy (status 503: wait); trying again"),
        "{said}"
    );
    assert!(
        said.contains("did not take 1 profiles: too\\x1bold"),
        "{said}"
    );
}

#[test]
fn a_refusal_is_named_with_the_receivers_words() {
    let (url, _requests) = receiver(vec![answer(
        "401 Unauthorized",
        PROTOBUF,
        b"\x08\x10\x12\x06no key",
    )]);
    let output = push(&url);
    let said = lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{said}");
    let address = format!("{url}/v1development/profiles");
    assert!(
        said.contains(&format!(
            "{address}: the receiver answered with status 401: no key\n"
        )),
        "{said}"
    );
    assert!(said.contains("OTEL_EXPORTER_OTLP_HEADERS"), "{said}");
}

#[test]
fn a_receiver_that_wants_to_be_left_alone_for_long_is() {
    let (url, _requests) = receiver(vec![answer("503 Busy", "Retry-After: 86400\r\n", b"")]);
    let output = push(&url);
    let said = lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(255), "{said}");
    assert!(said.contains("it asks to wait for 86400 s"), "{said}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for arguments in [
        &["--format", "pprof", "--push", "http://127.0.0.1:1"][..],
        &[
            "--format",
            "otlp",
            "--push",
            "http://127.0.0.1:1",
            "-o",
            "x",
        ],
        &["--format", "otlp", "--push", "http://me:word@127.0.0.1:1"],
        &["--format", "otlp", "--push", "http://127.0.0.1:99999"],
        &["--format", "otlp", "--push", "localhost:4318"],
    ] {
        let output = export(arguments);
        assert_eq!(output.status.code(), Some(129), "{arguments:?}");
    }
    let output = push("ftp://127.0.0.1");
    assert_eq!(output.status.code(), Some(129));
    assert!(lossy(&output.stderr).contains("no address that can be asked"));
}
