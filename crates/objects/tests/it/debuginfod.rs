//! Files fetched from a server that this test is.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::elf;
use oxperf_abi::BuildId;
use oxperf_http::HttpError;
use oxperf_objects::{
    Debuginfod, FetchError, Locator, ObjectKind, ObjectOrigin, ObjectQuery, Rejection, SearchPaths,
};

/// A server on a thread of its own, which ends with the test program.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request with what `answer` says of its path; `None` is silence.
    fn new(answer: impl Fn(&str) -> Option<Vec<u8>> + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                let path = request(&stream);
                log.lock().expect("the log").push(path.clone());
                match answer(&path) {
                    // It may be closed at the other end by now.
                    Some(bytes) => drop((&stream).write_all(&bytes)),
                    None => silent.push(stream),
                }
            }
        });
        Server { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("the log").clone()
    }
}

/// The path that is asked for.
fn request(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    lines.find(String::is_empty);
    first.split(' ').nth(1).unwrap_or_default().to_owned()
}

fn whole(body: &[u8]) -> Option<Vec<u8>> {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    Some([head.as_bytes(), body].concat())
}

fn refusal(status: &str) -> Option<Vec<u8>> {
    Some(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into_bytes())
}

/// A cache that is empty, and the servers.
fn servers(name: &str, urls: &[&str]) -> Debuginfod {
    let cache =
        std::env::temp_dir().join(format!("oxperf-debuginfod-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&cache);
    Debuginfod {
        urls: urls.iter().map(|&url| url.to_owned()).collect(),
        cache,
        patience: Duration::from_secs(20),
        time_limit: Duration::from_secs(60),
        size_limit: 1 << 20,
        cache_limit: 1 << 30,
        authorities: None,
    }
}

fn locator(servers: &Debuginfod) -> Locator {
    Locator::new(SearchPaths {
        debuginfod: Some(servers.clone()),
        ..SearchPaths::default()
    })
}

fn program(byte: u8) -> Vec<u8> {
    let note = elf::loaded(
        ".note.gnu.build-id",
        7,
        0x400000,
        elf::build_id_note(&[byte; 20]),
    );
    let (table, strings) = elf::symbol_table(&[("main", 0x401000, 16, 0x12, 1)]);
    let symtab = elf::ElfSection {
        link: 3,
        entry_size: 24,
        flags: 0,
        ..elf::loaded(".symtab", 2, 0, table)
    };
    let strtab = elf::ElfSection {
        flags: 0,
        ..elf::loaded(".strtab", 3, 0, strings)
    };
    elf::file(3, (0x400000, 0x1000, 0x10000), &[note, symtab, strtab])
}

fn wanted(byte: u8) -> ObjectQuery<'static> {
    let build_id = BuildId::new(&[byte; 20]);
    ObjectQuery {
        path: b"/no/such/file",
        build_id,
        kind: ObjectKind::User,
        process: None,
    }
}

fn why(locator: &Locator, wanted: &ObjectQuery<'_>) -> Rejection {
    locator
        .image(wanted)
        .expect_err("refused")
        .tried
        .pop()
        .expect("the server is tried last")
        .1
}

#[test]
fn a_missing_program_is_fetched_once_and_kept_as_the_standard_client_keeps_it() {
    let server = Server::new(|path| match path.ends_with("/executable") {
        true => whole(&program(7)),
        false => refusal("404 Not Found"),
    });
    let servers = servers("kept", &[&server.url]);
    for _ in 0..2 {
        let found = locator(&servers).image(&wanted(7)).expect("fetched");
        assert_eq!(found.origin, ObjectOrigin::Debuginfod);
        assert_eq!(
            found.path,
            servers.cache.join("07".repeat(20)).join("executable")
        );
    }
    assert_eq!(
        server.asked(),
        [format!("/buildid/{}/executable", "07".repeat(20))]
    );
    std::fs::remove_dir_all(servers.cache).expect("the cache");
}

#[test]
fn nothing_is_asked_without_leave_or_without_a_build_id() {
    let server = Server::new(|_| whole(&program(7)));
    let servers = servers("leave", &[&server.url]);
    assert!(Locator::default().image(&wanted(7)).is_err());
    assert!(
        locator(&servers)
            .image(&ObjectQuery {
                build_id: None,
                ..wanted(7)
            })
            .is_err()
    );
    assert!(server.asked().is_empty() && !servers.cache.exists());
}

#[test]
fn that_no_server_has_a_file_is_remembered() {
    let server = Server::new(|_| refusal("404 Not Found"));
    let servers = servers("absent", &[&server.url]);
    for _ in 0..2 {
        assert_eq!(
            why(&locator(&servers), &wanted(7)),
            FetchError::NotThere.into()
        );
    }
    assert_eq!(server.asked().len(), 1);
    std::fs::remove_dir_all(servers.cache).expect("the cache");
}

/// A file that is no ELF file of that build id is not kept: the servers are asked again, and the next one has its
/// turn.
#[test]
fn another_file_is_refused_whoever_sends_it_and_not_kept() {
    let name = "executable";
    for sent in [
        program(8),
        b"<html>not found</html>".to_vec(),
        program(7)[..200].to_vec(),
    ] {
        let junk = Server::new(move |_| whole(&sent));
        let alone = servers("version", &[&junk.url]);
        for _ in 0..2 {
            assert_eq!(
                why(&locator(&alone), &wanted(7)),
                FetchError::SomethingElse.into()
            );
        }
        let folder = alone.cache.join("07".repeat(20));
        assert_eq!(
            (
                junk.asked().len(),
                std::fs::read_dir(&folder).expect("a folder").count()
            ),
            (2, 0)
        );
        // Junk that was kept before is fetched anew.
        std::fs::write(folder.join(name), "junk").expect("written");
        let good = Server::new(|_| whole(&program(7)));
        let both = Debuginfod {
            urls: vec![junk.url.clone(), good.url.clone()],
            ..alone
        };
        assert!(locator(&both).image(&wanted(7)).is_ok());
        assert_eq!(std::fs::read(folder.join(name)).expect("kept"), program(7));
        std::fs::remove_dir_all(both.cache).expect("the cache");
    }
}

#[test]
fn a_cache_that_is_too_large_loses_what_was_used_least_recently() {
    let server = Server::new(|path| whole(&program(if path.contains("/0707") { 7 } else { 8 })));
    let small = Debuginfod {
        cache_limit: program(7).len() as u64,
        ..servers("limit", &[&server.url])
    };
    assert!(locator(&small).image(&wanted(7)).is_ok());
    assert!(locator(&small).image(&wanted(8)).is_ok());
    let there = |byte: &str| {
        small
            .cache
            .join(byte.repeat(20))
            .join("executable")
            .exists()
    };
    assert_eq!((there("07"), there("08")), (false, true));
    std::fs::remove_dir_all(&small.cache).expect("the cache");
}

#[test]
fn answers_come_in_chunks_and_by_way_of_other_addresses() {
    let server = Server::new(|path| match path {
        "/elsewhere" => {
            let (first, second) = (program(7), program(7).split_off(100));
            let size = format!("\r\n{:x}\r\n", second.len());
            let chunks = [
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64;x=y\r\n",
                &first[..100],
                size.as_bytes(),
                &second,
                b"\r\n0\r\n\r\n",
            ];
            Some(chunks.concat())
        }
        _ => Some(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n".to_vec()),
    });
    let servers = servers("chunks", &[&server.url]);
    assert!(locator(&servers).image(&wanted(7)).is_ok());
    std::fs::remove_dir_all(servers.cache).expect("the cache");
}

#[test]
fn the_next_server_is_asked_where_one_fails() {
    let broken = Server::new(|_| refusal("500 Internal Server Error"));
    let good = Server::new(|_| whole(&program(7)));
    let servers = servers("next", &["http://127.0.0.1:1", &broken.url, &good.url]);
    assert!(locator(&servers).image(&wanted(7)).is_ok());
    std::fs::remove_dir_all(servers.cache).expect("the cache");
}

#[test]
fn a_server_that_says_nothing_is_waited_for_once() {
    let server = Server::new(|_| None);
    let servers = Debuginfod {
        patience: Duration::from_millis(50),
        ..servers("silent", &[&server.url])
    };
    let locator = locator(&servers);
    assert_eq!(
        why(&locator, &wanted(7)),
        FetchError::from(HttpError::Silent(servers.patience)).into()
    );
    assert!(locator.image(&wanted(8)).is_err());
    assert_eq!(server.asked().len(), 1);
    std::fs::remove_dir_all(servers.cache).expect("the cache");
}

#[test]
fn hostile_answers_end_and_leave_nothing_behind() {
    let long_line = [b"HTTP/1.1 200 OK\r\nX: ".to_vec(), vec![b'x'; 1 << 20]].concat();
    let many_lines = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(10_000)].concat();
    let answers: [(&str, Vec<u8>); 9] = [
        (
            "large",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n".to_vec(),
        ),
        (
            "endless",
            [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![0; 2 << 20]].concat(),
        ),
        (
            "chunk",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".to_vec(),
        ),
        (
            "negative",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n".to_vec(),
        ),
        (
            "cut",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec(),
        ),
        (
            "loop",
            b"HTTP/1.1 301 Moved\r\nLocation: /again\r\n\r\n".to_vec(),
        ),
        (
            "away",
            b"HTTP/1.1 301 Moved\r\nLocation: file:///etc/passwd\r\n\r\n".to_vec(),
        ),
        ("line", long_line),
        ("lines", many_lines),
    ];
    for (name, answer) in answers {
        let server = Server::new(move |_| Some(answer.clone()));
        let servers = servers(name, &[&server.url]);
        assert!(
            matches!(
                why(&locator(&servers), &wanted(7)),
                Rejection::NotFetched(_)
            ),
            "{name}"
        );
        let folder: Vec<PathBuf> = std::fs::read_dir(servers.cache.join("07".repeat(20)))
            .expect("the folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        assert!(folder.is_empty(), "{name}: {folder:?}");
        std::fs::remove_dir_all(servers.cache).expect("the cache");
    }
}

#[test]
fn debug_files_are_fetched_only_for_what_the_program_lacks() {
    let server = Server::new(|_| whole(&program(7)));
    let servers = servers("lacks", &[&server.url]);
    let (locator, bytes) = (locator(&servers), program(7));
    let image = oxperf_objects::Elf::parse(&bytes).expect("an ELF file");
    assert!(
        locator.debug_file(&wanted(7), Some(&image)).is_err(),
        "it has its symbols"
    );
    assert!(server.asked().is_empty());
    assert_eq!(
        locator
            .debug_file(&wanted(7), None)
            .expect("fetched")
            .origin,
        ObjectOrigin::Debuginfod
    );
    std::fs::remove_dir_all(servers.cache).expect("the cache");
}
