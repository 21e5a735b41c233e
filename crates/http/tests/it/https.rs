//! Answers by `https://` from a server that this test is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use oxperf_http::{HttpClient, HttpError, Limits, Message};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const CERTIFICATE: &[u8] = include_bytes!("../tls/server.pem");
const KEY: &[u8] = include_bytes!("../tls/server.key");
const FILE: &[u8] = b"what was asked for";

/// The behaviour of the server with each connection.
#[derive(Clone, Copy)]
enum Manner {
    /// Answers with the file, whose length it tells.
    Whole,
    /// Answers without a length, and closes the connection without a word in the middle of the file.
    Cut,
    /// Speaks no TLS.
    Plain,
    /// Says nothing.
    Silent,
}

/// The port of a server on a thread of its own, which ends with the test program.
fn serve(manner: Manner) -> u16 {
    serve_at("127.0.0.1", manner)
}

fn serve_at(host: &str, manner: Manner) -> u16 {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let chain = CertificateDer::pem_slice_iter(CERTIFICATE)
        .collect::<Result<_, _>>()
        .unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivateKeyDer::from_pem_slice(KEY).unwrap())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind((host, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let mut silent = Vec::new();
        for mut stream in listener.incoming().flatten() {
            match manner {
                Manner::Silent => silent.push(stream),
                Manner::Plain => drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")),
                Manner::Whole | Manner::Cut => {
                    let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                    let mut stream = StreamOwned::new(connection, stream);
                    // A client that does not trust us goes away.
                    let _ = answer(&mut stream, manner);
                }
            }
        }
    });
    port
}

fn answer(stream: &mut (impl Read + Write), manner: Manner) -> std::io::Result<()> {
    let mut lines = BufReader::new(&mut *stream).lines();
    while lines
        .next()
        .transpose()?
        .is_some_and(|line| !line.is_empty())
    {}
    let (head, body) = match manner {
        Manner::Cut => (
            "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
            &FILE[..FILE.len() / 2],
        ),
        _ => (
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", FILE.len()),
            FILE,
        ),
    };
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

fn client(patience: Duration, authorities: &Path) -> HttpClient {
    let limits = Limits {
        patience,
        time: Duration::from_secs(60),
        size: 1 << 20,
    };
    HttpClient::new(limits, Some(authorities.to_owned()))
}

/// The outcome of asking such a server for the file.
fn fetch(url: &str, authorities: &Path) -> Result<Vec<u8>, HttpError> {
    let mut file = Vec::new();
    client(Duration::from_secs(20), authorities).get(url, &mut file)?;
    Ok(file)
}

fn our_authority() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/authority.pem")
}

fn untrusted<T>(outcome: &Result<T, HttpError>) -> bool {
    matches!(outcome, Err(HttpError::Untrusted(_)))
}

#[test]
fn a_file_comes_from_a_server_that_an_authority_vouches_for() {
    let port = serve(Manner::Whole);
    for name in ["localhost", "127.0.0.1"] {
        let url = format!("https://{name}:{port}");
        assert_eq!(fetch(&url, &our_authority()), Ok(FILE.to_vec()), "{name}");
    }
}

#[test]
fn a_message_goes_to_a_server_that_an_authority_vouches_for() {
    let url = format!("https://localhost:{}", serve(Manner::Whole));
    let message = Message {
        headers: &[],
        body: b"",
    };
    let limit = Duration::from_secs(20);
    let answer = client(limit, &our_authority()).post(&url, message).unwrap();
    assert_eq!((answer.status, &answer.body[..]), (200, FILE));
    let refused = client(limit, Path::new("/no/such/file")).post(&url, message);
    assert!(untrusted(&refused), "{refused:?}");
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_trusted() {
    let url = format!("https://localhost:{}", serve(Manner::Whole));
    // The server's own certificate is no authority.
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/server.pem");
    let outcome = fetch(&url, &other);
    assert!(untrusted(&outcome), "{outcome:?}");
    let outcome = fetch(&url, Path::new("/no/such/file"));
    assert!(untrusted(&outcome), "{outcome:?}");
}

#[test]
fn a_certificate_holds_for_its_names_alone() {
    let url = format!("https://127.0.0.2:{}", serve_at("127.0.0.2", Manner::Whole));
    let outcome = fetch(&url, &our_authority());
    assert!(untrusted(&outcome), "{outcome:?}");
}

#[test]
fn broken_connections_give_no_file() {
    let of = |manner, patience| {
        let url = format!("https://localhost:{}", serve(manner));
        client(patience, &our_authority()).get(&url, &mut Vec::new())
    };
    let outcome = of(Manner::Cut, Duration::from_secs(20));
    assert!(
        matches!(outcome, Err(HttpError::Connection(_))),
        "{outcome:?}"
    );
    let outcome = of(Manner::Plain, Duration::from_secs(20));
    assert!(untrusted(&outcome), "{outcome:?}");
    let outcome = of(Manner::Silent, Duration::from_millis(200));
    assert!(matches!(outcome, Err(HttpError::Silent(_))), "{outcome:?}");
}
