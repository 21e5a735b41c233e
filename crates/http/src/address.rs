//! Addresses of what a server has, and requests for it.

use crate::error::HttpError;

/// The address of a file on a server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// True if it is asked by `https://`.
    secure: bool,
    /// Host and port, as they stand in the address.
    host: String,
    path: String,
}

impl Address {
    /// `http[s]://HOST[:PORT]/PATH`; nothing that would end a line of the request.
    pub(crate) fn parse(text: &str) -> Result<Address, HttpError> {
        Address::of(text).ok_or_else(|| HttpError::Address(text.to_owned()))
    }

    fn of(text: &str) -> Option<Address> {
        let (secure, rest) = match text.strip_prefix("https://") {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix("http://")?),
        };
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let path = if path.is_empty() { "/" } else { path };
        let address = Address {
            secure,
            host: host.to_owned(),
            path: path.to_owned(),
        };
        let port = address.port().map(str::parse::<u16>);
        let has_port = port.is_none_or(|port| port.is_ok_and(|port| port > 0));
        (!address.name().is_empty() && has_port).then_some(address)
    }

    /// The port, where the host comes with one.
    fn port(&self) -> Option<&str> {
        let (_, port) = self.host.rsplit_once(':').filter(|_| self.has_port())?;
        Some(port)
    }

    /// The address that a redirection means; none that gives up encryption.
    pub(crate) fn redirected(&self, location: &str) -> Result<String, HttpError> {
        let scheme = if self.secure { "https" } else { "http" };
        match location.starts_with('/') {
            true => Ok(format!("{scheme}://{}{location}", self.host)),
            false if self.secure && !location.starts_with("https://") => Err(HttpError::Answer(
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
    pub(crate) fn socket(&self) -> String {
        let usual = if self.secure { 443 } else { 80 };
        if self.has_port() {
            self.host.clone()
        } else {
            format!("{}:{usual}", self.host)
        }
    }

    /// The host that proves who it is, without port and brackets.
    pub(crate) fn name(&self) -> &str {
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

    /// Returns whether the server has to prove who it is.
    pub(crate) const fn is_secure(&self) -> bool {
        self.secure
    }

    /// The head of a request, with `lines` among it.
    pub(crate) fn request(&self, method: &str, lines: &str) -> String {
        let Address { host, path, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: oxperf/{version}\r\nAccept-Encoding: identity\r\nConnection: close\r\n{lines}\r\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn addresses_name_a_host_and_a_path() {
        let of = |text| {
            let address = Address::parse(text).ok()?;
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
            "http://:80/x",
            "http://h:99999/",
            "http://h:port/",
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
