//! Encrypted connections: whom to believe that a server is what it claims, and what goes wrong with that.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::error::HttpError;
use crate::timed_stream::TimedStream;

pub(crate) type Stream = StreamOwned<ClientConnection, TimedStream>;

/// Lists of the authorities that systems trust.
const AUTHORITIES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// Longest list of certificates; real ones take a quarter of a megabyte.
const LIST_LIMIT: u64 = 16 << 20;

/// Whom to believe that a server is what it claims: read when the first encrypted connection is made.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    file: Option<PathBuf>,
    config: OnceLock<Result<Arc<ClientConfig>, HttpError>>,
}

impl Trust {
    /// Trusts the authorities in a file, else those that the system trusts.
    pub(crate) fn new(file: Option<PathBuf>) -> Trust {
        Trust {
            file,
            config: OnceLock::new(),
        }
    }

    /// Encrypts what goes over a connection, once the server has proved its name with the first byte.
    pub(crate) fn secure(&self, stream: TimedStream, name: &str) -> Result<Stream, HttpError> {
        let config = self.config.get_or_init(|| self.configure()).clone()?;
        let server = ServerName::try_from(name.to_owned())
            .map_err(|_| HttpError::Address(format!("https://{name}")))?;
        let connection = ClientConnection::new(config, server)
            .map_err(|error| HttpError::Untrusted(error.to_string()))?;
        Ok(StreamOwned::new(connection, stream))
    }

    fn configure(&self) -> Result<Arc<ClientConfig>, HttpError> {
        let usual = AUTHORITIES.map(Path::new);
        let text = match &self.file {
            Some(file) => certificates(file),
            None => usual.into_iter().find_map(certificates),
        };
        let mut roots = RootCertStore::empty();
        let text = text.unwrap_or_default();
        roots.add_parsable_certificates(
            CertificateDer::pem_slice_iter(&text).filter_map(Result::ok),
        );
        if roots.is_empty() {
            let place = self.file.as_deref().unwrap_or(Path::new(AUTHORITIES[0]));
            return Err(HttpError::Untrusted(format!(
                "there are no certificates of authorities in {} (SSL_CERT_FILE names another file)",
                place.display()
            )));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| HttpError::Untrusted(error.to_string()))?;
        Ok(Arc::new(
            config.with_root_certificates(roots).with_no_client_auth(),
        ))
    }
}

fn certificates(file: &Path) -> Option<Vec<u8>> {
    let data = fs::metadata(file).ok()?;
    (data.is_file() && data.len() <= LIST_LIMIT)
        .then(|| fs::read(file).ok())
        .flatten()
}

/// The reason why a read or a write failed: a server that cannot be believed, else what became of the connection.
pub(crate) fn failure(stream: &Stream, error: &io::Error) -> HttpError {
    let reason = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match reason {
        Some(reason) => HttpError::Untrusted(reason.to_string()),
        None => stream.sock.failure(error),
    }
}
