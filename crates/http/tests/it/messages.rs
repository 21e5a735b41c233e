//! Messages that are handed in to a server that this test is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use oxperf_http::{Answer, HttpClient, HttpError, Limits, Message};

/// What a server heard: the lines of the head, and the body.
type Heard = (Vec<String>, Vec<u8>);

/// The address of a server that answers every request with these bytes, and what it hears.
fn serve(answer: &'static [u8]) -> (String, Receiver<Heard>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/in", listener.local_addr().unwrap());
    let (sender, heard) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let request = hear(&stream);
            // The test may be over.
            drop((&stream).write_all(answer));
            drop(sender.send(request));
        }
    });
    (url, heard)
}

fn hear(stream: &TcpStream) -> Heard {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        let read = reader.read_line(&mut line).unwrap_or(0);
        if read == 0 || line.trim().is_empty() {
            break;
        }
        head.push(line.trim_end().to_owned());
    }
    let length = head
        .iter()
        .find_map(|line| line.strip_prefix("Content-Length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    drop(reader.read_exact(&mut body));
    (head, body)
}

fn client(limits: Limits) -> HttpClient {
    HttpClient::new(limits, None)
}

const LIMITS: Limits = Limits {
    patience: Duration::from_secs(20),
    time: Duration::from_secs(60),
    size: 100,
};

fn post(url: &str, body: &[u8]) -> Result<Answer, HttpError> {
    let headers = [("X-Key".to_owned(), "a b".to_owned())];
    let message = Message {
        headers: &headers,
        body,
    };
    client(LIMITS).post(url, message)
}

#[test]
fn a_message_has_its_headers_and_its_body() {
    let (url, heard) = serve(b"HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\n\r\nfine");
    let answer = post(&url, b"\0body\r\n").unwrap();
    assert_eq!((answer.status, &answer.body[..]), (202, &b"fine"[..]));
    let (head, body) = heard.recv().unwrap();
    assert_eq!(head[0], "POST /in HTTP/1.1");
    assert!(head.contains(&"X-Key: a b".to_owned()), "{head:?}");
    assert_eq!(body, b"\0body\r\n");
}

#[test]
fn refusals_are_answers_with_their_reason_and_their_time() {
    let (url, _heard) = serve(
        b"HTTP/1.1 503 Busy\r\nContent-Type: text/plain\r\nRetry-After: 7\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\n0\r\n\r\n",
    );
    let answer = post(&url, b"").unwrap();
    assert_eq!(
        answer,
        Answer {
            status: 503,
            content_type: Some("text/plain".to_owned()),
            retry_after: Some("7".to_owned()),
            body: b"busy".to_vec(),
        }
    );
}

#[test]
fn an_answer_is_waited_for_behind_a_promise_and_no_redirection_is_followed() {
    let (url, heard) = serve(
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:1/\r\n\r\n",
    );
    assert_eq!(post(&url, b"").unwrap().status, 307);
    assert_eq!(heard.iter().take(1).count(), 1);
}

/// A server that refuses a large message at once does not read it, and closes the connection.
#[test]
fn a_refusal_counts_though_the_message_was_not_heard() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut some = [0; 10];
        stream.read_exact(&mut some).unwrap();
        stream
            .write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
            .unwrap();
        // All is read before the end, so that the answer is not lost with the connection.
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        drop(std::io::copy(&mut stream, &mut std::io::sink()));
    });
    let answer = post(&url, &vec![7; 16 << 20]).unwrap();
    assert_eq!((answer.status, &answer.body[..]), (413, &b"big"[..]));
    server.join().unwrap();
}

#[test]
fn a_body_that_is_too_large_is_cut_and_one_that_breaks_off_kept() {
    const LONG: &[u8] = b"HTTP/1.1 400 Bad\r\n\r\n\
        0123456789012345678901234567890123456789012345678901234567890123456789\
        0123456789012345678901234567890123456789012345678901234567890123456789";
    let (url, _heard) = serve(LONG);
    let answer = post(&url, b"").unwrap();
    assert_eq!((answer.status, answer.body.len()), (400, 101));
    let (url, _heard) = serve(b"HTTP/1.1 400 Bad\r\nContent-Length: 10\r\n\r\nabc");
    assert_eq!(post(&url, b"").unwrap().body, b"abc");
}

#[test]
fn headers_never_end_a_line() {
    let forged = [("X: y\r\nZ", "1"), ("X", "1\r\nZ: 2"), ("", "1")];
    for (name, value) in forged {
        let headers = [(name.to_owned(), value.to_owned())];
        let message = Message {
            headers: &headers,
            body: b"",
        };
        let refused = client(LIMITS).post("http://127.0.0.1:1/", message);
        assert!(matches!(refused, Err(HttpError::Header(_))), "{name:?}");
    }
}

#[test]
fn a_server_that_does_not_listen_is_waited_for_no_longer_than_allowed() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let limits = Limits {
        patience: Duration::from_millis(50),
        ..LIMITS
    };
    let message = Message {
        headers: &[],
        // More than the system keeps for the two ends.
        body: &vec![7; 64 << 20],
    };
    let outcome = client(limits).post(&url, message);
    assert_eq!(outcome, Err(HttpError::Silent(limits.patience)));
    drop(listener);
}
