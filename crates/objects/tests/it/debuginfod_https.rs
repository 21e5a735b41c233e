//! Files fetched by `https://` from a server that this test is.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::elf;
use oxperf_abi::BuildId;
use oxperf_objects::{
    Debuginfod, FetchError, Locator, ObjectKind, ObjectOrigin, ObjectQuery, Rejection, SearchPaths,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const CERTIFICATE: &[u8] = include_bytes!("../tls/server.pem");
const KEY: &[u8] = include_bytes!("../tls/server.key");
const ID: [u8; 20] = [7; 20];

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
    let file = program();
    let (head, body) = match manner {
        Manner::Cut => (
            "HTTP/1.1 200 OK\r\n\r\n".to_owned(),
            &file[..file.len() / 2],
        ),
        _ => (
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", file.len()),
            &file[..],
        ),
    };
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

fn program() -> Vec<u8> {
    let note = elf::loaded(".note.gnu.build-id", 7, 0x400000, elf::build_id_note(&ID));
    elf::file(3, (0x400000, 0x1000, 0x10000), &[note])
}

/// The outcome of asking such a server for the file.
fn fetch(test: &str, url: &str, authorities: &Path) -> Result<ObjectOrigin, Rejection> {
    let cache = std::env::temp_dir().join(format!("oxperf-https-{}-{test}", std::process::id()));
    let servers = Debuginfod {
        urls: vec![url.to_owned()],
        cache: cache.clone(),
        patience: Duration::from_millis(if test == "silent" { 200 } else { 20_000 }),
        time_limit: Duration::from_secs(60),
        size_limit: 1 << 20,
        cache_limit: 1 << 30,
        authorities: Some(authorities.to_owned()),
    };
    let locator = Locator::new(SearchPaths {
        debuginfod: Some(servers),
        ..SearchPaths::default()
    });
    let wanted = ObjectQuery {
        path: b"/no/such/file",
        build_id: BuildId::new(&ID),
        kind: ObjectKind::User,
        process: None,
    };
    let found = locator.image(&wanted);
    let _ = std::fs::remove_dir_all(cache);
    found
        .map(|found| found.origin)
        .map_err(|mut missing| missing.tried.pop().unwrap().1)
}

fn our_authority() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/authority.pem")
}

fn untrusted(outcome: &Result<ObjectOrigin, Rejection>) -> bool {
    matches!(
        outcome,
        Err(Rejection::NotFetched(FetchError::Untrusted(_)))
    )
}

#[test]
fn a_file_comes_from_a_server_that_an_authority_vouches_for() {
    let port = serve(Manner::Whole);
    for name in ["localhost", "127.0.0.1"] {
        let url = format!("https://{name}:{port}");
        assert_eq!(
            fetch("whole", &url, &our_authority()),
            Ok(ObjectOrigin::Debuginfod),
            "{name}"
        );
    }
}

#[test]
fn a_server_that_nobody_vouches_for_is_not_trusted() {
    let url = format!("https://localhost:{}", serve(Manner::Whole));
    // The server's own certificate is no authority.
    let other = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls/server.pem");
    let outcome = fetch("other", &url, &other);
    assert!(untrusted(&outcome), "{outcome:?}");
    let outcome = fetch("none", &url, Path::new("/no/such/file"));
    assert!(untrusted(&outcome), "{outcome:?}");
}

#[test]
fn a_certificate_holds_for_its_names_alone() {
    let url = format!("https://127.0.0.2:{}", serve_at("127.0.0.2", Manner::Whole));
    let outcome = fetch("name", &url, &our_authority());
    assert!(untrusted(&outcome), "{outcome:?}");
}

#[test]
fn broken_connections_give_no_file() {
    for (test, manner) in [
        ("cut", Manner::Cut),
        ("plain", Manner::Plain),
        ("silent", Manner::Silent),
    ] {
        let url = format!("https://localhost:{}", serve(manner));
        let outcome = fetch(test, &url, &our_authority());
        let expected = match manner {
            Manner::Silent => matches!(outcome, Err(Rejection::NotFetched(FetchError::Silent(_)))),
            Manner::Plain => untrusted(&outcome),
            _ => matches!(
                outcome,
                Err(Rejection::NotFetched(FetchError::Connection(_)))
            ),
        };
        assert!(expected, "{test}: {outcome:?}");
    }
}
